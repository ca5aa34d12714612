// SPDX-License-Identifier: Apache-2.0
// Device files. The only file of this folder that knows TOML. A table with a `value` is a number;
// other tables only nest: `[memory.l1]` with `capacity_bytes = { value = 524288, origin =
// "datasheet" }` is memory.l1.capacity_bytes. A sibling says `inherits = "NAME"` and gives only the
// numbers that differ.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "device_model/device.h"
#include "device_model/device_keys.h"
#include "schedules/text.h"
#include "schedules/variants.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Problem = std::optional<Error>;

constexpr std::array<DeviceKind, 4> kKinds{DeviceKind::host, DeviceKind::npu, DeviceKind::mxu,
                                           DeviceKind::systolic};
constexpr std::array<Origin, 5> kOrigins{Origin::datasheet, Origin::published, Origin::measured,
                                         Origin::fitted, Origin::assumed};
constexpr std::array<std::string_view, 5> kHeadKeys{"name", "kind", "description", "inherits",
                                                    "dataflow"};
constexpr std::array<std::string_view, 1> kDataflows{"weight_stationary"};

class Reader {
 public:
  // `parent`: what the file inherits, or nullptr.
  Reader(std::string file, const Device* parent) : file_(std::move(file)) {
    if (parent == nullptr) return;
    inherits_ = true;
    device_ = *parent;
  }

  Result<Device> read(const toml::table& root) {
    if (auto problem = head(root)) return tl::unexpected<Error>(*problem);
    if (auto problem = table("", root)) return tl::unexpected<Error>(*problem);
    for (const DeviceKey& key : device_keys(device_.kind)) {
      if (device_.numbers.find(key.name) == device_.numbers.end()) {
        return usage_error(fmt::format("{}: {} is missing; a device of kind {} needs it", file_,
                                       key.name, kind_name(device_.kind)));
      }
    }
    if (const auto problem = relation_problem(device_)) {
      const auto place = lines_.find(problem->key);
      const auto line = place == lines_.end() ? root.source().begin.line : place->second;
      return usage_error(fmt::format("{}:{}: {} {}", file_, line, problem->key, problem->text));
    }
    set_hash(device_);
    return device_;
  }

 private:
  template <class... Args>
  Problem wrong(const toml::node& node, fmt::format_string<Args...> text, Args&&... args) const {
    return Error{ErrorKind::usage, fmt::format("{}:{}: {}", file_, node.source().begin.line,
                                               fmt::format(text, std::forward<Args>(args)...))};
  }

