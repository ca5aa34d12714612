// SPDX-License-Identifier: Apache-2.0
// Pieces of a row: the naturally aligned power-of-two chunks (smallest .. largest piece, 32 .. 512
// B) that a row of a strided copy falls into. A row of 512 B at an offset that is a multiple of 512
// is one piece; at offset 128 it is 128 + 256 + 128 = three.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright {

class PieceTable {
 public:
  PieceTable() = default;
  PieceTable(std::int64_t smallest, std::int64_t largest, double off_grid_factor);

  // Mean over the offsets origin + i*step + r*stride for all i, r >= 0, in which rows of a long
  // tile start: these are spread evenly over the residues of origin modulo gcd(largest, step,
  // stride). Rows off the grid of the smallest piece cost off_grid_factor times the pieces of the
  // grid cells they touch. All in bytes; row_bytes >= 1.
  double mean(std::int64_t row_bytes, std::int64_t origin, std::int64_t step,
              std::int64_t stride) const {
    const std::int64_t grid = largest_ | step | stride;
    const std::int64_t spacing = grid & -grid;  // largest power of two that divides all three
    if (((spacing | row_bytes | origin) & (smallest_ - 1)) != 0)
      return mean_off_grid(row_bytes, origin, spacing);
    // Beyond a whole largest piece every further one adds exactly one.
    const std::int64_t beyond = row_bytes >= 2 * largest_ ? row_bytes / largest_ - 1 : 0;
    const std::int64_t length = row_bytes - beyond * largest_;
    const std::int64_t residue = origin & (spacing - 1);
    // Rows of the table: residues of spacing = smallest, then of twice that, ...
    const std::int64_t row = (spacing - smallest_ + residue) >> log_smallest_;
    return table_[static_cast<std::size_t>(row * lengths_ + (length >> log_smallest_))] +
           static_cast<double>(beyond);
  }

  // Pieces of one row on the grid.
  std::int64_t pieces(std::int64_t offset, std::int64_t row_bytes) const;

 private:
  double mean_off_grid(std::int64_t row_bytes, std::int64_t origin, std::int64_t spacing) const;

  std::int64_t smallest_ = 32, largest_ = 512, log_smallest_ = 5, lengths_ = 0;
  double off_grid_factor_ = 1;
  std::vector<double> table_;
};

}  // namespace tilewright
