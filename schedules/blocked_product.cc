// SPDX-License-Identifier: Apache-2.0
#include "schedules/blocked_product.h"

#include <algorithm>

#include "schedules/units.h"

namespace tilewright {

BlockedProduct::Blocks BlockedProduct::split(std::int64_t extent, std::int64_t base) {
  const std::int64_t full = extent / base;
  return {full, base, extent - full * base};
}

BlockedProduct::BlockedProduct(const ProductShape& shape)
    : shape_(shape),
      m_(split(shape.m, shape.base_m)),
      n_(split(shape.n, shape.base_n)),
      k_(split(shape.k, shape.base_k)),
      step_a_(shape.mdl ? shape.step_ka : 1),
      step_b_(shape.mdl ? shape.step_kb : 1),
      big_(std::max(step_a_, step_b_)),
      small_(std::min(step_a_, step_b_)),
      a_is_big_(step_a_ >= step_b_),
      a_kept_(!shape.a_in_core && shape.mdl && !shape.order_n && step_a_ >= k_.count()),
      b_kept_(shape.mdl && shape.order_n && step_b_ >= k_.count()),
      a_differs_(!a_kept_ && !shape.a_in_core && n_.count() > 1 &&
                 off_chip(shape.a.first_read, shape.a.first_reuse_bytes) !=
                     off_chip(false, shape.a.again_reuse_bytes)),
      b_differs_(!b_kept_ && m_.count() > 1 &&
                 off_chip(shape.b.first_read, shape.b.first_reuse_bytes) !=
                     off_chip(false, shape.b.again_reuse_bytes)),
      loads_a_(loads(step_a_)),
      loads_b_(loads(step_b_)) {}

// The copies of an operand with `step` blocks a copy. Groups of `big_` full blocks come first; what
// is left (fewer blocks, or as many with a short last one) is a group of its own, split again into
// groups of `small_`.
BlockedProduct::Loads BlockedProduct::loads(std::int64_t step) const {
  const std::int64_t blocks = k_.count();
  const bool short_last = k_.tail > 0;
  std::int64_t groups = blocks / big_;
  if (short_last && blocks % big_ == 0) --groups;
  const std::int64_t rest = blocks - groups * big_;
  std::int64_t in_rest = rest / step;
  if (short_last && rest > 0 && rest % step == 0) --in_rest;
  Loads result;
  result.full = groups * (big_ / step) + in_rest;
  result.length = step * k_.size;
  result.origin = result.full * result.length;
  result.last = shape_.k - result.origin;
  result.last_blocks = result.last > 0 ? rest - in_rest * step : step;
  return result;
}

// ---- Work
// -----------------------------------------------------------------------------------------------------------

void BlockedProduct::load(Work& work, const OperandReads& reads, bool again) const {
  work.kind = WorkKind::copy;
  work.path = Path::gm_l1;
  work.dtype = shape_.dtype;
  work.sharing = reads.sharing;
  work.sharers = reads.sharers;
  work.first_read = !again && reads.first_read;
  work.reuse_bytes = again ? reads.again_reuse_bytes : reads.first_reuse_bytes;
}

// A is row-major m x k: a copy's rows are runs of k elements.
void BlockedProduct::load_a(Work& work, std::int64_t rows, bool last, bool again) const {
  const std::int64_t e = shape_.element_bytes;
  load(work, shape_.a, again);
  work.rows = rows;
  work.row_bytes = (last ? loads_a_.last : loads_a_.length) * e;
  work.stride_bytes = (shape_.a_row > 0 ? shape_.a_row : shape_.k) * e;
  work.origin_bytes = last ? loads_a_.origin * e : 0;
  work.step_bytes = !last && loads_a_.full > 1 ? loads_a_.length * e : 0;
}

void BlockedProduct::load_whole_a(Work& work) const {
  load(work, shape_.a, false);
  work.rows = shape_.m;
  work.row_bytes = work.stride_bytes = shape_.k * shape_.element_bytes;
}

// B is row-major k x n: a copy's rows are runs of n elements. Transposed, they are runs of k, as
// A's.
void BlockedProduct::load_b(Work& work, std::int64_t columns, bool last, bool again) const {
  const std::int64_t e = shape_.element_bytes;
  const std::int64_t padded = shape_.b_transposed ? shape_.k : shape_.n;
  load(work, shape_.b, again);
  work.stride_bytes = (shape_.b_row > 0 ? shape_.b_row : padded) * e;
  const std::int64_t length = last ? loads_b_.last : loads_b_.length;
  if (shape_.b_transposed) {
    work.rows = columns;
    work.row_bytes = length * e;
    work.origin_bytes = last ? loads_b_.origin * e : 0;
    work.step_bytes = !last && loads_b_.full > 1 ? loads_b_.length * e : 0;
    return;
  }
  work.rows = length;
  work.row_bytes = columns * e;
  const bool tail = columns != n_.size;
  work.origin_bytes = tail ? n_.full * n_.size * e : 0;
  const std::int64_t step = !tail && n_.full > 1 ? n_.size : 0;
  // Offsets are spread by both: only the largest power of two that divides them counts.
  work.step_bytes = (step | shape_.b_spread) * e;
}

Work BlockedProduct::fetch(const Work& load) {
  Work work = load;
  work.kind = WorkKind::fetch;
  work.path = Path::none;
  return work;
}

void BlockedProduct::on_chip_copy(Work& work, Path path, std::int64_t elements) const {
  work.kind = WorkKind::copy;
  work.path = path;
  work.dtype = shape_.dtype;
  work.rows = 1;
  work.row_bytes = elements * shape_.element_bytes;
}

void BlockedProduct::product(Work& work, std::int64_t rows, std::int64_t columns,
                             std::int64_t k) const {
  work.kind = WorkKind::product;
  work.dtype = shape_.dtype;
  work.m = rows;
  work.n = columns;
  work.k = k;
}

// ---- Tree ----

void BlockedProduct::add_rings(TileProgram& program) {
  const std::int64_t e = shape_.element_bytes;
  const std::int64_t block_a = shape_.base_m * shape_.base_k * e;
  const std::int64_t block_b = shape_.base_n * shape_.base_k * e;
  // norm: step*l1 slots of a block; mdl: l1 slots of step blocks. The same bytes.
  const std::int64_t slots_a = shape_.mdl ? shape_.l1 : shape_.step_ka * shape_.l1;
  const std::int64_t slots_b = shape_.mdl ? shape_.l1 : shape_.step_kb * shape_.l1;
  if (shape_.a_in_core) {
    rings_.a = program.add_ring("A.L1", Memory::l1, 1, shape_.m * shape_.k * e);
  } else {
    rings_.a = program.add_ring("A.L1", Memory::l1, slots_a, block_a * step_a_);
  }
  rings_.b = program.add_ring("B.L1", Memory::l1, slots_b, block_b * step_b_);
  rings_.l0a = program.add_ring("L0A", Memory::l0a, shape_.db_l0, block_a);
  rings_.l0b = program.add_ring("L0B", Memory::l0b, shape_.db_l0, block_b);
  rings_.l0c =
      program.add_ring("L0C", Memory::l0c, shape_.db_l0c, shape_.base_m * shape_.base_n * 4);
}

void BlockedProduct::use_rings_of(const BlockedProduct& other) { rings_ = other.rings_; }

struct BlockedProduct::Emitter {
  const BlockedProduct& p;
  TileProgram& program;
  std::uint8_t result_ring;