  Problem text_of(const toml::table& table, const char* key, std::string& out,
                  bool required) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      if (!required) return std::nullopt;
      return wrong(table, "{} is missing", key);
    }
    const auto value = node->value_exact<std::string>();
    if (!value) return wrong(*node, "{} must be a text", key);
    out = *value;
    return std::nullopt;
  }

  Problem head(const toml::table& root) {
    if (auto problem = text_of(root, "name", device_.name, true)) return problem;
    if (auto problem = text_of(root, "description", device_.description, false)) return problem;
    if (auto problem = kind_of(root)) return problem;
    const bool has_dataflow = device_.kind == DeviceKind::systolic;
    const toml::node* dataflow = root.get("dataflow");
    if (dataflow != nullptr && !has_dataflow)
      return wrong(*dataflow, "dataflow is a word of systolic devices only; remove it");
    if (auto problem =
            text_of(root, "dataflow", device_.dataflow, has_dataflow && device_.dataflow.empty()))
      return problem;
    if (dataflow != nullptr &&
        std::find(kDataflows.begin(), kDataflows.end(), device_.dataflow) == kDataflows.end()) {
      return wrong(*dataflow, "unknown dataflow '{}'; nearest is '{}'", device_.dataflow,
                   nearest_name(device_.dataflow, kDataflows));
    }
    for (const DeviceKey& key : device_keys(device_.kind)) names_.push_back(key.name);
    return std::nullopt;
  }

  Problem kind_of(const toml::table& root) {
    std::string kind(kind_name(device_.kind));
    if (auto problem = text_of(root, "kind", kind, !inherits_)) return problem;
    std::vector<std::string_view> names;
    DeviceKind stated = device_.kind;
    bool known = false;
    for (const DeviceKind k : kKinds) {
      names.push_back(kind_name(k));
      if (kind_name(k) != kind) continue;
      stated = k;
      known = true;
    }
    if (!known) {
      return wrong(*root.get("kind"), "unknown kind '{}'; nearest is '{}'", kind,
                   nearest_name(kind, names));
    }
    if (inherits_ && stated != device_.kind) {
      return wrong(*root.get("kind"), "kind '{}' can not inherit from '{}', which is of kind '{}'",
                   kind, *root.get("inherits")->value<std::string>(), kind_name(device_.kind));
    }
    device_.kind = stated;
    return std::nullopt;
  }

  Problem table(const std::string& prefix, const toml::table& table_node) {
    for (const auto& [key, node] : table_node) {
      const std::string name = prefix + std::string(key.str());
      if (prefix.empty() &&
          std::find(kHeadKeys.begin(), kHeadKeys.end(), name) != kHeadKeys.end()) {
        continue;
      }
      const toml::table* inner = node.as_table();
      const bool nests =
          inner != nullptr && inner->get("value") == nullptr && is_prefix(name + ".");
      if (auto problem = nests ? table(name + ".", *inner) : number(name, node)) return problem;
    }
    return std::nullopt;
  }

  bool is_prefix(const std::string& prefix) const {
    return std::any_of(names_.begin(), names_.end(),
                       [&](std::string_view name) { return name.starts_with(prefix); });
  }

  Problem number(const std::string& name, const toml::node& node) {
    const auto keys = device_keys(device_.kind);
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const DeviceKey& k) { return k.name == name; });
    if (key == keys.end()) {
      return wrong(node, "unknown key '{}'; nearest is '{}'", name, nearest_name(name, names_));
    }
    const toml::table* fields = node.as_table();
    if (fields == nullptr) {
      return wrong(node,
                   "{} must be a number with its origin: {{ value = 1, origin = \"assumed\", note "
                   "= \"...\" }}",
                   name);
    }
    DeviceNumber& number = device_.numbers[name];
    number = {};
    lines_[name] = node.source().begin.line;
    for (const auto& [field, value] : *fields) {
      if (auto problem = number_field(name, std::string(field.str()), value, number))
        return problem;
    }
    for (const char* field : {"value", "origin"}) {
      if (fields->get(field) == nullptr) return wrong(node, "{} has no {}", name, field);
    }
    if (const auto problem = number_problem(key->rule, number.value))
      return wrong(node, "{} {}", name, *problem);
    return std::nullopt;
  }

  Problem number_field(const std::string& name, const std::string& field, const toml::node& value,
                       DeviceNumber& number) const {
    if (field == "value") {
      const bool is_number = value.is_integer() || value.is_floating_point();
      if (!is_number) return wrong(value, "{}: value must be a number", name);
      number.value = value.value<double>().value_or(0);
      return std::nullopt;
    }
    const auto text = value.value_exact<std::string>();
    if (field == "note" || field == "origin") {
      if (!text) return wrong(value, "{}: {} must be a text", name, field);
    }
    if (field == "note") {
      number.note = *text;
      return std::nullopt;
    }
    std::vector<std::string_view> names;
    if (field == "origin") {
      for (const Origin origin : kOrigins) {
        names.push_back(origin_name(origin));
        if (origin_name(origin) == *text) {
          number.origin = origin;
          return std::nullopt;
        }
      }
      return wrong(value, "{}: unknown origin '{}'; nearest is '{}'", name, *text,
                   nearest_name(*text, names));
    }
    constexpr std::array<std::string_view, 3> kFields{"value", "origin", "note"};
    return wrong(value, "{}: unknown key '{}'; nearest is '{}'", name, field,
                 nearest_name(field, kFields));
  }

  std::string file_;
  Device device_;
  bool inherits_ = false;
  std::vector<std::string_view> names_;
  std::map<std::string, std::uint32_t, std::less<>> lines_;  // of the numbers of this very file
};

