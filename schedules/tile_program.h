// SPDX-License-Identifier: Apache-2.0
// A TileProgram is what one core does for a schedule: a flat preorder tree of loops and operations,
// and rings (bounded buffers with slots). It knows no device and no cycles. It is read by the
// printer, the checker, and, once costed, by the simulator. Its storage is reused: building another
// program into the same value allocates nothing in steady state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedules/work.h"

namespace tilewright {

enum class Memory : std::uint8_t {
  gm,
  l1,
  l0a,
  l0b,
  l0c,
  ub,
  on_chip,    // the one memory of a chip with a permute unit
  registers,  // of its operand groups
};
const char* memory_name(Memory memory);

// Meaning of accesses (the simulator's header has the arithmetic):
//   take   binds the ring's next slot and waits until every earlier access to that slot is done
//   (release is implicit); write  extends the time at which the slot is filled; read   waits until
//   the slot is filled.
namespace verb {
enum Verb : std::uint8_t { take = 1, read = 2, write = 4 };
}

struct Access {
  std::uint8_t ring = 0;
  std::uint8_t verbs = 0;  // of Verb
  std::uint8_t lag = 0;    // 0: the newest taken slot, 1: the one before ...
  friend bool operator==(const Access&, const Access&) = default;
};
inline constexpr std::size_t kMaxAccesses = 5;

struct Operation {
  const char* label = "";  // static text, for the printer and the timeline
  Work work;
  std::uint8_t access_count = 0;
  Access accesses[kMaxAccesses];

  Operation& access(std::uint8_t ring, int verbs, std::uint8_t lag = 0) {
    assert(access_count < kMaxAccesses);
    accesses[access_count++] = {ring, static_cast<std::uint8_t>(verbs), lag};
    return *this;
  }
  std::span<const Access> all_accesses() const { return {accesses, access_count}; }
};

struct Ring {
  const char* name = "";
  Memory memory = Memory::gm;
  std::int64_t slots = 1;
  std::int64_t slot_bytes = 0;
};

// op >= 0: that operation, executed once. op < 0: a loop of `count` iterations over the nodes
// (this, end).
struct Node {
  std::int32_t op = -1;
  std::int32_t end = 0;
  std::int64_t count = 1;
};

class TileProgram {
 public:
  void clear();
  std::uint8_t add_ring(const char* name, Memory memory, std::int64_t slots,
                        std::int64_t slot_bytes);
  // Valid until the next add. Without work: a fresh Work, to be filled in.
  Operation& add(const char* label);
  Operation& add(const char* label, const Work& work);
  std::int32_t open_loop(std::int64_t count);
  void close_loop(std::int32_t loop);

  // body() `count` times: nothing for 0, no loop node for 1.
  template <class Body>
  void repeat(std::int64_t count, Body&& body) {
    if (count <= 0) return;
    if (count == 1) return body();
    const std::int32_t loop = open_loop(count);
    body();
    close_loop(loop);
  }

  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Operation> operations() const { return operations_; }
  std::span<const Ring> rings() const { return rings_; }

  // Calls visit(operation, times) for every operation with the product of the counts of its loops.
  template <class Visit>
  void for_each_operation(Visit&& visit) const {
    visit_range(0, static_cast<std::int32_t>(nodes_.size()), 1, visit);
  }

 private:
  template <class Visit>
  void visit_range(std::int32_t begin, std::int32_t end, std::int64_t times, Visit& visit) const {
    for (std::int32_t i = begin; i < end;) {
      const Node& node = nodes_[static_cast<std::size_t>(i)];
      if (node.op >= 0) {
        visit(operations_[static_cast<std::size_t>(node.op)], times);
        ++i;
      } else {
        visit_range(i + 1, node.end, times * node.count, visit);
        i = node.end;
      }
    }
  }

  std::vector<Node> nodes_;
  std::vector<Operation> operations_;
  std::vector<Ring> rings_;
};

// The whole program as text: rings with sizes, then the loops, an operation a line.
std::string to_text(const TileProgram& program);

// Bytes of the rings of each memory, against the capacities given (0 = not checked).
struct MemoryUse {
  Memory memory = Memory::gm;
  std::int64_t needed_bytes = 0, available_bytes = 0;
};

// The first defect of a program, or nothing: unbalanced loops, a count below 1, an access to an
// unknown ring, a ring without slots, a lag beyond the ring, a ring taken by two kinds of work, a
// slot read before it is written or written before it is taken, more bytes than a memory has.
std::optional<std::string> defect_of(const TileProgram& program,
                                     std::span<const MemoryUse> capacities = {});

}  // namespace tilewright
