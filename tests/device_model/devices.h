// SPDX-License-Identifier: Apache-2.0
// Devices and workloads that the tests of this folder share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "device_model/device.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright::test {

inline const std::string kDevices = std::string(TILEWRIGHT_SOURCE_DIR) + "/device_model/devices";
inline constexpr std::string_view kLarge =
    "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16";
inline constexpr std::string_view kPublishedTile =
    "im2col/base_m:128,base_n:256,base_k:64,rows:6,load:norm";

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}
inline Device device(std::string_view name) { return value_of(load_device(name, kDevices)); }
inline Workload workload(std::string_view key) { return value_of(parse_workload_key(key)); }
inline Schedule schedule(std::string_view text, const Workload& w,
                         DeviceKind kind = DeviceKind::npu) {
  return value_of(parse_schedule(text, w, kind));
}

}  // namespace tilewright::test
