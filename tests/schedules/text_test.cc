// SPDX-License-Identifier: Apache-2.0
#include "schedules/text.h"

#include <gtest/gtest.h>

#include <limits>

#include "schedules/units.h"
#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

TEST(Text, IntegersArePlainDecimal) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("160000"), 160000);
  EXPECT_EQ(parse_integer("-4"), -4);
  for (const char* text : {"", "-", "-0", "+1", "1 ", " 1", "01", "0x1", "1.0", "1e3", "٣"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_integer("9223372036854775808"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-99999999999999999999"), std::numeric_limits<std::int64_t>::min());
}

TEST(Text, NearestNameHasTheSmallestEditDistance) {
  const std::vector<std::string_view> names{"n", "cin", "cout", "kh"};
  EXPECT_EQ(nearest_name("cuot", names), "cout");
  EXPECT_EQ(nearest_name("cn", names), "cin");  // as far from n, but starts alike
  EXPECT_EQ(nearest_name("kh", names), "kh");
  EXPECT_EQ(nearest_name("", names), "n");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'c'), names).size(), 3U);  // hostile input stays cheap
}

TEST(Text, AQuotedNewlineDoesNotBreakAMessageInTwo) {
  EXPECT_EQ(one_line("unknown 'a\nb\x1b[2J'"), "unknown 'a\\nb\\x1b[2J'");
  EXPECT_EQ(one_line("Größe\t\x7f"), "Größe\\x09\\x7f");
  EXPECT_EQ(one_line(""), "");
}

TEST(Text, NamedValuesKnowTheirPositions) {
  const std::string_view whole = "op/a:1,bb:x";
  const auto values = value_of(parse_named_values(whole, whole.substr(3)));
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[1].name, "bb");
  EXPECT_EQ(values[1].value, "x");
  EXPECT_EQ(values[1].position, 8U);
}

TEST(Text, ABrokenListNamesThePlace) {
  for (const std::string_view list : {"a:1,", "a:1,b", "a:1,:2", "a:1,b:", "a:1,,b:2"}) {
    EXPECT_MENTIONS(usage_message(parse_named_values(list, list)), "character 5");
  }
}

TEST(Text, Commas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(162602304), "162,602,304");
  EXPECT_EQ(with_commas(-1000), "-1,000");
}

TEST(Units, OverflowIsNoticed) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(checked_mul(kMost, 2), std::nullopt);
  EXPECT_EQ(checked_add(kMost, 1), std::nullopt);
  EXPECT_EQ(checked_mul(3, 4), 12);
  EXPECT_EQ(product(std::int64_t{1} << 40, std::int64_t{1} << 40, 0),
            0);  // a factor of 0 is exact again
  EXPECT_TRUE((Bytes(std::int64_t{1} << 62) * 4).overflowed());
  EXPECT_EQ((Bytes(3) + Bytes(4)) * 2, Bytes(14));
  EXPECT_FALSE((Cycles(5) + Cycles(6)).overflowed());
}

TEST(Units, Rounding) {
  EXPECT_EQ(ceil_div(222, 6), 37);
  EXPECT_EQ(ceil_div(1, 6), 1);
  EXPECT_EQ(ceil_div(0, 6), 0);
  EXPECT_EQ(round_up(222, 16), 224);
  EXPECT_EQ(round_up(224, 16), 224);
}

}  // namespace
}  // namespace tilewright
