// SPDX-License-Identifier: Apache-2.0
// Format: numpy.lib.format's documentation. "\x93NUMPY", major, minor, header length (2 bytes
// in 1.0, 4 in 2.0, little endian), a Python dict literal with the keys descr, fortran_order and
// shape, padding with blanks, newline, data.
#include "generators/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace tilewright {

namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint32_t kLongestHeader = 1 << 16;  // a real one has about 120 bytes
constexpr std::int64_t kLargestCount = std::int64_t{1} << 48;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// The dict literal, strictly: three known keys, each once, in any order.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  std::optional<Header> parse() {
    Header header;
    int seen = 0;
    if (!eat('{')) return std::nullopt;
    while (!eat('}')) {
      const auto key = text();
      if (!key || !eat(':')) return std::nullopt;
      const int bit = *key == "descr" ? 1 : *key == "fortran_order" ? 2 : *key == "shape" ? 4 : 0;
      if (bit == 0 || (seen & bit) != 0 || !value(bit, header)) return std::nullopt;
      seen |= bit;
      if (!eat(',') && peek() != '}') return std::nullopt;
    }
    if (seen != 7 || peek() != '\0') return std::nullopt;
    return header;
  }

 private:
  bool value(int bit, Header& header) {
    if (bit == 1) {
      const auto descr = text();
      if (descr) header.descr = *descr;
      return descr.has_value();
    }
    if (bit == 2) {
      header.fortran_order = word("True");
      return header.fortran_order || word("False");
    }
    return shape(header.shape);
  }

  bool shape(std::vector<std::int64_t>& extents) {
    if (!eat('(')) return false;
    while (!eat(')')) {
      peek();
      std::int64_t extent = -1;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc() || extent < 0) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      extents.push_back(extent);
      if (!eat(',') && peek() != ')') return false;
    }
    return true;
  }

  std::optional<std::string> text() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string result(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return result;
  }

  char peek() {
    const std::size_t start = rest_.find_first_not_of(" \t\n");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool eat(char wanted) {
    if (peek() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view wanted) {
    peek();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }

  std::string_view rest_;
};

std::string_view numpy_name(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return "float32";
    case DType::fp16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::int8:
      return "int8";
  }
  return "?";
}

Result<DType> dtype_of_descr(const std::string& path, const std::string& descr) {
  if (descr == "<f4") return DType::fp32;
  if (descr == "<f2") return DType::fp16;
  const bool big_endian = descr == ">f4" || descr == ">f2";
  return usage_error(
      fmt::format("{}: expected little-endian float32 ('<f4') or float16 ('<f2'), found '{}'{}",
                  path, descr, big_endian ? ": save it with .astype('<f4')" : ""));
}

Result<Header> read_header(const std::string& path, std::ifstream& file) {
  char start[8] = {};
  if (!file.read(start, 8) || std::string_view(start, 6) != kMagic) {
    return usage_error(
        fmt::format("{}: not a .npy file (it does not start with \\x93NUMPY and a version)", path));
  }
  const int major = static_cast<unsigned char>(start[6]);
  const int minor = static_cast<unsigned char>(start[7]);
  if ((major != 1 && major != 2) || minor != 0) {
    return usage_error(fmt::format("{}: expected .npy format version 1.0 or 2.0, found {}.{}", path,
                                   major, minor));
  }
  unsigned char size_bytes[4] = {};
  const std::streamsize width = major == 1 ? 2 : 4;
  file.read(reinterpret_cast<char*>(size_bytes), width);
  std::uint32_t size = 0;
  for (int i = 3; i >= 0; --i) size = size << 8 | size_bytes[i];
  if (!file || size > kLongestHeader) {
    return usage_error(
        fmt::format("{}: header length {} is not credible: the file is damaged", path, size));
  }
  std::string text(size, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) {
    return usage_error(fmt::format("{}: truncated: the header should have {} bytes", path, size));
  }
  auto header = HeaderParser(text).parse();
  if (!header) {
    return usage_error(
        fmt::format("{}: the .npy header is no dict of descr, fortran_order and shape", path));
  }
  return *std::move(header);
}

