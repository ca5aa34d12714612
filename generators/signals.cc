// SPDX-License-Identifier: Apache-2.0
#include "generators/signals.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "generators/random.h"

namespace tilewright {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

double mean_of(std::span<const double> signal) {
  double sum = 0;
  for (const double value : signal) sum += value;
  return sum / static_cast<double>(signal.size());
}

// Scales to a standard deviation of 1; a constant signal stays as it is.
void scale_to_sigma_1(std::span<double> signal) {
  const double mean = mean_of(signal);
  double sum = 0;
  for (const double value : signal) sum += (value - mean) * (value - mean);
  if (sum == 0) return;
  const double factor = 1 / std::sqrt(sum / static_cast<double>(signal.size()));
  for (double& value : signal) value *= factor;
}

// y[n] = gain x[n] + 2 r cos(theta) y[n-1] - r^2 y[n-2], gain 1 at 0 Hz: one formant of a vocal
// tract in series form.
void resonate(std::span<double> signal, double centre_hz, double bandwidth_hz) {
  const double r = std::exp(-std::numbers::pi * bandwidth_hz / kSampleRateHz);
  const double a = 2 * r * std::cos(kTwoPi * centre_hz / kSampleRateHz);
  const double b = -r * r;
  const double gain = 1 - a - b;
  double last = 0;
  double before = 0;
  for (double& value : signal) {
    const double next = gain * value + a * last + b * before;
    before = std::exchange(last, next);
    value = next;
  }
}

}  // namespace

void inverse_fft(std::span<std::complex<double>> data) {
  const std::size_t n = data.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {  // bit reversal
    std::size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(data[i], data[j]);
  }
  std::vector<std::complex<double>> root(std::max<std::size_t>(n / 2, 1));
  for (std::size_t k = 0; k < root.size(); ++k) {
    const double angle = kTwoPi * static_cast<double>(k) / static_cast<double>(n);
    root[k] = {std::cos(angle), std::sin(angle)};
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    const std::size_t step = n / (2 * half);
    for (std::size_t start = 0; start < n; start += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const std::complex<double> w = root[k * step];
        const std::complex<double> v = data[start + half + k];
        // Written out: the operator* of std::complex also handles Inf and NaN, at three times the
        // cost.
        const std::complex<double> t(w.real() * v.real() - w.imag() * v.imag(),
                                     w.real() * v.imag() + w.imag() * v.real());
        const std::complex<double> u = data[start + k];
        data[start + k] = u + t;
        data[start + half + k] = u - t;
      }
    }
  }
}

// Bins 1.. of the next power of two samples get normal real and imaginary parts (white noise:
// random sizes and phases) divided by sqrt(k); the real part of the transform is the signal, of
// which the first `length` samples are kept.
std::vector<double> pink_noise(std::int64_t length, std::uint64_t seed, std::string_view stream) {
  const RandomStream random(seed, stream);
  const std::size_t n = std::bit_ceil(static_cast<std::size_t>(length));
  std::vector<std::complex<double>> spectrum(n);
  for (std::size_t k = 1; k < n / 2; ++k) {
    const double size = 1 / std::sqrt(static_cast<double>(k));
    spectrum[k] = {size * random.normal(2 * k), size * random.normal(2 * k + 1)};
  }
  inverse_fft(spectrum);
  std::vector<double> signal(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < signal.size(); ++i) signal[i] = spectrum[i].real();
  const double mean = mean_of(signal);
  for (double& value : signal) value -= mean;
  scale_to_sigma_1(signal);
  return signal;
}

std::vector<double> speech_like(std::int64_t length, std::uint64_t seed, std::string_view stream) {
  const RandomStream random(seed, stream);
  const double pitch_phase = kTwoPi * random.uniform(0);
  const double volume_phase = kTwoPi * random.uniform(1);
  double cycle = random.uniform(2);
  std::vector<double> signal(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const double t = static_cast<double>(i) / kSampleRateHz;
    const double pitch_hz = 115 + 25 * std::sin(kTwoPi * 0.5 * t + pitch_phase);
    cycle += pitch_hz / kSampleRateHz;
    signal[i] = cycle >= 1 ? 1 : 0;
    cycle -= std::floor(cycle);
  }
  resonate(signal, 700, 130);
  resonate(signal, 1220, 70);
  resonate(signal, 2600, 160);
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const double t = static_cast<double>(i) / kSampleRateHz;
    signal[i] *= 0.5 + 0.5 * std::sin(kTwoPi * 4 * t + volume_phase);
  }
  scale_to_sigma_1(signal);
  return signal;
}

std::vector<double> pcm16_speech(std::int64_t length, std::uint64_t seed, std::string_view stream) {
  std::vector<double> signal = speech_like(length, seed, stream);
  double peak = 0;
  for (const double value : signal) peak = std::max(peak, std::abs(value));
  const double factor = peak > 0 ? 0.9 * 32768 / peak : 0;
  for (double& value : signal) value = std::nearbyint(value * factor) / 32768;
  return signal;
}

std::vector<double> sine_127_hz(std::int64_t length, std::uint64_t seed, std::string_view stream) {
  const double phase = kTwoPi * RandomStream(seed, stream).uniform(0);
  std::vector<double> signal(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < signal.size(); ++i) {
    signal[i] = 30 * std::sin(kTwoPi * 127 / kSampleRateHz * static_cast<double>(i) + phase);
  }
  return signal;
}

}  // namespace tilewright
