// SPDX-License-Identifier: Apache-2.0
// A matrix product (m x k)(k x n) in blocks: copies GM -> L1, L1 -> L0A and L0B, products into
// accumulators, results L0C -> GM. It is written twice from the same Work values: as operations of
// a TileProgram, and as closed-form terms of a WorkSummary. The matmul-shaped variants differ in
// operands and calls around it, not in this.
//
// `norm` loads one base block a copy; `mdl` loads step_ka (A) or step_kb (B) base blocks a copy.
// The loops over k are: groups of max(step_ka, step_kb) blocks (the larger operand's copy), in them
// groups of the smaller number, in them the blocks. Tail blocks are operations of their own.
#pragma once

#include <cstdint>

#include "schedules/schedule.h"
#include "schedules/tile_program.h"
#include "schedules/work.h"

namespace tilewright {

// Where an operand's bytes come from. `first`: its first sweep in this product; `again`: every
// further one.
struct OperandReads {
  Sharing sharing = Sharing::none;
  std::int64_t sharers = 1;
  bool first_read = true;              // nobody has read the operand before this product
  std::int64_t first_reuse_bytes = 0;  // else: distinct bytes read in between
  std::int64_t again_reuse_bytes = 0;
};

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;  // padded to the fractal
  std::int64_t element_bytes = 0;
  DType dtype = DType::fp16;
  std::int64_t base_m = 0, base_n = 0, base_k = 0, step_ka = 1, step_kb = 1;
  bool mdl = false, order_n = false;
  std::int64_t db_l0 = 2, db_l0c = 1, l1 = 2;
  bool a_in_core = false;  // the whole of A is in L1 before the product starts
  // How the matrices lie in memory: A is row-major m x k; B is k x n, or n x k transposed. Elements
  // of a stored row, where it is not as long as the padded one (0: it is).
  bool b_transposed = false;
  std::int64_t a_row = 0, b_row = 0;
  // Elements between the first columns of B of different cores, where these are parts of one row.
  std::int64_t b_spread = 0;
  OperandReads a, b;
  std::int64_t l2_bytes = 0;  // loads that this capacity can not tell apart are one operation
};

class BlockedProduct {
 public:
  BlockedProduct() = default;
  explicit BlockedProduct(const ProductShape& shape);

  // Adds the rings of L1, L0A, L0B and L0C.
  void add_rings(TileProgram& program);
  void use_rings_of(const BlockedProduct& other);  // which has added them to the same program
  // The load of the whole of A, for a_in_core: emitted once, by the caller.
  void emit_whole_a(TileProgram& program) const;
  void summarize_whole_a(FixedList<Work, 2>& once) const;
  // One product; its results are written to the current slot of result_ring.
  void emit(TileProgram& program, std::uint8_t result_ring) const;
  // Clears `summary` and writes terms, flows and rings of one product (not calls and items).
  void summarize(WorkSummary& summary) const;

  std::int64_t load_bytes() const;  // GM -> L1, of one product

 private:
  // A number of blocks of one size along an axis and a smaller last one (0 = none).
  struct Blocks {
    std::int64_t full = 0, size = 0, tail = 0;
    std::int64_t count() const { return full + (tail > 0); }
    std::int64_t first() const { return full > 0 ? size : tail; }
    std::int64_t last() const { return tail > 0 ? tail : size; }
  };
  // How one operand is loaded along k: `full` copies of `length` elements, then one of `last` (0 =
  // none) from `origin`.
  struct Loads {
    std::int64_t full = 0, length = 0, last = 0, origin = 0;
    std::int64_t last_blocks = 0;  // base blocks in the last copy of a sweep
    std::int64_t count() const { return full + (last > 0); }
  };
  static Blocks split(std::int64_t extent, std::int64_t base);
  Loads loads(std::int64_t step) const;
  bool off_chip(bool first_read, std::int64_t reuse_bytes) const {
    return first_read || reuse_bytes > shape_.l2_bytes;
  }

  // Work values, shared by both readings; each fills in a fresh Work. `last`: the last copy of a
  // sweep over k.
  void load(Work& work, const OperandReads& reads, bool again) const;
  void load_whole_a(Work& work) const;
  void load_a(Work& work, std::int64_t rows, bool last, bool again) const;
  void load_b(Work& work, std::int64_t columns, bool last, bool again) const;
  // Shared bytes come on chip once for all sharers: beside the copy that every sharer makes, its
  // share of the off-chip transfer is an operation of its own, which does not hold up the copy
  // engine.
  bool fetches(const Work& load) const {
    return load.sharing != Sharing::none && off_chip(load.first_read, load.reuse_bytes);
  }
  static Work fetch(const Work& load);
  void on_chip_copy(Work& work, Path path, std::int64_t elements) const;
  void feed_a(Work& work, std::int64_t rows, std::int64_t k) const {
    on_chip_copy(work, Path::l1_l0a, rows * k);
  }
  void feed_b(Work& work, std::int64_t columns, std::int64_t k) const {
    on_chip_copy(work, Path::l1_l0b, columns * k);
  }
  void product(Work& work, std::int64_t rows, std::int64_t columns, std::int64_t k) const;
  void result(Work& work, std::int64_t rows, std::int64_t columns) const {
    on_chip_copy(work, Path::l0c_gm, rows * columns);
  }

  struct Tile {
    std::int64_t rows, columns;
    bool a_again, b_again;
  };
  struct Emitter;
  struct Summarizer;

  ProductShape shape_;
  Blocks m_, n_, k_;
  std::int64_t step_a_ = 1, step_b_ = 1;  // blocks a copy
  std::int64_t big_ = 1, small_ = 1;      // the larger and the smaller of them
  bool a_is_big_ = true;
  bool a_kept_ = false,
       b_kept_ = false;  // loaded once per block of the outer loop, outside the tiles
  bool a_differs_ = false, b_differs_ = false;  // first and further sweeps differ on this L2
  Loads loads_a_, loads_b_;
  struct RingNumbers {
    std::uint8_t a = 0, b = 0, l0a = 0, l0b = 0, l0c = 0;
  } rings_;
};

}  // namespace tilewright