// Opens the file, reads the header and checks everything that does not need the data.
Result<Array> read_checked(const std::string& path, const std::optional<ArrayView>& expected) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return failure(fmt::format("{}: is a directory", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return failure(fmt::format("{}: can not be opened: {}", path, std::strerror(errno)));
  auto header = read_header(path, file);
  if (!header) return pass_error(header);
  const auto dtype = dtype_of_descr(path, header->descr);
  if (!dtype) return pass_error(dtype);
  std::int64_t count = 1;
  for (const std::int64_t extent : header->shape) {
    if (extent != 0 && count > kLargestCount / extent) {
      return usage_error(
          fmt::format("{}: shape ({}) is too large", path, fmt::join(header->shape, ", ")));
    }
    count *= extent;
  }
  if (expected && (*dtype != expected->dtype ||
                   !std::equal(header->shape.begin(), header->shape.end(),
                               expected->extents.begin(), expected->extents.end()))) {
    return usage_error(fmt::format("{}: expected {}, found {}", path,
                                   describe_array(expected->dtype, expected->extents),
                                   describe_array(*dtype, header->shape)));
  }
  if (header->fortran_order) {
    return usage_error(
        fmt::format("{}: expected C order, found Fortran order: save it with "
                    "numpy.ascontiguousarray(a)",
                    path));
  }
  const auto data_start = static_cast<std::int64_t>(file.tellg());
  const std::int64_t wanted = count * bytes_of(*dtype);
  const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  const std::int64_t found = file_bytes - data_start;
  if (!error && found != wanted) {
    return usage_error(fmt::format("{}: {}: expected {} bytes of data for {}, found {}", path,
                                   found < wanted ? "truncated" : "too long", wanted,
                                   describe_array(*dtype, header->shape), found));
  }
  Array array(*dtype, std::move(header->shape));
  if (!file.read(reinterpret_cast<char*>(array.storage.data()),
                 static_cast<std::streamsize>(wanted))) {
    return failure(
        fmt::format("{}: reading failed after {} of {} bytes", path, file.gcount(), wanted));
  }
  return array;
}

}  // namespace

std::string describe_array(DType dtype, std::span<const std::int64_t> extents) {
  return fmt::format("{} ({}{})", numpy_name(dtype), fmt::join(extents, ", "),
                     extents.size() == 1 ? "," : "");
}

Result<Array> read_npy(const std::string& path) { return read_checked(path, std::nullopt); }

Result<Array> read_npy(const std::string& path, DType dtype,
                       const std::vector<std::int64_t>& extents) {
  return read_checked(path, ArrayView{dtype, extents, nullptr});
}

Result<void> write_npy(const std::string& path, const ArrayView& array) {
  if (array.dtype != DType::fp32 && array.dtype != DType::fp16) {
    return usage_error(fmt::format("{}: {} can not be written: .npy has no such type here", path,
                                   describe_array(array.dtype, array.extents)));
  }
  // The file is replaced by renaming: that must not take the place of a folder or a device.
  std::error_code ignored;
  if (const auto old = fs::status(path, ignored); fs::exists(old) && !fs::is_regular_file(old))
    return failure(fmt::format("{}: can not be written: it is no regular file", path));
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  array.dtype == DType::fp32 ? "<f4" : "<f2", fmt::join(array.extents, ", "),
                  array.extents.size() == 1 ? "," : "");
  // Data starts at a multiple of 64 bytes: magic 6, version 2, length 2, header, newline.
  header.append((64 - (header.size() + 11) % 64) % 64, ' ').push_back('\n');
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(kMagic.data(), 6).put(1).put(0);
  file.put(static_cast<char>(header.size() & 0xff)).put(static_cast<char>(header.size() >> 8));
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  const auto bytes = array.bytes();
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    return failure(fmt::format("{}: can not be written: {}", path, reason));
  }
  return {};
}

}  // namespace tilewright
