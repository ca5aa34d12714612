// SPDX-License-Identifier: Apache-2.0
#include "generators/npy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tilewright {
namespace {

// A file as another writer would make it: any version, any header text.
std::string file_text(int major, int minor, std::string header, const std::string& data) {
  header += '\n';
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += static_cast<char>(minor);
  for (int byte = 0; byte < (major == 1 ? 2 : 4); ++byte)
    text += static_cast<char>(header.size() >> (8 * byte) & 0xff);
  return text + header + data;
}

std::string dict(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

class Npy : public testing::Test {
 protected:
  std::string path_ = (std::filesystem::current_path() / "an array.npy").string();
  Result<Array> read(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return read_npy(path_);
  }
  std::string error_of(const std::string& text) const {
    const auto array = read(text);
    if (array) return "no error";
    EXPECT_EQ(array.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(array.error().message.rfind(path_ + ": ", 0), 0u) << array.error().message;
    return array.error().message.substr(path_.size() + 2);
  }
};

TEST_F(Npy, ReadsBothVersionsAndTypes) {
  const float numbers[2] = {1.5f, -2.0f};
  const std::string data(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  for (const int major : {1, 2}) {
    const auto array = read(file_text(major, 0, dict("<f4", "False", "(2, 1)"), data));
    ASSERT_TRUE(array.has_value()) << array.error().message;
    EXPECT_EQ(array->extents, (std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(array->at(0), 1.5f);
    EXPECT_EQ(array->at(1), -2.0f);
  }
  const auto halves = read(file_text(1, 0, R"({"shape":(3,),"fortran_order":False,"descr":"<f2"})",
                                     std::string("\x00\x3c\x00\xbc\x01\x00", 6)));
  ASSERT_TRUE(halves.has_value()) << halves.error().message;
  EXPECT_EQ(halves->dtype, DType::fp16);
  EXPECT_EQ(halves->at(0), 1.0f);
  EXPECT_EQ(halves->at(1), -1.0f);
  EXPECT_EQ(halves->at(2), 0x1p-24f);
}

TEST_F(Npy, NamesWhatItCanNotRead) {
  const std::string eight(8, '\0');
  EXPECT_EQ(error_of(file_text(1, 0, dict(">f4", "False", "(2,)"), eight)),
            "expected little-endian float32 ('<f4') or float16 ('<f2'), found '>f4': save it with "
            ".astype('<f4')");
  EXPECT_EQ(error_of(file_text(1, 0, dict("<f8", "False", "(1,)"), eight)),
            "expected little-endian float32 ('<f4') or float16 ('<f2'), found '<f8'");
  EXPECT_EQ(error_of(file_text(1, 0, dict("<f4", "True", "(2,)"), eight)),
            "expected C order, found Fortran order: save it with numpy.ascontiguousarray(a)");
  EXPECT_EQ(error_of(file_text(3, 0, dict("<f4", "False", "(2,)"), eight)),
            "expected .npy format version 1.0 or 2.0, found 3.0");
  EXPECT_EQ(error_of(file_text(1, 0, dict("<f4", "False", "(3,)"), eight)),
            "truncated: expected 12 bytes of data for float32 (3,), found 8");
  EXPECT_EQ(error_of(file_text(1, 0, dict("<f4", "False", "(1,)"), eight)),
            "too long: expected 4 bytes of data for float32 (1,), found 8");
  EXPECT_EQ(error_of(file_text(1, 0, dict("<f4", "False", "(99999999999, 99999999999)"), eight)),
            "shape (99999999999, 99999999999) is too large");
  EXPECT_EQ(error_of("PK\x03\x04 something else"),
            "not a .npy file (it does not start with \\x93NUMPY and a version)");
  EXPECT_EQ(error_of(""), "not a .npy file (it does not start with \\x93NUMPY and a version)");
}

TEST_F(Npy, RefusesDamagedHeaders) {
  for (const std::string& header :
       {std::string(), std::string("{}"), std::string("{'descr': '<f4'"),
        dict("<f4", "Maybe", "(2,)"), dict("<f4", "False", "(-2,)"), dict("<f4", "False", "(2"),
        dict("<f4", "False", "2"), dict("<f4", "False", "(2,), 'shape': (2,)"),
        dict("<f4", "False", "(2,), 'more': (2,)"), dict("<f4", "False", "(2,)") + " and more"}) {
    EXPECT_EQ(error_of(file_text(1, 0, header, std::string(8, '\0'))),
              "the .npy header is no dict of descr, fortran_order and shape")
        << header;
  }
  const std::string whole = file_text(1, 0, dict("<f4", "False", "(2,)"), std::string(8, '\0'));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of(whole.substr(0, size)), "no error") << size;
  }
}

TEST_F(Npy, ShowsExpectedAndFoundShapeAndType) {
  const Array array(DType::fp16, {21, 160000});
  ASSERT_TRUE(write_npy(path_, array.view()).has_value());
  const auto found = read_npy(path_, DType::fp32, {21, 1, 160000});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::usage);
  EXPECT_EQ(found.error().message,
            path_ + ": expected float32 (21, 1, 160000), found float16 (21, 160000)");
}

TEST_F(Npy, MissingFilesAndFoldersAreErrors) {
  EXPECT_NE(
      read_npy("no such.npy").error().message.find("no such.npy: can not be opened: No such file"),
      std::string::npos);
  EXPECT_EQ(read_npy(".").error().message, ".: is a directory");
  const Array array(DType::fp32, {1});
  EXPECT_NE(write_npy("no such folder/a.npy", array.view())
                .error()
                .message.find("can not be written: No such file"),
            std::string::npos);
}

TEST_F(Npy, DataStartsAtAMultipleOf64) {
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{1}, {7, 1234567}, {1, 2, 3, 4, 5}, {}}) {
    const Array array(DType::fp32,
                      extents.size() == 2 ? std::vector<std::int64_t>{7, 12} : extents);
    ASSERT_TRUE(write_npy(path_, array.view()).has_value());
    EXPECT_EQ((std::filesystem::file_size(path_) - array.storage.size()) % 64, 0u);
  }
}

RC_GTEST_FIXTURE_PROP(Npy, ReadsWhatItWrites, ()) {
  const auto extents =
      *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 7));
  RC_PRE(extents.size() < 6);
  Array array(*rc::gen::element(DType::fp32, DType::fp16), extents);
  for (std::byte& byte : array.storage)
    byte = static_cast<std::byte>(*rc::gen::arbitrary<std::uint8_t>());
  RC_ASSERT(write_npy(path_, array.view()).has_value());
  const auto again = read_npy(path_, array.dtype, extents);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == array);  // bit for bit, NaNs included
}

