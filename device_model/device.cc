// SPDX-License-Identifier: Apache-2.0
#include "device_model/device.h"

#include <fmt/format.h>

#include <cassert>

#include "device_model/device_hash.h"
#include "schedules/variants.h"

namespace tilewright {

double Device::number(std::string_view key) const {
  const auto found = numbers.find(key);
  assert(found != numbers.end());
  return found == numbers.end() ? 0 : found->second.value;
}

std::string_view origin_name(Origin origin) {
  constexpr std::string_view kNames[] = {"datasheet", "published", "measured", "fitted", "assumed"};
  return kNames[static_cast<std::size_t>(origin)];
}

std::string canonical_text(const Device& device) {
  std::string text = fmt::format("kind {}\n", kind_name(device.kind));
  if (!device.dataflow.empty()) text += fmt::format("dataflow {}\n", device.dataflow);
  for (const auto& [key, number] : device.numbers)
    text += fmt::format("{} {}\n", key, number.value);
  return text;
}

void set_hash(Device& device) { device.hash = content_hash(canonical_text(device)); }

Limits limits_of(const Device& device) {
  const auto whole = [&](std::string_view key) {
    return static_cast<std::int64_t>(device.number(key));
  };
  Limits limits;
  limits.kind = device.kind;
  if (device.kind == DeviceKind::npu) {
    limits.l0a = whole("memory.l0a.capacity_bytes");
    limits.l0b = whole("memory.l0b.capacity_bytes");
    limits.l0c = whole("memory.l0c.capacity_bytes");
    limits.l1 = whole("memory.l1.capacity_bytes");
    limits.ub = whole("memory.ub.capacity_bytes");
    limits.l2 = whole("memory.l2.capacity_bytes");
    limits.fractal = whole("cube.fractal_elements");
    limits.cube_cores = whole("cores.cube");
    limits.vector_cores = whole("cores.vector");
  } else if (device.kind == DeviceKind::mxu) {
    limits.on_chip = whole("memory.on_chip.capacity_bytes");
    limits.lanes = whole("mxu.lanes");
    limits.columns = whole("mxu.columns");
    limits.issue_rows = whole("mxu.issue_rows");
    limits.dma_step = whole("dma.offset_elements");
    const bool barrier = device.number("address_state.global_barrier") != 0;
    limits.group_limit = barrier ? whole("address_state.barrier_groups") : 0;
  } else if (device.kind == DeviceKind::systolic) {
    limits.array_rows = whole("array.rows");
    limits.array_columns = whole("array.columns");
    limits.sram = whole("memory.sram.capacity_bytes");
    limits.sram_slots = whole("memory.sram.slots");
  } else if (device.kind == DeviceKind::host) {
    limits.vector_bytes = whole("vector.width_bytes");
    limits.vector_registers = whole("vector.registers");
    limits.l1d = whole("memory.l1d.capacity_bytes");
    limits.l2_per_core = whole("memory.l2.capacity_bytes");
    limits.threads = whole("cores.threads");
  }
  return limits;
}

}  // namespace tilewright
