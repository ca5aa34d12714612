// SPDX-License-Identifier: Apache-2.0
#include "device_model/host_roofline.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

// A symmetric filter of k taps needs ceil(k/2) products an output, an antisymmetric one floor(k/2)
// (its centre is 0).
std::int64_t folded_macs(const Conv1dBank& bank) {
  const std::int64_t even = bank.cout / 2;
  const std::int64_t odd = bank.cout - even;
  return bank.n * bank.lout() * bank.cin * (even * ((bank.k + 1) / 2) + odd * (bank.k / 2));
}

std::int64_t macs_of(const Workload& workload, const Schedule& schedule) {
  const auto* bank = std::get_if<Conv1dBank>(&workload);
  const bool folded = schedule.variant == Variant::folded_channel_major;
  return folded && bank != nullptr ? folded_macs(*bank) : direct_macs(workload);
}

std::int64_t elements(const ArrayShape& array) {
  std::int64_t count = 1;
  for (const std::int64_t extent : array.extents) count *= extent;
  return count;
}

}  // namespace

std::int64_t HostRoofline::nanoseconds() const {
  return static_cast<std::int64_t>(std::floor(std::max(compute_ns, memory_ns)));
}

bool has_host_model(Variant variant) {
  return variant == Variant::direct || variant == Variant::folded_channel_major;
}

HostRoofline host_roofline(const Workload& workload, const Schedule& schedule,
                           const Device& device) {
  HostRoofline roofline;
  roofline.macs = macs_of(workload, schedule);
  std::int64_t count = output_count(workload);
  for (const ArrayShape& array : input_shapes(workload)) count += elements(array);
  roofline.bytes = count * bytes_of(dtype_of(workload));

  // Accumulation is in fp32 whatever the data type, so a vector holds width/4 lanes.
  double lanes = device.number("vector.width_bytes") / 4;
  if (schedule[Knob::vec] > 0) lanes = std::min<double>(lanes, schedule[Knob::vec]);
  const double threads = schedule[Knob::par] == word::none ? 1 : device.number("cores.threads");
  const double macs_per_ns =
      lanes * device.number("vector.fma_ports") * threads * device.number("clock_mhz") / 1e3;
  roofline.compute_ns = static_cast<double>(roofline.macs) / macs_per_ns;
  roofline.memory_ns =
      static_cast<double>(roofline.bytes) / device.number("memory.gm.bytes_per_second") * 1e9;
  return roofline;
}

}  // namespace tilewright
