// SPDX-License-Identifier: Apache-2.0
#include "generators/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <set>

#include "generators/digest.h"
#include "generators/signals.h"

namespace tilewright {
namespace {

Workload workload(const std::string& key) {
  auto parsed = parse_workload_key(key);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message;
    std::abort();
  }
  return *parsed;
}

const std::string kConv = "conv2d_pool/n:2,cin:3,h:40,w:50,cout:4,kh:3,kw:3,pool:1,dtype:fp32";
const std::string kHalfConv = "conv2d_pool/n:2,cin:3,h:40,w:50,cout:4,kh:3,kw:3,pool:1,dtype:fp16";
const std::string kBank =
    "conv1d_bank/n:3,l:20000,cout:80,k:251,stride:10,dtype:fp32,symmetry:even_odd";

Array make(const std::string& key, const std::string& name, SignalClass signal,
           std::uint64_t seed = 1) {
  const Workload w = workload(key);
  for (const ArrayShape& shape : input_shapes(w)) {
    if (shape.name != name) continue;
    auto array = make_input(w, shape, signal, seed);
    if (array) return *std::move(array);
    ADD_FAILURE() << array.error().message;
  }
  return {};
}

struct Statistics {
  double mean = 0, sigma = 0, lowest = INFINITY, highest = -INFINITY;
};
Statistics statistics(const Array& array, std::int64_t from, std::int64_t count) {
  Statistics s;
  for (std::int64_t i = from; i < from + count; ++i) {
    const double value = static_cast<double>(array.at(i));
    s.mean += value / static_cast<double>(count);
    s.lowest = std::min(s.lowest, value);
    s.highest = std::max(s.highest, value);
  }
  for (std::int64_t i = from; i < from + count; ++i) {
    s.sigma += std::pow(static_cast<double>(array.at(i)) - s.mean, 2) / static_cast<double>(count);
  }
  s.sigma = std::sqrt(s.sigma);
  return s;
}
Statistics statistics(const Array& array) { return statistics(array, 0, array.count()); }

TEST(Digest, IsXxh3) {
  EXPECT_EQ(digest_of({}),
            "99aa06d3014798d86001c324468d497f");  // xxHash's own test vector of the empty input
  Digest split;
  split.add("ab");
  split.add("c");
  Digest other;
  other.add("a");
  other.add("bc");
  EXPECT_NE(split.hex(), other.hex());
}

// Bits fixed for ever, checked against a second implementation of the generator: they do not go
// through the C library, so they are the same on every machine.
TEST(Inputs, SeedsGiveTheSameBitsEverywhere) {
  const auto digest = [](SignalClass signal, const std::string& key) {
    return digest_of(make(key, "x", signal).storage);
  };
  EXPECT_EQ(digest(SignalClass::uniform, kConv), "92c97b636502bb4318b0fca6d966a000");
  EXPECT_EQ(digest(SignalClass::uniform, kHalfConv), "653d0b99d3b07ade3a30f3fc74097500");
  EXPECT_EQ(digest(SignalClass::integers, kConv), "bf686a5cac030e068fa9bfd7c1b71aaf");
}

TEST(Inputs, OtherSeedsAndArraysDiffer) {
  std::set<std::string> digests;
  for (const std::uint64_t seed : {1u, 2u, 3u})
    digests.insert(digest_of(make(kConv, "x", SignalClass::normal, seed).storage));
  EXPECT_EQ(digests.size(), 3u);
  const Array x = make(kConv, "x", SignalClass::uniform);
  const Array w = make(kConv, "w", SignalClass::uniform);
  EXPECT_NE(x.at(0), w.at(0));
  EXPECT_EQ(make(kConv, "x", SignalClass::normal), make(kConv, "x", SignalClass::normal));
}

TEST(Inputs, IndependentClassesHaveTheirDistribution) {
  for (const std::string& key : {kConv, kHalfConv}) {
    const Statistics uniform = statistics(make(key, "x", SignalClass::uniform));
    EXPECT_NEAR(uniform.mean, 0, 0.03);
    EXPECT_NEAR(uniform.sigma, std::sqrt(1.0 / 3), 0.02);
    EXPECT_GE(uniform.lowest, -1);
    EXPECT_LT(uniform.highest, 1);
    const Statistics unit = statistics(make(key, "x", SignalClass::unit));
    EXPECT_NEAR(unit.mean, 0.5, 0.02);
    EXPECT_GE(unit.lowest, 0);
    EXPECT_LT(unit.highest, 1);
    const Statistics normal = statistics(make(key, "x", SignalClass::normal));
    EXPECT_NEAR(normal.mean, 0, 0.05);
    EXPECT_NEAR(normal.sigma, 1, 0.03);
    EXPECT_GT(normal.highest, 3);
    EXPECT_LT(normal.highest, 6);
  }
  EXPECT_NEAR(statistics(make(kConv, "x", SignalClass::dc)).mean, 10, 0.03);
  EXPECT_NEAR(statistics(make(kConv, "x", SignalClass::dc100)).mean, 100, 0.03);
  const Array zeros = make(kConv, "x", SignalClass::zeros);
  EXPECT_TRUE(std::all_of(zeros.storage.begin(), zeros.storage.end(),
                          [](std::byte b) { return b == std::byte{0}; }));
  std::set<float> values;
  const Array integers = make(kHalfConv, "x", SignalClass::integers);
  for (std::int64_t i = 0; i < integers.count(); ++i) values.insert(integers.at(i));
  EXPECT_EQ(values, (std::set<float>{-3, -2, -1, 0, 1, 2, 3}));
}

TEST(Inputs, SignalsHaveSigmaOneAndDifferPerBatch) {
  for (const SignalClass signal : {SignalClass::pink, SignalClass::speech_like}) {
    const Array x = make(kBank, "x", signal);
    for (std::int64_t batch = 0; batch < 3; ++batch) {
      const Statistics s = statistics(x, batch * 20000, 20000);
      EXPECT_NEAR(s.sigma, 1, 1e-5) << signal_class_name(signal);
    }
    EXPECT_NE(x.at(1000), x.at(21000));
  }
}

TEST(Inputs, PcmIsAMultipleOfItsStepWithPeakNearNineTenths) {
  const Array x = make(kBank, "x", SignalClass::pcm16);
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const float steps = x.at(i) * 32768;
    ASSERT_EQ(steps, std::nearbyint(steps));
  }
  const Statistics s = statistics(x, 0, 20000);
  EXPECT_NEAR(std::max(-s.lowest, s.highest), 0.9, 1.0 / 32768);
}

