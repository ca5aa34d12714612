// SPDX-License-Identifier: Apache-2.0
#include "generators/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>

#include "generators/random.h"
#include "generators/signals.h"
#include "schedules/text.h"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 12> kNames{
    "uniform", "unit", "normal", "pink",     "speech_like",  "pcm16",
    "sine",    "dc",   "dc100",  "integers", "sincnet_bank", "zeros"};

// Element i of the classes whose elements are independent of each other.
double element(SignalClass signal, DType dtype, const RandomStream& random, std::uint64_t i) {
  const int bits = dtype == DType::fp16 ? 11 : 24;  // of the significand
  const double unit = std::ldexp(static_cast<double>(random.bits(i) >> (64 - bits)), -bits);
  switch (signal) {
    case SignalClass::unit:
      return unit;
    case SignalClass::normal:
      return random.normal(i);
    case SignalClass::dc:
      return 2 * unit - 1 + 10;
    case SignalClass::dc100:
      return 2 * unit - 1 + 100;
    case SignalClass::integers:
      return static_cast<double>(random.bits(i) % 7) - 3;
    case SignalClass::zeros:
      return 0;
    default:
      return 2 * unit - 1;
  }
}

using Synthesis = std::vector<double> (*)(std::int64_t, std::uint64_t, std::string_view);

Synthesis synthesis_of(SignalClass signal) {
  switch (signal) {
    case SignalClass::pink:
      return pink_noise;
    case SignalClass::speech_like:
      return speech_like;
    case SignalClass::pcm16:
      return pcm16_speech;
    case SignalClass::sine:
      return sine_127_hz;
    default:
      return nullptr;
  }
}

struct Planes {
  std::int64_t outer = 1, length = 1,
               inner = 1;  // element (o, i, c) at (o * length + i) * inner + c
};

// Where the signals of x lie: one per (batch, channel).
Planes planes_of(const Workload& workload, const ArrayShape& shape) {
  const std::int64_t count = element_count(shape.extents);
  if (shape.name != "x") return {1, count, 1};
  const std::int64_t batches = shape.extents.front();
  const auto* conv = std::get_if<Conv2dPool>(&workload);
  if (conv != nullptr && conv->layout == Layout::nhwc) {
    const std::int64_t channels = shape.extents.back();
    return {batches, count / batches / channels, channels};
  }
  const std::int64_t signals = batches * shape.extents[1];
  return {signals, count / signals, 1};
}

void fill_signals(Array& array, const Planes& planes, Synthesis synthesis, std::uint64_t seed,
                  const std::string& name) {
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t plane = 0; plane < planes.outer * planes.inner; ++plane) {
    const std::int64_t outer = plane / planes.inner;
    const std::int64_t inner = plane % planes.inner;
    const std::vector<double> signal =
        synthesis(planes.length, seed, name + "/" + std::to_string(plane));
    for (std::int64_t i = 0; i < planes.length; ++i) {
      array.set((outer * planes.length + i) * planes.inner + inner,
                signal[static_cast<std::size_t>(i)]);
    }
  }
}

// Copies the left half of every (cout, cin, k) filter to its right half, negated in the second half
// of the filters.
void mirror(const Conv1dBank& bank, Array& weights) {
  for (std::int64_t row = 0; row < bank.cout * bank.cin; ++row) {
    const bool odd = row >= bank.cout / 2 * bank.cin;
    for (std::int64_t tap = 0; tap < bank.k / 2; ++tap) {
      const double left = weights.at(row * bank.k + tap);
      weights.set(row * bank.k + bank.k - 1 - tap, odd ? -left : left);
    }
    if (odd && bank.k % 2 == 1) weights.set(row * bank.k + bank.k / 2, 0);
  }
}

Result<Array> make_bank(const Workload& workload, const ArrayShape& shape) {
  const auto* bank = std::get_if<Conv1dBank>(&workload);
  if (bank == nullptr || shape.name != "w" || bank->cin != 1 || bank->cout % 2 != 0 ||
      bank->k % 2 != 1 || bank->k < 3) {
    return usage_error(fmt::format(
        "class sincnet_bank is for w of a conv1d_bank with cin 1, even cout and odd k > 1, "
        "not for {} of {}",
        shape.name, to_key(workload)));
  }
  Array array(bank->dtype, shape.extents);
  const std::vector<float> taps = sincnet_bank(bank->cout, bank->k);
  for (std::size_t i = 0; i < taps.size(); ++i)
    array.set(static_cast<std::int64_t>(i), static_cast<double>(taps[i]));
  return array;
}

}  // namespace

