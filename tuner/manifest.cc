// SPDX-License-Identifier: Apache-2.0
#include "tuner/manifest.h"

#include <fmt/format.h>

#include <filesystem>

#include "tuner/files.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kManifestVersion = 1;

Result<Manifest> from_json(const Json& json, const std::string& path) {
  if (json.integer_of("manifest_version") != kManifestVersion) {
    return failure(fmt::format("{} is no kernel manifest of version {}: generate the kernel again",
                               path, kManifestVersion));
  }
  Manifest m;
  const Json none = Json::object();
  const Json* device = json.find("device");
  if (!device) device = &none;
  m.name = json.text_of("name");
  m.workload = json.text_of("workload");
  m.schedule = json.text_of("schedule");
  m.kind = json.text_of("kind");
  m.device_name = device->text_of("name");
  m.device_hash = device->text_of("hash");
  m.target = json.text_of("target");
  m.halide_version = json.text_of("halide_version");
  m.generator_version = json.text_of("generator_version");
  m.tool_version = json.text_of("tool_version");
  m.unscheduled = json.boolean_of("unscheduled");
  m.library = json.text_of("library");
  m.header = json.text_of("header");
  m.shared = json.text_of("shared");
  m.runtime = json.text_of("runtime");
  m.link = json.text_of("link");
  if (const Json* artefacts = json.find("artefacts"); artefacts && artefacts->members()) {
    for (const JsonMember& member : *artefacts->members())
      m.artefacts[member.key] = member.value.text().value_or("");
  }
  if (m.name.empty() || m.workload.empty() || m.schedule.empty() || m.shared.empty()) {
    return failure(fmt::format(
        "{} lacks a name, workload, schedule or shared library: generate the kernel again", path));
  }
  m.folder = fs::path(path).parent_path().string();
  if (m.folder.empty()) m.folder = ".";
  return m;
}

}  // namespace

KernelRecord Manifest::record() const {
  return {name, target, halide_version, generator_version, artefacts};
}

Json to_json(const Manifest& m) {
  return Json::object()
      .set("manifest_version", kManifestVersion)
      .set("name", m.name)
      .set("workload", m.workload)
      .set("schedule", m.schedule)
      .set("kind", m.kind)
      .set("device", Json::object().set("name", m.device_name).set("hash", m.device_hash))
      .set("target", m.target)
      .set("halide_version", m.halide_version)
      .set("generator_version", m.generator_version)
      .set("tool_version", m.tool_version)
      .set("unscheduled", m.unscheduled)
      .set("library", m.library)
      .set("header", m.header)
      .set("shared", m.shared)
      .set("runtime", m.runtime)
      .set("link", m.link)
      .set("artefacts", Json::object_of(m.artefacts));
}

Result<Manifest> read_manifest(const std::string& path) {
  fs::path file = path;
  if (!file.has_parent_path() && !file.has_extension()) file = fs::path("out") / file;
  file.replace_extension(".json");
  auto text = read_file(file.string());
  if (!text) {
    return failure(fmt::format(
        "no kernel manifest at {}: make one with tilewright generate WORKLOAD --device D -o DIR",
        file.string()));
  }
  auto json = parse_json(*text, file.string());
  if (!json) return pass_error(json);
  return from_json(*json, file.string());
}

std::string damage(const std::string& folder, const std::map<std::string, std::string>& artefacts) {
  for (const auto& [name, digest] : artefacts) {
    const std::string path = (fs::path(folder) / name).string();
    const auto found = digest_of_file(path);
    if (!found) return fmt::format("{} is missing", path);
    if (*found != digest) return fmt::format("{} was changed", path);
  }
  return "";
}

}  // namespace tilewright
