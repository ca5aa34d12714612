// SPDX-License-Identifier: Apache-2.0
// Device-neutral work: what an operation moves or computes, never how long it takes. A device turns
// Work into cycles (device_model/costing.h); the closed-form WorkSummary of a schedule and the
// operations of its TileProgram hold the same Work values, so the bound and the simulator can only
// differ in how they put them together.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "schedules/workload.h"

namespace tilewright {

// Where a copy goes from and to. Copies of one path run on one engine of a device, one after the
// other.
enum class Path : std::uint8_t {
  none,
  gm_l1,
  l1_l0a,
  l1_l0b,
  l0c_gm,
  gm_ub,
  ub_gm,
  dma_in,  // a chip with one on-chip memory: into it, and out of it
  dma_out,
};
inline constexpr std::size_t kPathCount = static_cast<std::size_t>(Path::dma_out) + 1;
const char* path_name(Path path);

enum class WorkKind : std::uint8_t {
  launch,  // the kernel's head: occupies the whole core
  call,    // a synchronous call from a vector client to the matrix core
  bind,    // takes a slot, costs nothing: many operations fill it afterwards
  copy,    // bytes along a path
  fetch,   // a core's share of bringing shared bytes on chip, beside the copy that all sharers make
  product,  // m*n*k multiply-adds on the matrix unit
  pool,     // vector work of a client: read back, maximum, bias, write
  // A chip whose matrix unit is fed by a permute unit (all sizes in rows of the unit's lanes):
  reserve,    // as bind, on the permute unit
  rebuild,    // m operand rows gathered one by one, for one use
  prepare,    // `rows` parts of m operand rows gathered as tiles, to be kept or used
  vector,     // `elements` element operations of the vector unit
  transpose,  // rows*row_bytes bytes
  // A systolic array:
  stream,  // m positions through a k x n tile of stationary weights
  turn,    // the cycle from one such pass to the next
};

// How many cores read the very same bytes at about the same time.
enum class Sharing : std::uint8_t {
  none,    // private to one core
  spread,  // all active cores, out of step: the weights of a convolution
  grid,    // exactly `sharers` cores in step: a row or column of a core grid
};

// All sizes in bytes or elements. A copy is `rows` rows of `row_bytes` each, `stride_bytes` apart
// in the slower memory; stride 0 = contiguous. Row 0 starts at origin_bytes + i*step_bytes, i = 0,
// 1, ...: one operation stands for all blocks of a loop, so its alignment is the mean over that set
// of offsets.
struct Work {
  WorkKind kind = WorkKind::bind;
  Path path = Path::none;
  DType dtype = DType::fp32;
  Sharing sharing = Sharing::none;
  std::uint8_t client = 0;  // vector client, for pool
  bool first_read = false;  // no core has read these bytes before
  std::int64_t rows = 0, row_bytes = 0, stride_bytes = 0, origin_bytes = 0, step_bytes = 0;
  std::int64_t sharers = 1;
  // Re-reads: distinct bytes that all cores together read since these bytes were read last.
  std::int64_t reuse_bytes = 0;
  // product, in elements; `rows`, where it is set, says how many of them. rebuild, prepare: m rows.
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t elements = 0;        // pool, in elements of the matrix product's result; vector
  std::int64_t ub_write_bytes = 0;  // pool: bytes that leave UB (what it reads is rows*row_bytes)

  std::int64_t bytes() const { return rows * row_bytes; }
  std::int64_t macs() const { return m * n * k * (rows > 0 ? rows : 1); }
  friend bool operator==(const Work&, const Work&) = default;
};

// ---------------------------------------------------------------------------------------------------------------------
// The closed form of one item's work: what a bound needs, without a tree.

// Work of one kind and how often an item does it.
struct WorkTerm {
  Work work;
  std::int64_t count = 0;
  std::uint8_t flow = 0;
};

// Part of a sum: `holds` times the time that an operation of this term occupies its engine, plus
// `latencies` times the time from there until its result can be used. Negative numbers are taken
// off.
struct Step {
  std::uint8_t term = 0;
  std::int64_t holds = 0, latencies = 0;
};

template <class T, std::size_t N>
class FixedList {
 public:
  void clear() { size_ = 0; }
  void push(const T& value) {
    assert(size_ < N);
    items_[size_++] = value;
  }
  T& next() {  // an item to be filled in place
    assert(size_ < N);
    return items_[size_++];
  }
  std::size_t size() const { return size_; }
  static constexpr std::size_t capacity() { return N; }
  bool empty() const { return size_ == 0; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  T& operator[](std::size_t i) { return items_[i]; }

 private:
  std::array<T, N> items_;
  std::uint32_t size_ = 0;
};

using Way = FixedList<Step, 10>;

// A flow is a kind of operation that runs on one engine: loads of A, loads of B, ... in the order
// of the pipeline. Without terms it is not part of the schedule.
inline constexpr std::size_t kMaxFlows = 8;
struct Flow {
  Way before;  // from the item's first cycle until the flow's first operation can start, at least
  Way after;  // from the end of its last operation's hold until the end of the item's last hold, at
              // least
};

// A ring of `slots` slots. Every fill holds its slot from its take to its last access; all the
// holds together last at least the work of `flows`, the latencies of `arrivals` and `extra`. They
// begin after `before_flow`'s way in and end `after` before the item does, so that the item takes
// at least before + sum/slots + after.
struct RingTerm {
  std::int64_t slots = 1;
  std::uint32_t flows = 0, arrivals = 0;  // a bit per flow
  std::uint8_t before_flow = 0;
  FixedList<Step, 16> extra;
  FixedList<Step, 4> after;
  // Holds only on a device whose transposes and products exclude each other.
  bool if_exclusive = false;
};

// What one item does. The busiest core does `items` of them, its vector clients in turn.
struct WorkSummary {
  FixedList<WorkTerm, 48> terms;
  FixedList<Flow, kMaxFlows> flows;
  FixedList<RingTerm, 8> rings;
  std::uint8_t result_flow =
      0;  // whose latency passes between the last hold and the vector client's start
  Work launch, call, pool;
  std::int64_t items = 0;         // of the busiest core
  std::int64_t client_items = 0;  // of its busiest vector client
  std::int64_t client_slots = 1;  // results that a client can have in flight
  // Work before the first item's own that every item waits for (resident weights): one copy, and
  // its share of the off-chip transfer. Empty = none.
  FixedList<Work, 2> once;

  void clear() {
    terms.clear();
    flows.clear();
    rings.clear();
    once.clear();
    for (std::size_t r = 0; r < rings.capacity(); ++r) rings[r].arrivals = 0;
  }
};

}  // namespace tilewright
