// SPDX-License-Identifier: Apache-2.0
// Where the program finds its helpers and its data: beside its own executable, so that a build tree
// can be moved; the source folder known at compile time is the fallback for the data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device_model/device.h"
#include "schedules/records.h"
#include "schedules/result.h"

namespace tilewright {

struct Installation {
  std::string libexec_dir;    // emitters and harness
  std::string workloads_dir;  // *.toml
  std::string devices_dir;    // *.toml
  std::string compiler;  // C++ compiler that links kernels: a path, or a name looked up in PATH
};

// `compiler` empty: c++.
Installation find_installation(const std::string& compiler);
// Path of a helper; an error names the target to build when it is not there.
Result<std::string> helper_path(const Installation& installation, const std::string& name);

// Devices by name or file, as load_device and list_devices, but with the host's numbers lowered to
// what this machine has: the hash then tells machines apart.
Result<Device> find_device(std::string_view what, const Installation& installation);
Result<std::vector<Device>> find_devices(const Installation& installation);

std::string cpu_model();  // of this machine, from /proc/cpuinfo; "unknown CPU" where it has none
int hardware_threads();

// Versions of the tool and model; halide and generator stay empty until an emitter was asked.
Versions own_versions();

}  // namespace tilewright
