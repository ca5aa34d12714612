// SPDX-License-Identifier: Apache-2.0
// Memory that shows when a kernel leaves its buffers: [no access | poison | data | poison | no
// access].
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedules/result.h"

namespace tilewright {

// The poison is bytes 0xff: a NaN as float and as half. A read beyond an input gives NaN, a write
// beyond an output is seen by borders_intact(), and anything more than about a page off is a
// segmentation fault in a guard.
inline constexpr std::byte kPoison{0xff};

class GuardedBuffer {
 public:
  // `name` is for messages. Data is aligned to 64 bytes and starts poisoned. Error: no memory.
  static Result<GuardedBuffer> make(std::string name, std::size_t bytes);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  std::byte* data() const { return data_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  const std::string& name() const { return name_; }
  void poison() const;  // the data, so that an output that nobody writes stays NaN
  void make_read_only()
      const;  // the data and its borders: writing there is a segmentation fault from now on
  bool borders_intact() const;
  std::span<const std::byte> mapping() const { return {map_, map_bytes_}; }  // guards included

 private:
  GuardedBuffer() = default;
  std::string name_;
  std::byte* map_ = nullptr;
  std::size_t map_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// What to print when a segmentation fault hits a buffer's mapping.
struct GuardWatch {
  const GuardedBuffer* buffer = nullptr;
  std::string report;
};

// From now on a fault inside one of these mappings writes that report to stdout and ends the
// process with exit code 0; any other fault ends it as usual. Replaces the watches of the last
// call; not to be called while kernels run. The buffers must live until the next call. (State of
// the process: a signal handler can have no other.)
void watch_guards(std::vector<GuardWatch> watches);

}  // namespace tilewright
