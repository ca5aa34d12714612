// SPDX-License-Identifier: Apache-2.0
// A Device is data: one TOML file in devices/, read strictly, no C++ per device. Every number has
// its origin.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/limits.h"
#include "schedules/result.h"

namespace tilewright {

enum class Origin : std::uint8_t { datasheet, published, measured, fitted, assumed };

// One number of a device file: `clock_mhz = { value = 1500, origin = "datasheet", note = "..." }`.
struct DeviceNumber {
  double value = 0;
  Origin origin = Origin::assumed;
  std::string note;  // by whom, fitted to what
  friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
};

struct Device {
  std::string name;
  DeviceKind kind = DeviceKind::host;
  std::string description;
  std::string dataflow;  // of kind systolic: weight_stationary
  std::map<std::string, DeviceNumber, std::less<>>
      numbers;       // dotted key (`memory.l1.capacity_bytes`) -> number
  std::string hash;  // XXH3-128 of canonical_text(), 32 hex digits

  double number(std::string_view key) const;  // the key must exist: the strict reader checked it
  friend bool operator==(const Device&, const Device&) = default;
};

// `what` is a name in `devices_dir` (devices/NAME.toml) or a path to a TOML file. Strict: an
// unknown, missing or mistyped key is an error with file, line and the nearest name.
Result<Device> load_device(std::string_view what, const std::string& devices_dir);
Result<std::vector<Device>> list_devices(const std::string& devices_dir);
// What-if questions: `clock_mhz=1800`, a key and its value, each replacing a number. Such a number
// is `assumed`, its note says what the file has, and the hash follows. Errors: an unknown key
// (nearest offered), a value that the key can not have, a key given twice.
Result<Device> with_overrides(Device device, std::span<const std::string> assignments);
// The content that the hash covers: kind and numbers with their values, sorted; not name, notes,
// comments or layout.
std::string canonical_text(const Device& device);
void set_hash(Device& device);  // after a change of a number
std::string_view origin_name(Origin origin);
Limits limits_of(const Device& device);

// A host device with vector width, registers and threads lowered to what this CPU has, and the hash
// of that: what was stored for another CPU is a miss. Other kinds come back unchanged.
Device detect_host(Device device);

}  // namespace tilewright
