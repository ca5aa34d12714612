// SPDX-License-Identifier: Apache-2.0
// Workloads and limits that the tests of schedules/ share.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright {

inline constexpr const char* kLargeFp16 =
    "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16";
inline constexpr const char* kLargeFp32 =
    "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp32";
inline constexpr const char* kSmallFp16 =
    "conv2d_pool/n:4,cin:128,h:32,w:16,cout:128,kh:3,kw:3,pool:2,dtype:fp16";
inline constexpr const char* kSincnet =
    "conv1d_bank/n:21,l:160000,cout:80,k:251,stride:10,dtype:fp32,symmetry:even_odd";

// The buffers of the published NPU.
inline Limits npu_limits() {
  Limits limits;
  limits.kind = DeviceKind::npu;
  limits.l0a = limits.l0b = 65536;
  limits.l0c = 131072;
  limits.l1 = 524288;
  limits.ub = 196352;
  limits.cube_cores = 20;
  limits.vector_cores = 40;
  return limits;
}
// The chip with a permute unit, address state tracked.
inline Limits mxu_limits() {
  Limits limits;
  limits.kind = DeviceKind::mxu;
  limits.on_chip = 4194304;
  limits.lanes = limits.columns = 128;
  limits.issue_rows = 8;
  limits.dma_step = 32;
  return limits;
}
inline Limits host_limits(std::int64_t vector_bytes = 64) {
  Limits limits;
  limits.kind = DeviceKind::host;
  limits.vector_bytes = vector_bytes;
  limits.vector_registers = vector_bytes == 64 ? 32 : 16;
  limits.threads = 2;
  return limits;
}

// A value that must be there; GoogleTest reports the exception as a failure.
template <class T>
T value_of(const Result<T>& result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *result;
}
inline Workload workload(const std::string& key) { return value_of(parse_workload_key(key)); }
inline Schedule schedule(const std::string& text, const Workload& w, DeviceKind kind) {
  return value_of(parse_schedule(text, w, kind));
}

// The message of a usage error; a test failure if there is none.
template <class T>
std::string usage_message(const Result<T>& result) {
  if (result) {
    ADD_FAILURE() << "expected an error";
    return {};
  }
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos)
      << "one line: " << result.error().message;
  return result.error().message;
}
#define EXPECT_MENTIONS(text, part)                        \
  do {                                                     \
    const std::string mentions_text = (text);              \
    EXPECT_NE(mentions_text.find(part), std::string::npos) \
        << mentions_text << "\nlacks: " << (part);         \
  } while (false)

}  // namespace tilewright
