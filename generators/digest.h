// SPDX-License-Identifier: Apache-2.0
// XXH3-128 digests as 32 lower-case hexadecimal digits (high half first): identity of data, no
// cryptography.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

class Digest {
 public:
  Digest();
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);  // its length first: "ab" + "c" differs from "a" + "bc"
  void add(std::int64_t number);
  std::string hex() const;

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

// Digest of these bytes and nothing else.
std::string digest_of(std::span<const std::byte> bytes);

}  // namespace tilewright
