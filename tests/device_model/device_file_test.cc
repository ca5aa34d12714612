// SPDX-License-Identifier: Apache-2.0
// The strict reader of device files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "devices.h"

namespace tilewright {
namespace {

using namespace test;
namespace fs = std::filesystem;

std::string text_of(const char* name) {
  std::ifstream file(kDevices + "/" + name + ".toml");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The error of the shipped NPU file after one replacement.
std::string error_after(const std::string& from, const std::string& to) {
  std::string text = text_of("ascend_910b4");
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  std::ofstream("changed.toml") << text;
  const auto loaded = load_device("changed.toml", kDevices);
  return loaded ? "no error" : loaded.error().message;
}

TEST(DeviceFile, ShippedDevicesLoad) {
  std::vector<std::string> names;
  for (const Device& d : value_of(list_devices(kDevices))) {
    names.push_back(d.name);
    EXPECT_EQ(d.hash.size(), 32U);
    EXPECT_FALSE(d.description.empty());
  }
  EXPECT_NE(std::find(names.begin(), names.end(), "ascend_910b4"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "host"), names.end());
  const Limits limits = limits_of(device("ascend_910b4"));
  EXPECT_EQ(limits.l0a, 65536);
  EXPECT_EQ(limits.l0c, 131072);
  EXPECT_EQ(limits.l1, 524288);
  EXPECT_EQ(limits.ub, 196352);
  EXPECT_EQ(limits.l2, 96 << 20);
  EXPECT_EQ(limits.cube_cores, 20);
  EXPECT_EQ(limits.vector_cores, 40);
}

TEST(DeviceFile, AtMostSixNumbersAreFitted) {
  int fitted = 0;
  for (const auto& [key, number] : device("ascend_910b4").numbers) {
    fitted += number.origin == Origin::fitted;
    if (number.origin == Origin::fitted) {
      EXPECT_FALSE(number.note.empty()) << key;
    }
  }
  EXPECT_LE(fitted, 6);
}

TEST(DeviceFile, HostNumbersAreAssumed) {
  for (const auto& [key, number] : device("host").numbers) {
    EXPECT_EQ(number.origin, Origin::assumed) << key;
    EXPECT_FALSE(number.note.empty()) << key;
  }
}

// The hash covers numbers, not words.
TEST(DeviceFile, HashFollowsTheNumbers) {
  const Device original = device("ascend_910b4");
  std::string text = text_of("ascend_910b4");
  std::ofstream("same.toml") << "# another comment\n" << text;
  EXPECT_EQ(value_of(load_device("same.toml", kDevices)).hash, original.hash);
  text.replace(text.find("clock_mhz = { value = 1500"), 26, "clock_mhz = { value = 1501");
  std::ofstream("other.toml") << text;
  EXPECT_NE(value_of(load_device("other.toml", kDevices)).hash, original.hash);
  Device changed = original;
  changed.numbers.find("cores.cube")->second.value = 19;
  set_hash(changed);
  EXPECT_NE(changed.hash, original.hash);
}

TEST(DeviceFile, ErrorsNameFileLineAndNearest) {
  EXPECT_EQ(error_after("clock_mhz =", "clok_mhz ="),
            "changed.toml:8: unknown key 'clok_mhz'; nearest is 'clock_mhz'");
  EXPECT_EQ(error_after("clock_mhz = { value = 1500, origin = \"datasheet\" }", ""),
            "changed.toml: clock_mhz is missing; a device of kind npu needs it");
  EXPECT_EQ(error_after("value = 1500", "value = \"1500\""),
            "changed.toml:8: clock_mhz: value must be a number");
  EXPECT_EQ(error_after("origin = \"datasheet\" }", "origin = \"datashet\" }"),
            "changed.toml:8: clock_mhz: unknown origin 'datashet'; nearest is 'datasheet'");
  EXPECT_EQ(error_after("clock_mhz = { value = 1500, origin = \"datasheet\" }", "clock_mhz = 1500")
                .substr(0, 44),
            "changed.toml:8: clock_mhz must be a number w");
  EXPECT_EQ(error_after("clock_mhz = { value = 1500, origin = \"datasheet\" }",
                        "clock_mhz = { value = 1500 }"),
            "changed.toml:8: clock_mhz has no origin");
  EXPECT_EQ(error_after("kind = \"npu\"", "kind = \"npo\""),
            "changed.toml:5: unknown kind 'npo'; nearest is 'npu'");
  EXPECT_EQ(error_after("[memory.l1]", "[memory.l11]").substr(0, 30),
            "changed.toml:36: unknown key '");
  EXPECT_NE(error_after("[path.gm_l1]", "[path.gm_l1").find("no valid TOML"), std::string::npos);
}

TEST(DeviceFile, NumbersOutOfRange) {
  EXPECT_NE(
      error_after("value = 800e9", "value = 0").find("off_chip.bytes_per_second must be above 0"),
      std::string::npos);
  EXPECT_NE(error_after("latency_cycles = { value = 200", "latency_cycles = { value = -1")
                .find("path.gm_l1.latency_cycles must be from 0"),
            std::string::npos);
  EXPECT_NE(error_after("cube = { value = 20", "cube = { value = 2.5").find("whole number"),
            std::string::npos);
  EXPECT_NE(error_after("value = 32,", "value = 33,").find("power of two"), std::string::npos);
  EXPECT_NE(error_after("cube = { value = 20", "cube = { value = 13").find("twice cores.cube"),
            std::string::npos);
  EXPECT_NE(error_after("value = 0.94", "value = 1.5").find("at most 1"), std::string::npos);
}

TEST(DeviceFile, AFolderThatIsNotThereIsNoEmptyList) {
  for (const char* folder : {"no/such/folder", "a_file.txt"}) {
    std::ofstream("a_file.txt") << "x";
    const auto devices = list_devices(folder);
    ASSERT_FALSE(devices) << folder;
    EXPECT_NE(devices.error().message.find(folder), std::string::npos);
  }
}

TEST(DeviceFile, UnknownNamesAndFiles) {
  const std::string message = load_device("ascend_910b", kDevices).error().message;
  EXPECT_EQ(message.substr(0, 56), "unknown device 'ascend_910b'; nearest is 'ascend_910b1' ");
  EXPECT_NE(load_device("no/such.toml", kDevices).error().message.find("no/such.toml"),
            std::string::npos);
  std::ofstream("cut.toml") << text_of("ascend_910b4").substr(0, 1000);
  EXPECT_FALSE(load_device("cut.toml", kDevices));
}

}  // namespace
}  // namespace tilewright
