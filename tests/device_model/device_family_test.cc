// SPDX-License-Identifier: Apache-2.0
// Siblings that inherit, and numbers replaced for what-if questions.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "devices.h"

namespace tilewright {
namespace {

using namespace test;

void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }
std::string error_of(const std::string& file) {
  const auto loaded = load_device(file, kDevices);
  return loaded ? "no error" : loaded.error().message;
}
std::string head(const char* name, const char* parent) {
  return std::string("# first line\nname = \"") + name + "\"\ninherits = \"" + parent + "\"\n";
}
std::string override_error(const std::vector<std::string>& assignments) {
  const auto changed = with_overrides(device("ascend_910b4"), assignments);
  return changed ? "no error" : changed.error().message;
}

TEST(DeviceFamily, SiblingsDifferInFewNumbers) {
  const Device b4 = device("ascend_910b4"), b1 = device("ascend_910b1"),
               b3 = device("ascend_910b3");
  EXPECT_EQ(b1.number("clock_mhz"), 1850);
  EXPECT_EQ(b1.number("cores.cube"), 24);
  EXPECT_EQ(b1.number("cores.vector"), 48);
  EXPECT_EQ(b1.number("memory.l2.capacity_bytes"), 192 << 20);
  EXPECT_EQ(b1.number("off_chip.bytes_per_second"), 1.6e12);
  EXPECT_EQ(b3.number("cores.cube"), 20);
  EXPECT_EQ(b3.number("clock_mhz"), 1800);
  EXPECT_EQ(b1.numbers.size(), b4.numbers.size());
  EXPECT_EQ(b1.kind, DeviceKind::npu);
  // What a sibling does not say is the parent's, origin and note included.
  for (const char* key : {"path.gm_l1.piece_cycles", "memory.l1.capacity_bytes"}) {
    EXPECT_EQ(b1.numbers.find(key)->second, b4.numbers.find(key)->second) << key;
  }
  EXPECT_NE(b1.hash, b4.hash);
  EXPECT_NE(b1.hash, b3.hash);
}

TEST(DeviceFamily, SystolicArray) {
  const Device chip = device("systolic_128");
  EXPECT_EQ(chip.kind, DeviceKind::systolic);
  EXPECT_EQ(chip.dataflow, "weight_stationary");
  // The clock follows from the peak.
  const double peak =
      2 * chip.number("array.rows") * chip.number("array.columns") * chip.number("clock_mhz") * 1e6;
  EXPECT_EQ(peak, 10e12);
  EXPECT_EQ(limits_of(chip).sram, 4 << 20);
}

TEST(DeviceFamily, AtMostSixNumbersOfAscendAreFitted) {
  std::set<std::string> fitted;
  for (const char* name : {"ascend_910b4", "ascend_910b1", "ascend_910b3"}) {
    for (const auto& [key, number] : device(name).numbers) {
      if (number.origin == Origin::fitted) fitted.insert(key);
    }
  }
  EXPECT_LE(fitted.size(), 6U);
}

TEST(DeviceFamily, ParentsAreLookedUpBesideTheFileFirst) {
  write("child.toml",
        head("child", "ascend_910b4") + "clock_mhz = { value = 1, origin = \"assumed\" }\n");
  write("grandchild.toml", head("grandchild", "child"));
  const Device grandchild = value_of(load_device("grandchild.toml", kDevices));
  EXPECT_EQ(grandchild.number("clock_mhz"), 1);
  EXPECT_EQ(grandchild.number("cores.cube"), 20);
  EXPECT_EQ(grandchild.name, "grandchild");
}

TEST(DeviceFamily, InheritanceErrorsNameFileAndLine) {
  write("circle_a.toml", head("circle_a", "circle_b"));
  write("circle_b.toml", head("circle_b", "circle_c"));
  write("circle_c.toml", head("circle_c", "circle_a"));
  EXPECT_NE(error_of("circle_a.toml")
                .find("circle_c.toml:3: inherits in a circle: circle_a -> circle_b -> circle_c -> "
                      "circle_a; remove one inherits"),
            std::string::npos)
      << error_of("circle_a.toml");
  write("self.toml", head("self", "self"));
  EXPECT_NE(error_of("self.toml").find("self.toml:3: inherits in a circle: self -> self"),
            std::string::npos);
  write("orphan.toml", head("orphan", "ascend_910b5"));
  EXPECT_EQ(error_of("orphan.toml").substr(0, 82),
            "orphan.toml:3: inherits from an unknown device 'ascend_910b5'; nearest is 'ascend_");
  write("number.toml", "name = \"n\"\ninherits = 3\n");
  EXPECT_EQ(error_of("number.toml"),
            "number.toml:2: inherits must be a text, the name of a device");
  write("kind.toml", head("kind", "host") + "kind = \"npu\"\n");
  EXPECT_EQ(error_of("kind.toml"),
            "kind.toml:4: kind 'npu' can not inherit from 'host', which is of kind 'host'");
}

TEST(DeviceFamily, NumbersOfSiblingsAreCheckedWithTheirLine) {
  const auto with = [](const char* number) {
    write("wrong.toml", head("wrong", "ascend_910b4") + number + "\n");
    return error_of("wrong.toml");
  };
  EXPECT_EQ(with("off_chip.bytes_per_second = { value = 0, origin = \"assumed\" }"),
            "wrong.toml:4: off_chip.bytes_per_second must be above 0 and at most 1e18, not 0");
  EXPECT_EQ(with("path.gm_l1.latency_cycles = { value = -1, origin = \"assumed\" }"),
            "wrong.toml:4: path.gm_l1.latency_cycles must be from 0 to 1e12, not -1");
  EXPECT_EQ(with("cores.vector = { value = 33, origin = \"assumed\" }"),
            "wrong.toml:4: cores.vector must be once or twice cores.cube, not 1.65 times");
  EXPECT_EQ(with("path.gm_l1.piece_min_bytes = { value = 1024, origin = \"assumed\" }"),
            "wrong.toml:4: path.gm_l1.piece_min_bytes must not exceed path.gm_l1.piece_max_bytes, "
            "which is 512");
  EXPECT_EQ(with("cores.cubes = { value = 33, origin = \"assumed\" }"),
            "wrong.toml:4: unknown key 'cores.cubes'; nearest is 'cores.cube'");
  EXPECT_EQ(with("dataflow = \"weight_stationary\""),
            "wrong.toml:4: dataflow is a word of systolic devices only; remove it");
  write("wrong.toml", head("wrong", "systolic_128") +
                          "memory.sram.slots = { value = 0, origin = \"assumed\" }\n");
  EXPECT_EQ(error_of("wrong.toml"),
            "wrong.toml:4: memory.sram.slots must be a whole number of at least 1, not 0");
  write("wrong.toml", head("wrong", "systolic_128") + "dataflow = \"weight_stationery\"\n");
  EXPECT_EQ(error_of("wrong.toml"),
            "wrong.toml:4: unknown dataflow 'weight_stationery'; nearest is 'weight_stationary'");
}

TEST(DeviceOverrides, ReplaceNumbersAndChangeTheHash) {
  const Device original = device("ascend_910b4");
  const std::vector<std::string> set{"clock_mhz=1800", "off_chip.bytes_per_second=1.6e12"};
  const Device changed = value_of(with_overrides(original, set));
  EXPECT_EQ(changed.number("clock_mhz"), 1800);
  EXPECT_EQ(changed.number("off_chip.bytes_per_second"), 1.6e12);
  EXPECT_EQ(changed.numbers.find("clock_mhz")->second.origin, Origin::assumed);
  EXPECT_EQ(changed.numbers.find("clock_mhz")->second.note,
            "set for this question; the device has 1500 (datasheet)");
  EXPECT_NE(changed.hash, original.hash);
  // Back to the file's value: the same content, the same hash.
  EXPECT_EQ(
      value_of(with_overrides(changed, std::vector<std::string>{"clock_mhz=1500",
                                                                "off_chip.bytes_per_second=8e11"}))
          .hash,
      original.hash);
}

TEST(DeviceOverrides, Errors) {
  EXPECT_EQ(override_error({"clok_mhz=1800"}),
            "--set clok_mhz=1800: ascend_910b4 has no number 'clok_mhz'; nearest is 'clock_mhz'");
  EXPECT_EQ(override_error({"clock_mhz=fast"}),
            "--set clock_mhz=fast: clock_mhz must be a number, not 'fast'");
  EXPECT_EQ(override_error({"clock_mhz"}),
            "--set clock_mhz: write key=value, for example clock_mhz=1800");
  EXPECT_EQ(override_error({"cores.cube=0"}),
            "--set cores.cube=0: cores.cube must be a whole number of at least 1, not 0");
  EXPECT_EQ(override_error({"clock_mhz=1", "clock_mhz=2"}),
            "--set clock_mhz=2: clock_mhz is given twice; keep one");
  EXPECT_EQ(override_error({"cores.cube=24"}),
            "--set cores.cube: cores.vector must be once or twice cores.cube, not 1.667 times");
  EXPECT_EQ(override_error({"cores.cube=24", "cores.vector=48"}), "no error");
}

}  // namespace
}  // namespace tilewright
