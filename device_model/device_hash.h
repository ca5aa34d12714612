// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

// XXH3-128 as 32 hex digits.
std::string content_hash(std::string_view text);

}  // namespace tilewright
