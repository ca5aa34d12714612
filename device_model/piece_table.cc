// SPDX-License-Identifier: Apache-2.0
#include "device_model/piece_table.h"

#include <bit>

namespace tilewright {

PieceTable::PieceTable(std::int64_t smallest, std::int64_t largest, double off_grid_factor)
    : smallest_(smallest),
      largest_(largest),
      log_smallest_(std::countr_zero(static_cast<std::uint64_t>(smallest))),
      lengths_(2 * largest / smallest),
      off_grid_factor_(off_grid_factor) {
  for (std::int64_t spacing = smallest; spacing <= largest; spacing *= 2) {
    for (std::int64_t residue = 0; residue < spacing; residue += smallest) {
      for (std::int64_t length = 0; length < 2 * largest; length += smallest) {
        double sum = 0;
        for (std::int64_t offset = residue; offset < largest; offset += spacing) {
          sum += static_cast<double>(pieces(offset, length));
        }
        table_.push_back(sum / static_cast<double>(largest / spacing));
      }
    }
  }
}

std::int64_t PieceTable::pieces(std::int64_t offset, std::int64_t row_bytes) const {
  std::int64_t count = 0;
  const std::int64_t end = offset + row_bytes;
  while (offset < end) {
    std::int64_t piece = largest_;
    while (piece > smallest_ && (offset % piece != 0 || offset + piece > end)) piece /= 2;
    offset += piece;
    ++count;
  }
  return count;
}

double PieceTable::mean_off_grid(std::int64_t row_bytes, std::int64_t origin,
                                 std::int64_t spacing) const {
  double sum = 0;
  for (std::int64_t offset = origin & (spacing - 1); offset < largest_; offset += spacing) {
    const std::int64_t first = offset / smallest_ * smallest_;
    const std::int64_t last = (offset + row_bytes + smallest_ - 1) / smallest_ * smallest_;
    const double factor = offset % smallest_ == 0 ? 1 : off_grid_factor_;
    sum += factor * static_cast<double>(pieces(first, last - first));
  }
  return sum / static_cast<double>(largest_ / spacing);
}

}  // namespace tilewright
