// SPDX-License-Identifier: Apache-2.0
// The time-like signal classes: one whole signal at a time, in double.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tilewright {

inline constexpr double kSampleRateHz = 16000;

// `stream` names the signal: same seed and stream, same signal.
std::vector<double> pink_noise(std::int64_t length, std::uint64_t seed, std::string_view stream);
std::vector<double> speech_like(std::int64_t length, std::uint64_t seed, std::string_view stream);
std::vector<double> pcm16_speech(std::int64_t length, std::uint64_t seed, std::string_view stream);
std::vector<double> sine_127_hz(std::int64_t length, std::uint64_t seed, std::string_view stream);

// In place, sum over k of a[k] exp(+2 pi i j k / n); n must be a power of two. Not scaled.
void inverse_fft(std::span<std::complex<double>> data);

}  // namespace tilewright
