// SPDX-License-Identifier: Apache-2.0
#include "tuner/installation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "device_model/model.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : self.parent_path();
}

std::string first_folder(const fs::path& preferred, const fs::path& otherwise) {
  std::error_code error;
  return fs::is_directory(preferred, error) ? preferred.string() : otherwise.string();
}

}  // namespace

Installation find_installation(const std::string& compiler) {
  const fs::path own = own_folder();
  const fs::path source = TILEWRIGHT_SOURCE_DIR;
  Installation found;
  found.libexec_dir = first_folder(own / TILEWRIGHT_LIBEXEC_DIR,
                                   fs::path(TILEWRIGHT_BINARY_DIR) / TILEWRIGHT_LIBEXEC_DIR);
  found.workloads_dir = first_folder(own / TILEWRIGHT_DATA_DIR / "workloads", source / "workloads");
  found.devices_dir =
      first_folder(own / TILEWRIGHT_DATA_DIR / "devices", source / "device_model" / "devices");
  found.compiler = compiler.empty() ? "c++" : compiler;
  return found;
}

Result<std::string> helper_path(const Installation& installation, const std::string& name) {
  const fs::path path = fs::path(installation.libexec_dir) / name;
  if (::access(path.c_str(), X_OK) != 0) {
    return failure(
        fmt::format("the helper program {} is missing: build the target {}", path.string(), name));
  }
  return path.string();
}

Result<Device> find_device(std::string_view what, const Installation& installation) {
  auto device = load_device(what, installation.devices_dir);
  if (device) *device = detect_host(*std::move(device));
  return device;
}

Result<std::vector<Device>> find_devices(const Installation& installation) {
  auto devices = list_devices(installation.devices_dir);
  if (devices) {
    for (Device& device : *devices) device = detect_host(std::move(device));
  }
  return devices;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

int hardware_threads() {
  const unsigned threads = std::thread::hardware_concurrency();
  return threads == 0 ? 1 : static_cast<int>(threads);
}

Versions own_versions() {
  Versions versions;
  versions.tool = TILEWRIGHT_VERSION;
  versions.model = kModelVersion;
  return versions;
}

}  // namespace tilewright
