// SPDX-License-Identifier: Apache-2.0
#include "tuner/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "generators/digest.h"

namespace tilewright {

namespace fs = std::filesystem;

Result<std::string> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (file.bad() || !file.is_open())
    return failure(fmt::format("can not read {}: {}", path, std::strerror(errno)));
  return std::move(text).str();
}

Result<void> write_file(const std::string& path, std::string_view text) {
  const std::string beside = fmt::format("{}.{}.part", path, ::getpid());
  errno = 0;
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file || std::rename(beside.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(beside.c_str());
    return failure(fmt::format("can not write {}: {}", path, reason));
  }
  return {};
}

std::string digest_of_text(std::string_view text) {
  return digest_of(std::as_bytes(std::span(text)));
}

Result<std::string> digest_of_file(const std::string& path) {
  auto text = read_file(path);
  if (!text) return pass_error(text);
  return digest_of_text(*text);
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "tilewright-XXXXXX").string();
  if (error || !::mkdtemp(pattern.data())) {
    return failure(fmt::format("can not make a temporary folder: {}", std::strerror(errno)));
  }
  return TemporaryFolder(std::move(pattern));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
  other.path_.clear();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace tilewright
