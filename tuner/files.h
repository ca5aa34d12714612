// SPDX-License-Identifier: Apache-2.0
// Small files of text, and the digest of any file. Errors name the file.
#pragma once

#include <string>
#include <string_view>

#include "schedules/result.h"

namespace tilewright {

Result<std::string> read_file(const std::string& path);
// Writes beside the file first and then renames, so that nobody ever sees half a file.
Result<void> write_file(const std::string& path, std::string_view text);
Result<std::string> digest_of_file(const std::string& path);  // XXH3-128 of its bytes
std::string digest_of_text(std::string_view text);

// A new empty folder below the system's folder for temporary files, removed with all it holds at
// the end.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace tilewright