std::string_view signal_class_name(SignalClass signal) {
  return kNames[static_cast<std::size_t>(signal)];
}

Result<SignalClass> parse_signal_class(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    return usage_error(fmt::format("unknown signal class '{}': did you mean '{}'? There are {}",
                                   name, nearest_name(name, kNames), join(kNames, ", ")));
  }
  return static_cast<SignalClass>(found - kNames.begin());
}

Result<Array> make_input(const Workload& workload, const ArrayShape& shape, SignalClass signal,
                         std::uint64_t seed) {
  const DType dtype = dtype_of(workload);
  if (dtype != DType::fp32 && dtype != DType::fp16) {
    return usage_error(
        fmt::format("inputs can be made for dtype fp32 and fp16, not for {}", to_key(workload)));
  }
  if (signal == SignalClass::sincnet_bank) return make_bank(workload, shape);
  Array array(dtype, shape.extents);
  if (const Synthesis synthesis = synthesis_of(signal)) {
    fill_signals(array, planes_of(workload, shape), synthesis, seed, shape.name);
  } else {
    const RandomStream random(seed, shape.name);
    const std::int64_t count = array.count();
#pragma omp parallel for
    for (std::int64_t i = 0; i < count; ++i) {
      array.set(i, element(signal, dtype, random, static_cast<std::uint64_t>(i)));
    }
  }
  const auto* bank = std::get_if<Conv1dBank>(&workload);
  if (bank != nullptr && shape.name == "w" && bank->symmetry == Symmetry::even_odd)
    mirror(*bank, array);
  return array;
}

std::vector<float> sincnet_bank(std::int64_t filters, std::int64_t taps) {
  constexpr double pi = std::numbers::pi;
  const std::int64_t bands = filters / 2;
  const std::int64_t centre = taps / 2;
  const auto to_mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  const auto to_hz = [](double mel) { return 700 * (std::pow(10.0, mel / 2595) - 1); };
  const double mel_low = to_mel(30);
  const double mel_step = (to_mel(7900) - mel_low) / static_cast<double>(bands);
  std::vector<float> bank(static_cast<std::size_t>(filters * taps));
  for (std::int64_t band = 0; band < bands; ++band) {
    const double hz = to_hz(mel_low + mel_step * static_cast<double>(band));
    const double next_hz = to_hz(mel_low + mel_step * static_cast<double>(band + 1));
    const double low = 50 + hz;
    const double high = std::clamp(low + 50 + (next_hz - hz), 50.0, kSampleRateHz / 2);
    const double width = high - low;
    const double middle = (low + high) / 2;
    float* const even = bank.data() + band * taps;
    float* const odd = bank.data() + (bands + band) * taps;
    for (std::int64_t k = 0; k <= centre; ++k) {
      const double t = static_cast<double>(k - centre) / kSampleRateHz;
      const double window =
          0.54 - 0.46 * std::cos(2 * pi * static_cast<double>(k) / static_cast<double>(taps - 1));
      const double z = pi * width * t;
      const double sinc = k == centre ? 1 : std::sin(z) / z;
      even[k] = even[taps - 1 - k] =
          static_cast<float>(window * sinc * std::cos(2 * pi * middle * t));
      odd[k] = static_cast<float>(window * sinc * std::sin(2 * pi * middle * t));
      odd[taps - 1 - k] = -odd[k];
    }
    odd[centre] = 0;  // the line above left -0
  }
  return bank;
}

std::optional<AsymmetricTap> find_asymmetry(const float* bank, std::int64_t filters,
                                            std::int64_t taps) {
  const auto differ = [](float a, float b) {
    const auto x = std::bit_cast<std::uint32_t>(a);
    const auto y = std::bit_cast<std::uint32_t>(b);
    return x != y && ((x | y) << 1) != 0;  // a pair of +0 and -0 is no difference
  };
  for (std::int64_t filter = 0; filter < filters; ++filter) {
    const float* const w = bank + filter * taps;
    const bool odd = filter >= filters / 2;
    for (std::int64_t tap = 0; tap < (taps + 1) / 2; ++tap) {
      const float mirrored = odd ? -w[taps - 1 - tap] : w[taps - 1 - tap];
      if (differ(w[tap], mirrored)) return AsymmetricTap{filter, tap};
    }
  }
  return std::nullopt;
}

}  // namespace tilewright
