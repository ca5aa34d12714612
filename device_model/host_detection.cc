// SPDX-License-Identifier: Apache-2.0
// What this CPU has, as far as kernels depend on it.
#include <algorithm>
#include <thread>

#include "device_model/device.h"

namespace tilewright {
namespace {

struct VectorUnit {
  double width_bytes, registers;
};
VectorUnit vector_unit() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {64, 32};
  if (__builtin_cpu_supports("avx")) return {32, 16};
  return {16, 16};
#else
  return {16, 32};  // NEON
#endif
}

}  // namespace

Device detect_host(Device device) {
  if (device.kind != DeviceKind::host) return device;
  const auto lower = [&](std::string_view key, double most) {
    const auto found = device.numbers.find(key);
    if (found == device.numbers.end() || found->second.value <= most) return;
    found->second = {most, Origin::measured, "lowered to what this CPU has"};
  };
  const VectorUnit unit = vector_unit();
  lower("vector.width_bytes", unit.width_bytes);
  lower("vector.registers", unit.registers);
  lower("cores.threads", std::max(1U, std::thread::hardware_concurrency()));
  set_hash(device);
  return device;
}

}  // namespace tilewright