TEST(Inputs, SineHasItsAmplitudeAndFrequency) {
  const Array x = make(kBank, "x", SignalClass::sine);
  const Statistics s = statistics(x, 0, 16000);
  EXPECT_NEAR(s.highest, 30, 0.05);
  EXPECT_NEAR(s.sigma, 30 / std::sqrt(2.0), 0.01);
  int rises = 0;
  for (int i = 1; i < 16000; ++i) rises += x.at(i - 1) < 0 && x.at(i) >= 0;
  EXPECT_NEAR(rises, 127, 1);
}

// Power in octaves of a 1/f spectrum is the same in every octave.
TEST(Inputs, PinkNoiseHasTheSamePowerInEveryOctave) {
  const std::size_t n = 1 << 16;
  const std::vector<double> signal = pink_noise(static_cast<std::int64_t>(n), 7, "x");
  std::vector<std::complex<double>> spectrum(signal.begin(), signal.end());
  inverse_fft(spectrum);
  std::vector<double> octaves;
  for (std::size_t low = 64; low < n / 2; low *= 2) {
    double power = 0;
    for (std::size_t k = low; k < 2 * low; ++k) power += std::norm(spectrum[k]);
    octaves.push_back(power);
  }
  for (const double power : octaves) EXPECT_NEAR(power / octaves.back(), 1, 0.5);
  EXPECT_NEAR(octaves[octaves.size() - 2] / octaves.back(), 1, 0.05);
}

TEST(Inputs, FftAgreesWithTheSum) {
  const std::size_t n = 32;
  std::vector<std::complex<double>> data(n);
  for (std::size_t k = 0; k < n; ++k)
    data[k] = {std::sin(3.0 * static_cast<double>(k)), std::cos(static_cast<double>(k * k))};
  std::vector<std::complex<double>> fast = data;
  inverse_fft(fast);
  for (std::size_t j = 0; j < n; ++j) {
    std::complex<double> sum = 0;
    for (std::size_t k = 0; k < n; ++k)
      sum += data[k] * std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                           static_cast<double>(n));
    EXPECT_NEAR(std::abs(fast[j] - sum), 0, 1e-12);
  }
}

