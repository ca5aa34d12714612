// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, format versions 1.0 and 2.0, little-endian float32 and float16, C order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generators/arrays.h"
#include "schedules/result.h"

namespace tilewright {

// Errors (one line that starts with the path): not readable, no .npy file, other version, type or
// byte order, Fortran order, fewer or more bytes than the shape asks for.
Result<Array> read_npy(const std::string& path);
// Also an error: another type or shape than expected; the line shows both.
Result<Array> read_npy(const std::string& path, DType dtype,
                       const std::vector<std::int64_t>& extents);

// Writes version 1.0. The file appears complete or not at all (written beside it, then renamed).
Result<void> write_npy(const std::string& path, const ArrayView& array);

// `float32 (21, 1, 160000)`
std::string describe_array(DType dtype, std::span<const std::int64_t> extents);

}  // namespace tilewright