  // A fetch starts when its copy is issued: the take is an operation of its own then, and both fill
  // the slot.
  void add_fetched(const char* label, const char* fetch_label, const Work& load,
                   std::uint8_t ring) const {
    Work bind;
    bind.kind = WorkKind::bind;
    bind.path = load.path;
    program.add("bind", bind).access(ring, verb::take);
    program.add(fetch_label, fetch(load)).access(ring, verb::read | verb::write);
    program.add(label, load).access(ring, verb::write);
  }
  void add_load(bool a, std::int64_t size, bool last, bool again) const {
    const std::uint8_t ring = a ? p.rings_.a : p.rings_.b;
    Work work;
    a ? p.load_a(work, size, last, again) : p.load_b(work, size, last, again);
    if (p.fetches(work)) {
      add_fetched(a ? "load_a" : "load_b", a ? "fetch_a" : "fetch_b", work, ring);
    } else {
      program.add(a ? "load_a" : "load_b", work).access(ring, verb::take | verb::write);
    }
  }
  bool streams(bool a) const { return a ? !p.a_kept_ && !p.shape_.a_in_core : !p.b_kept_; }
  void add_load(const Tile& t, bool a, bool last) const {
    if (!streams(a)) return;
    a ? add_load(true, t.rows, last, t.a_again) : add_load(false, t.columns, last, t.b_again);
  }