TEST(Bank, IsTheOneOfTheModel) {
  const std::vector<float> bank = sincnet_bank(80, 251);
  EXPECT_FALSE(find_asymmetry(bank.data(), 80, 251).has_value());
  double smallest = INFINITY;
  double largest = 0;
  for (std::ptrdiff_t filter = 0; filter < 80; ++filter) {
    const float* const w = bank.data() + filter * 251;
    double norm = 0;
    for (int k = 0; k < 251; ++k) norm += std::abs(static_cast<double>(w[k]));
    smallest = std::min(smallest, norm);
    largest = std::max(largest, norm);
    // Exactly 1 and exactly +0.
    EXPECT_EQ(std::bit_cast<std::uint32_t>(w[125]), filter < 40 ? 0x3f800000u : 0u);
  }
  // Sums of |w| over a filter, as measured elsewhere for this bank.
  EXPECT_NEAR(smallest, 24.8, 0.05);
  EXPECT_NEAR(largest, 74.4, 0.05);
  // Band 0 is 80 .. 176.4 Hz: the tap beside the centre from the closed form.
  const double t = 1.0 / 16000;
  const double window = 0.54 - 0.46 * std::cos(2 * std::numbers::pi * 124 / 250);
  const double z = std::numbers::pi * (176.4 - 80) * t;
  EXPECT_NEAR(static_cast<double>(bank[124]),
              window * std::sin(z) / z * std::cos(std::numbers::pi * (176.4 + 80) * t), 1e-6);
  // Band 39 is 7435.7 .. 8000 Hz.
  const double z39 = std::numbers::pi * (8000 - 7435.7) * t;
  EXPECT_NEAR(static_cast<double>(bank[39 * 251 + 124]),
              window * std::sin(z39) / z39 * std::cos(std::numbers::pi * (8000 + 7435.7) * t),
              1e-4);
}

TEST(Bank, AsymmetryIsFoundAndNamed) {
  std::vector<float> bank = sincnet_bank(80, 251);
  bank[3 * 251 + 7] = std::nextafter(bank[3 * 251 + 7], 1.0f);
  auto found = find_asymmetry(bank.data(), 80, 251);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->filter, 3);
  EXPECT_EQ(found->tap, 7);
  bank = sincnet_bank(80, 251);
  bank[50 * 251 + 125] = 1e-30f;  // an odd filter's centre must be 0
  found = find_asymmetry(bank.data(), 80, 251);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->filter, 50);
  EXPECT_EQ(found->tap, 125);
  const float signed_zeros[8] = {0.0f, 1, 1, -0.0f, 0.0f, 2, -2, 0.0f};  // even, odd, four taps
  EXPECT_FALSE(find_asymmetry(signed_zeros, 2, 4).has_value());
}

TEST(Bank, WeightsOfASymmetricWorkloadAreSymmetricInEveryClass) {
  for (const SignalClass signal :
       {SignalClass::normal, SignalClass::integers, SignalClass::sincnet_bank}) {
    Array w = make(kBank, "w", signal);
    EXPECT_FALSE(find_asymmetry(w.floats(), 80, 251).has_value()) << signal_class_name(signal);
  }
}

TEST(Inputs, UnknownClassAndImpossibleRequestsAreErrors) {
  EXPECT_NE(parse_signal_class("pinc").error().message.find("did you mean 'pink'?"),
            std::string::npos);
  EXPECT_EQ(*parse_signal_class("speech_like"), SignalClass::speech_like);
  const Workload conv = workload(kConv);
  const auto bank = make_input(conv, input_shapes(conv)[1], SignalClass::sincnet_bank, 1);
  ASSERT_FALSE(bank.has_value());
  EXPECT_EQ(bank.error().kind, ErrorKind::usage);
  const Workload integer =
      workload("conv2d_pool/n:1,cin:3,h:9,w:9,cout:4,kh:3,kw:3,pool:1,dtype:int8");
  EXPECT_FALSE(make_input(integer, input_shapes(integer)[0], SignalClass::uniform, 1).has_value());
}

}  // namespace
}  // namespace tilewright
