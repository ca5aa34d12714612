// SPDX-License-Identifier: Apache-2.0
#include "schedules/terms.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace tilewright {
namespace {

constexpr std::array kAll{word::hp1,   word::hp3,   word::hp4,  word::rect6_x3w2, word::rect6_x2w3,
                          word::hp5_x, word::hp5_w, word::tri6, word::hp9,        word::fp32};

TEST(Terms, ProductsAndPartsOfEverySet) {
  struct Expected {
    word::Terms terms;
    int products, parts_x, parts_w;
  };
  for (const Expected& e : {Expected{word::hp1, 1, 1, 1}, Expected{word::hp3, 3, 2, 2},
                            Expected{word::hp4, 4, 2, 2}, Expected{word::rect6_x3w2, 6, 3, 2},
                            Expected{word::rect6_x2w3, 6, 2, 3}, Expected{word::hp5_x, 5, 3, 2},
                            Expected{word::hp5_w, 5, 2, 3}, Expected{word::tri6, 6, 3, 3},
                            Expected{word::hp9, 9, 3, 3}, Expected{word::fp32, 1, 0, 0}}) {
    const TermSet& set = term_set(e.terms);
    EXPECT_EQ(set.products(), e.products) << set.name;
    EXPECT_EQ(set.parts_x(), e.parts_x) << set.name;
    EXPECT_EQ(set.parts_w(), e.parts_w) << set.name;
  }
}

TEST(Terms, NamesAreTheKnobsWords) {
  for (const word::Terms terms : kAll)
    EXPECT_EQ(term_set(terms).name, knob_words(Knob::terms)[static_cast<std::size_t>(terms)]);
}

TEST(Terms, Tri6ReusesTheLargePartsMost) {
  const TermSet& tri6 = term_set(word::tri6);
  EXPECT_EQ(tri6.uses_of_x(0), 3);
  EXPECT_EQ(tri6.uses_of_x(1), 2);
  EXPECT_EQ(tri6.uses_of_x(2), 1);
}

TEST(Terms, Hp5LeavesOneProductOfTri6Out) {
  const auto has = [](word::Terms terms, PartProduct product) {
    for (const PartProduct& kept : term_set(terms).smallest_first()) {
      if (kept == product) return true;
    }
    return false;
  };
  for (const PartProduct& product : term_set(word::tri6).smallest_first()) {
    EXPECT_EQ(has(word::hp5_x, product), !(product == PartProduct{0, 2}));
    EXPECT_EQ(has(word::hp5_w, product), !(product == PartProduct{2, 0}));
  }
}

TEST(Terms, SmallestProductsComeFirst) {
  const auto list = term_set(word::tri6).smallest_first();
  const std::vector<PartProduct> tri6(list.begin(), list.end());
  EXPECT_EQ(tri6, (std::vector<PartProduct>{{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}));
  for (const word::Terms terms : kAll) {
    const TermSet& set = term_set(terms);
    const auto products = set.smallest_first();
    EXPECT_EQ(static_cast<int>(products.size()), set.is_split() ? set.products() : 0) << set.name;
    for (std::size_t i = 1; i < products.size(); ++i)
      EXPECT_GE(products[i - 1].x + products[i - 1].w, products[i].x + products[i].w) << set.name;
  }
}

// The specification states the bounds rounded to powers of two.
TEST(Terms, TruncationIsThatOfTheSpecification) {
  const auto stated = [](word::Terms terms, double bound) {
    EXPECT_NEAR(term_set(terms).truncation_bound() / bound, 1, 0.01) << term_set(terms).name;
  };
  stated(word::hp1, std::ldexp(1, -7));
  stated(word::hp3, std::ldexp(1, -15));
  stated(word::hp4, std::ldexp(1, -16));
  stated(word::rect6_x3w2, std::ldexp(1, -17));
  stated(word::rect6_x2w3, std::ldexp(1, -17));
  stated(word::hp5_x, std::ldexp(1, -17));
  stated(word::hp5_w, std::ldexp(1, -17));
  stated(word::tri6, std::ldexp(1 + std::ldexp(1, -10), -24));
  EXPECT_EQ(term_set(word::hp9).truncation_bound(), 0);
  EXPECT_EQ(term_set(word::fp32).truncation_bound(), 0);
}

// Round to nearest even, by bits.
float bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U);
}
std::array<float, kMostParts> split(float value) {
  std::array<float, kMostParts> parts{};
  for (float& part : parts) {
    part = bf16(value);
    value -= part;
  }
  return parts;
}
// Omitted products over |x*w|; products of parts are exact in double.
double omitted(const TermSet& set, float x, float w) {
  const auto xs = split(x), ws = split(w);
  double sum = 0;
  for (int i = 0; i < kMostParts; ++i) {
    for (int j = set.uses_of_x(i); j < kMostParts; ++j) {
      sum += static_cast<double>(xs[static_cast<std::size_t>(i)]) *
             static_cast<double>(ws[static_cast<std::size_t>(j)]);
    }
  }
  return std::abs(sum) / std::abs(static_cast<double>(x) * static_cast<double>(w));
}

// Significands near those whose parts are largest, and any others.
float any_value() {
  const std::uint32_t near = *rc::gen::element<std::uint32_t>(0x8000, 0x7fff, 0x7f80, 0x7fc0,
                                                              0x40c0, 0x4040, 0x017f, 0x8040);
  const std::uint32_t any = *rc::gen::inRange<std::uint32_t>(0, 1U << 23);
  const bool worst = *rc::gen::arbitrary<bool>();
  const std::uint32_t significand =
      worst ? (near + *rc::gen::inRange<std::uint32_t>(0, 3)) & 0x7fffffU : any;
  const auto exponent = *rc::gen::inRange<std::uint32_t>(87, 167);
  const std::uint32_t sign = *rc::gen::arbitrary<bool>() ? 0x80000000U : 0U;
  return std::bit_cast<float>(sign | (exponent << 23) | significand);
}

RC_GTEST_PROP(TermsProperty, WhatIsOmittedStaysBelowTheBound, ()) {
  const float x = any_value(), w = any_value();
  for (const word::Terms terms : kAll) {
    const TermSet& set = term_set(terms);
    if (set.is_split()) RC_ASSERT(omitted(set, x, w) <= set.truncation_bound());
  }
}

TEST(Terms, BoundsAreAlmostReached) {
  const float worst = std::bit_cast<float>(0x3f808000U);  // 1 + 2^-8
  const double hp1 = term_set(word::hp1).truncation_bound();
  EXPECT_GT(omitted(term_set(word::hp1), worst, worst), 0.99 * hp1);
  double largest = 0;
  for (std::uint32_t i = 0x4000; i < 0x8000; ++i) {
    const float x = std::bit_cast<float>(0x3f800000U | i);
    largest = std::max(largest, omitted(term_set(word::tri6), x, x));
  }
  EXPECT_GT(largest, 0.9 * term_set(word::tri6).truncation_bound());
}

}  // namespace
}  // namespace tilewright
