// SPDX-License-Identifier: Apache-2.0
// Workloads from TOML files: one table per workload, its name the table's. The only file of this
// folder that knows TOML.
//   [small-fp16-p1]
//   operator = "conv2d_pool"
//   n = 4
//   ...
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "schedules/operators.h"
#include "schedules/text.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string place(const std::string& file, const toml::node& node) {
  return fmt::format("{}:{}", file, node.source().begin.line);
}

// The text that a key would have for this value; the TOML type must be the field's.
Result<std::string> value_text(const Field& field, std::string_view name, const toml::node& node) {
  if (field.boolean) {
    if (const auto value = node.value_exact<bool>()) return std::string(*value ? "1" : "0");
    return usage_error(fmt::format("{} must be true or false", name));
  }
  if (field.words.empty()) {
    if (const auto value = node.value_exact<std::int64_t>()) return fmt::to_string(*value);
    return usage_error(fmt::format("{} must be a whole number", name));
  }
  if (auto value = node.value_exact<std::string>()) return *std::move(value);
  return usage_error(fmt::format("{} must be a text, one of {}", name, join(field.words, ", ")));
}

std::optional<std::string> set_field(FieldSetter& setter, const Operator& op, std::string_view name,
                                     const toml::node& node) {
  const Field* field = find_field(op, name);
  if (field == nullptr) return setter.set(name, "");  // says which names there are
  const auto text = value_text(*field, name, node);
  if (!text) return text.error().message;
  return setter.set(name, *text);
}

Result<const Operator*> operator_in(const std::string& file, const std::string& name,
                                    const toml::table& table) {
  std::vector<std::string_view> known;
  for (const Operator& op : operators()) known.push_back(op.name);
  const toml::node* node = table.get("operator");
  if (node == nullptr) {
    return usage_error(
        fmt::format("{}: workload '{}' has no operator; add operator = \"...\" (one of {})",
                    place(file, table), name, join(known, ", ")));
  }
  const std::string value = node->value_exact<std::string>().value_or("");
  if (const Operator* op = find_operator(value)) return op;
  return usage_error(fmt::format("{}: unknown operator '{}'; nearest is '{}'", place(file, *node),
                                 value, nearest_name(value, known)));
}

Result<Workload> workload_in(const std::string& file, const std::string& name,
                             const toml::table& table) {
  const auto op = operator_in(file, name, table);
  if (!op) return pass_error(op);
  FieldSetter setter(**op);
  for (const auto& [key, node] : table) {
    if (key.str() == "operator") continue;
    if (const auto problem = set_field(setter, **op, key.str(), node)) {
      return usage_error(fmt::format("{}: workload '{}': {}", place(file, node), name, *problem));
    }
  }
  if (const auto problem = setter.finish()) {
    return usage_error(fmt::format("{}: workload '{}': {}", place(file, table), name, *problem));
  }
  return setter.workload();
}

// In the order of the file.
Result<std::vector<NamedWorkload>> workloads_in(const std::string& file, const toml::table& root) {
  std::vector<std::pair<toml::source_index, NamedWorkload>> found;
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return usage_error(
          fmt::format("{}: '{}' stands outside of a workload; put it below a line [name]",
                      place(file, node), name));
    }
    auto workload = workload_in(file, name, *table);
    if (!workload) return pass_error(workload);
    found.emplace_back(node.source().begin.line, NamedWorkload{name, *std::move(workload), file});
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NamedWorkload> workloads;
  workloads.reserve(found.size());
  for (auto& [line, workload] : found) workloads.push_back(std::move(workload));
  return workloads;
}

Result<std::vector<NamedWorkload>> read_workload_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) {
    return failure(fmt::format(
        "{}: can not be read as a workload file; does it exist, and is it not empty?", file));
  }
  try {
    return workloads_in(file, toml::parse(text.str(), file));
  } catch (const toml::parse_error& error) {
    return usage_error(fmt::format("{}:{}: no valid TOML: {}", file, error.source().begin.line,
                                   std::string(error.description())));
  }
}

Result<Workload> pick(const std::string& file, std::string_view name,
                      const std::vector<NamedWorkload>& workloads) {
  std::vector<std::string_view> names;
  for (const NamedWorkload& known : workloads) {
    if (known.name == name) return known.workload;
    names.push_back(known.name);
  }
  return usage_error(fmt::format(
      "unknown workload '{}'; nearest in {} is '{}' (or give a key such as conv2d_pool/n:1,..., "
      "or a TOML file)",
      name, file, nearest_name(name, names)));
}

Result<Workload> workload_of_file(std::string_view what, std::size_t end_of_path) {
  const std::string file(what.substr(0, end_of_path));
  const auto workloads = read_workload_file(file);
  if (!workloads) return pass_error(workloads);
  if (end_of_path < what.size()) return pick(file, what.substr(end_of_path + 1), *workloads);
  if (workloads->size() == 1) return workloads->front().workload;
  std::vector<std::string_view> names;
  for (const NamedWorkload& known : *workloads) names.push_back(known.name);
  return usage_error(fmt::format("{}: has {} workloads, say which: {}:NAME with NAME one of {}",
                                 file, names.size(), file,
                                 names.empty() ? "(none)" : join(names, ", ")));
}

}  // namespace

Result<std::vector<NamedWorkload>> list_workloads(const std::string& workloads_dir) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(workloads_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".toml") files.push_back(entry->path().string());
  }
  if (error)
    return failure(
        fmt::format("{}: the workloads can not be listed: {}", workloads_dir, error.message()));
  std::sort(files.begin(), files.end());
  std::vector<NamedWorkload> all;
  for (const std::string& file : files) {
    auto workloads = read_workload_file(file);
    if (!workloads) return workloads;
    for (NamedWorkload& workload : *workloads) {
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const auto& w) { return w.name == workload.name; });
      if (same != all.end()) {
        return usage_error(fmt::format("{}: workload '{}' is already in {}; rename one", file,
                                       workload.name, same->file));
      }
      all.push_back(std::move(workload));
    }
  }
  return all;
}

Result<Workload> find_workload(std::string_view what, const std::string& workloads_dir) {
  constexpr std::string_view kExtension = ".toml";
  if (what.ends_with(kExtension)) return workload_of_file(what, what.size());
  if (const std::size_t at = what.rfind(".toml:"); at != std::string_view::npos) {
    return workload_of_file(what, at + kExtension.size());
  }
  if (what.find(':') != std::string_view::npos || find_operator(what) != nullptr)
    return parse_workload_key(what);
  const auto workloads = list_workloads(workloads_dir);
  if (!workloads) return pass_error(workloads);
  return pick(workloads_dir, what, *workloads);
}

}  // namespace tilewright
