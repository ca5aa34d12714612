// SPDX-License-Identifier: Apache-2.0
// Seeded inputs of kernels: signal classes, small integers, the published filter bank. Same seed,
// same bits (random.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generators/arrays.h"
#include "schedules/result.h"
#include "schedules/workload.h"

namespace tilewright {

enum class SignalClass : std::uint8_t {
  uniform,       // U[-1,1), in steps of 2^-23 (fp32) or 2^-10 (fp16), so that no rounding reaches 1
  unit,          // U[0,1), in steps of 2^-24 or 2^-11
  normal,        // N(0,1)
  pink,          // 1/f power, mean 0, sigma 1
  speech_like,   // pulses through three formants, sigma 1
  pcm16,         // speech_like, peak 0.9, in steps of 1/32768
  sine,          // 30 sin(2 pi 127 Hz t + phase) at 16 kHz
  dc,            // uniform + 10
  dc100,         // uniform + 100
  integers,      // whole numbers -3..3
  sincnet_bank,  // w of conv1d_bank: the ParamSincFB bank
  zeros,
};

std::string_view signal_class_name(SignalClass signal);
// Error: unknown class, with the nearest name.
Result<SignalClass> parse_signal_class(std::string_view name);

// Makes the array `name` (x, w or bias) of the workload. The time-like classes (pink .. sine) treat
// each (batch, channel) plane of x as one signal with its own random phases; w and bias are one
// signal. w of a workload with symmetry even_odd is mirrored from its left half, whatever the
// class: the first half of the filters even, the others odd with a centre of 0. Errors: dtype other
// than fp32 and fp16; sincnet_bank for anything but such a w.
Result<Array> make_input(const Workload& workload, const ArrayShape& shape, SignalClass signal,
                         std::uint64_t seed);

// The bank of ParamSincFB(filters, taps) at 16 kHz: cosine (even) filters first, sine (odd) filters
// after them, each `taps` long. Computed in double, rounded once to float; the right half is the
// mirror of the left half, bit for bit. filters even, taps odd and > 1.
std::vector<float> sincnet_bank(std::int64_t filters, std::int64_t taps);

// The first pair of taps that breaks the even_odd symmetry of a (filters, taps) bank, or nothing.
// +0 equals -0.
struct AsymmetricTap {
  std::int64_t filter = 0, tap = 0;
};
std::optional<AsymmetricTap> find_asymmetry(const float* bank, std::int64_t filters,
                                            std::int64_t taps);

}  // namespace tilewright