RC_GTEST_FIXTURE_PROP(Npy, SurvivesAnyBytes, ()) {
  std::string text = file_text(1, 0, dict("<f4", "False", "(2, 3)"), std::string(24, '\1'));
  const int changes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < changes; ++i) {
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  }
  const auto array = read(text);
  if (array)
    RC_ASSERT(static_cast<std::int64_t>(array->storage.size()) ==
              array->count() * bytes_of(array->dtype));
}

// The nearest half, found by looking at the two neighbours; ties go to the even one.
TEST(Half, RoundsToNearestEven) {
  const auto check = [](double value) {
    const std::uint16_t half = half_from_double(value);
    if (std::isnan(value)) return std::isnan(float_from_half(half));
    if (std::abs(value) >= 65520) return half == (value > 0 ? 0x7c00 : 0xfc00);
    const auto as_double = [](int bits) {
      return static_cast<double>(float_from_half(static_cast<std::uint16_t>(bits)));
    };
    const int magnitude = half & 0x7fff;
    const double size = std::abs(value);
    const double error = std::abs(as_double(magnitude) - size);
    const double above = magnitude == 0x7bff ? 65536 : as_double(magnitude + 1);
    const double below = magnitude == 0 ? INFINITY : as_double(magnitude - 1);
    const bool even = (magnitude & 1) == 0;
    return std::signbit(value) == ((half & 0x8000) != 0) &&
           (even ? error <= above - size : error < above - size) &&
           (even ? error <= size - below || magnitude == 0 : error < size - below);
  };
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    // Exponents from far below the subnormals to above the largest half; every fourth one next to a
    // tie.
    const std::uint64_t random = (i + 1) * 0x9e3779b97f4a7c15u;
    const std::uint64_t exponent = 1023 - 28 + random % 46;
    std::uint64_t fraction = (random ^ (random >> 29)) & ((std::uint64_t{1} << 52) - 1);
    if (i % 4 == 0) fraction = (fraction >> 41 << 41) + i % 3 - 1;
    fraction &= (std::uint64_t{1} << 52) - 1;
    const double value = std::bit_cast<double>((i & 1) << 63 | exponent << 52 | fraction);
    ASSERT_TRUE(check(value)) << value;
  }
  for (const double value : {0.0, -0.0, 65504.0, 65519.999, 65520.0, 0x1p-25, 0x1.0000001p-25,
                             0x1p-24, 1e300, 1e-300, 5e-324, std::nan("")}) {
    EXPECT_TRUE(check(value)) << value;
    EXPECT_TRUE(check(-value)) << -value;
  }
}

// Once a device became a plain file: arrays are written beside their place and renamed into it.
TEST(NpyWriter, TakesNoOtherThingsPlaceThanAFiles) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::current_path() / "no array";
  fs::create_directories(folder);
  const fs::path pipe = fs::current_path() / "a pipe";
  fs::remove(pipe);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<float> values(3);
  const std::vector<std::int64_t> extents = {3};
  const ArrayView array{DType::fp32, extents, reinterpret_cast<const std::byte*>(values.data())};
  for (const fs::path& path : {folder, pipe}) {
    const auto written = write_npy(path.string(), array);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find("no regular file"), std::string::npos);
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(fs::is_directory(folder));
}

TEST(Half, EveryHalfSurvivesBothWays) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const std::uint16_t again = half_from_float(float_from_half(half));
    const bool nan = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
    ASSERT_EQ(again, nan ? half | 0x200 : half) << bits;  // NaNs become quiet
  }
  EXPECT_EQ(float_from_half(0x3c01), 1.0f + 0x1p-10f);
  EXPECT_EQ(float_from_half(0x0001), 0x1p-24f);
  EXPECT_EQ(float_from_half(0x03ff), 1023 * 0x1p-24f);
  EXPECT_EQ(float_from_half(0x7bff), 65504.0f);
}

}  // namespace
}  // namespace tilewright
