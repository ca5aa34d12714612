// SPDX-License-Identifier: Apache-2.0
#include "device_model/device_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace tilewright {

std::string content_hash(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace tilewright