  void block(const Tile& t, std::int64_t k) const {
    Operation& a = program.add("feed_a");
    p.feed_a(a.work, t.rows, k);
    a.access(p.rings_.a, verb::read).access(p.rings_.l0a, verb::take | verb::write);
    Operation& b = program.add("feed_b");
    p.feed_b(b.work, t.columns, k);
    b.access(p.rings_.b, verb::read).access(p.rings_.l0b, verb::take | verb::write);
    Operation& c = program.add("product");
    p.product(c.work, t.rows, t.columns, k);
    c.access(p.rings_.l0a, verb::read)
        .access(p.rings_.l0b, verb::read)
        .access(p.rings_.l0c, verb::write);
  }
  void blocks(const Tile& t, std::int64_t count, bool with_tail) const {
    program.repeat(count - with_tail, [&] { block(t, p.k_.size); });
    if (with_tail) block(t, p.k_.tail);
  }

  void tile(const Tile& t) const {
    program.add("bind").access(p.rings_.l0c, verb::take);  // a fresh Work binds on the matrix unit
    const bool short_last = p.k_.tail > 0;
    const Loads& big = p.a_is_big_ ? p.loads_a_ : p.loads_b_;
    const Loads& small = p.a_is_big_ ? p.loads_b_ : p.loads_a_;
    program.repeat(big.full, [&] {
      add_load(t, p.a_is_big_, false);
      program.repeat(p.big_ / p.small_, [&] {
        add_load(t, !p.a_is_big_, false);
        blocks(t, p.small_, false);
      });
    });
    if (big.last > 0) {
      add_load(t, p.a_is_big_, true);
      program.repeat(small.full - big.full * (p.big_ / p.small_), [&] {
        add_load(t, !p.a_is_big_, false);
        blocks(t, p.small_, false);
      });
      if (small.last > 0) {
        add_load(t, !p.a_is_big_, true);
        blocks(t, small.last_blocks, short_last);
      }
    }
    Operation& store = program.add("store");
    p.result(store.work, t.rows, t.columns);
    store.access(p.rings_.l0c, verb::read).access(result_ring, verb::write);
  }

  // visit(size, again) for the blocks of an axis; the first one apart if it differs from the
  // others.
  template <class Visit>
  void sweep(const Blocks& axis, bool differs, Visit&& visit) const {
    std::int64_t full = axis.full;
    if (differs) {
      visit(axis.first(), false);
      if (full == 0) return;
      --full;
    }
    program.repeat(full, [&] { visit(axis.size, differs); });
    if (axis.tail > 0) visit(axis.tail, differs);
  }
};

void BlockedProduct::emit(TileProgram& program, std::uint8_t result_ring) const {
  const Emitter emitter{*this, program, result_ring};
  const bool whole_a =
      loads_a_.full == 0;  // a kept operand is one copy: the full one or the last one
  const bool whole_b = loads_b_.full == 0;
  if (!shape_.order_n) {
    emitter.sweep(m_, b_differs_, [&](std::int64_t rows, bool b_again) {
      if (a_kept_) emitter.add_load(true, rows, whole_a, false);
      emitter.sweep(n_, a_differs_, [&](std::int64_t columns, bool a_again) {
        emitter.tile({rows, columns, a_again, b_again});
      });
    });
  } else {
    emitter.sweep(n_, a_differs_, [&](std::int64_t columns, bool a_again) {
      if (b_kept_) emitter.add_load(false, columns, whole_b, false);
      emitter.sweep(m_, b_differs_, [&](std::int64_t rows, bool b_again) {
        emitter.tile({rows, columns, a_again, b_again});
      });
    });
  }
}

void BlockedProduct::emit_whole_a(TileProgram& program) const {
  Work work;
  load_whole_a(work);
  const Emitter emitter{*this, program, 0};
  if (fetches(work)) {
    emitter.add_fetched("load_all", "fetch_all", work, rings_.a);
  } else {
    program.add("load_all", work).access(rings_.a, verb::take | verb::write);
  }
}

void BlockedProduct::summarize_whole_a(FixedList<Work, 2>& once) const {
  Work work;
  load_whole_a(work);
  once.push(work);
  if (fetches(work)) once.push(fetch(work));
}

std::int64_t BlockedProduct::load_bytes() const {
  const std::int64_t e = shape_.element_bytes;
  const std::int64_t sweeps_a = shape_.a_in_core ? 0 : a_kept_ ? 1 : n_.count();
  const std::int64_t sweeps_b = b_kept_ ? 1 : m_.count();
  return e * shape_.k * (shape_.m * sweeps_a + shape_.n * sweeps_b);
}

}  // namespace tilewright