std::vector<fs::path> device_files(const std::string& devices_dir) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(devices_dir, ignored)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Reads a file and, first, those it inherits from. A parent is a name, looked up beside the file
// and then among the shipped devices.
class FamilyReader {
 public:
  explicit FamilyReader(std::string devices_dir) : devices_dir_(std::move(devices_dir)) {}

  Result<Device> read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf())) {
      return failure(fmt::format(
          "{}: can not be read as a device file; does it exist, and is it not empty?", file));
    }
    try {
      return read_table(file, toml::parse(text.str(), file));
    } catch (const toml::parse_error& error) {
      return usage_error(fmt::format("{}:{}: no valid TOML: {}", file, error.source().begin.line,
                                     std::string(error.description())));
    }
  }

 private:
  Result<Device> read_table(const std::string& file, const toml::table& root) {
    const toml::node* inherits = root.get("inherits");
    if (inherits == nullptr) return Reader(file, nullptr).read(root);
    chain_.push_back(fs::weakly_canonical(file));
    const std::string place = fmt::format("{}:{}", file, inherits->source().begin.line);
    const auto name = inherits->value_exact<std::string>();
    if (!name) return usage_error(place + ": inherits must be a text, the name of a device");
    auto parent = parent_of(file, place, *name);
    if (!parent) return parent;
    return Reader(file, &*parent).read(root);
  }

  Result<Device> parent_of(const std::string& file, const std::string& place,
                           const std::string& name) {
    std::vector<std::string> names;
    for (const std::string& dir : {fs::path(file).parent_path().string(), devices_dir_}) {
      for (const fs::path& other : device_files(dir.empty() ? "." : dir)) {
        names.push_back(other.stem().string());
        if (names.back() != name) continue;
        const fs::path found = fs::weakly_canonical(other);
        if (std::find(chain_.begin(), chain_.end(), found) == chain_.end())
          return read(other.string());
        std::string circle;
        for (const fs::path& link : chain_) circle += link.stem().string() + " -> ";
        return usage_error(fmt::format("{}: inherits in a circle: {}{}; remove one inherits", place,
                                       circle, name));
      }
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    return usage_error(fmt::format("{}: inherits from an unknown device '{}'; nearest is '{}'",
                                   place, name, nearest_name(name, views)));
  }

  std::string devices_dir_;
  std::vector<fs::path> chain_;  // files that are being read
};

}  // namespace

Result<Device> load_device(std::string_view what, const std::string& devices_dir) {
  const std::string name(what);
  if (name.ends_with(".toml") || name.find('/') != std::string::npos)
    return FamilyReader(devices_dir).read(name);
  std::vector<std::string> names;
  for (const fs::path& file : device_files(devices_dir)) {
    if (file.stem() == name) return FamilyReader(devices_dir).read(file.string());
    names.push_back(file.stem().string());
  }
  if (names.empty())
    return usage_error(
        fmt::format("unknown device '{}': {} has no device files", name, devices_dir));
  const std::vector<std::string_view> views(names.begin(), names.end());
  return usage_error(fmt::format("unknown device '{}'; nearest is '{}' (of {})", name,
                                 nearest_name(name, views), join(views, ", ")));
}

Result<std::vector<Device>> list_devices(const std::string& devices_dir) {
  std::vector<Device> devices;
  std::error_code error;
  if (const fs::directory_iterator folder(devices_dir, error); error)
    return failure(
        fmt::format("{}: the devices can not be listed: {}", devices_dir, error.message()));
  for (const fs::path& file : device_files(devices_dir)) {
    auto device = FamilyReader(devices_dir).read(file.string());
    if (!device) return pass_error(device);
    devices.push_back(*std::move(device));
  }
  return devices;
}

}  // namespace tilewright
