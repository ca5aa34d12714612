// SPDX-License-Identifier: Apache-2.0
// The filter bank on a matrix unit, in its two readings: the TileProgram of the one core, and the
// closed-form Work summary of the same.
#pragma once

#include "schedules/conv1d_mxu.h"
#include "schedules/tile_program.h"
#include "schedules/units.h"
#include "schedules/work.h"

namespace tilewright {

// Precondition of both: the schedule is feasible.
void lower_bank(const Conv1dBank& workload, const Schedule& schedule, const Limits& limits,
                TileProgram& program);
// The whole layer as one item: nothing waits for all of a tile before the next one starts.
void summarize_bank(const Conv1dBank& workload, const Schedule& schedule, const Limits& limits,
                    WorkSummary& summary);

// The Work values that both are made of; `positions`: of the tile.
class BankWorks {
 public:
  explicit BankWorks(const BankPlan& plan) : p_(plan) {}

  Work load_weights() const;
  Work split_weights() const;
  Work load(std::int64_t positions) const;     // the raw window
  Work split(std::int64_t positions) const;    // of the raw window, where nothing is folded
  Work rebuild(std::int64_t positions) const;  // compact_k: the operand of one use
  Work prepare(std::int64_t positions) const;  // folded: a group's taps and mirrors
  // The folded operand in parts: all kept ones, or the one that a use needs.
  Work fold(std::int64_t positions) const;
  Work fold_part(std::int64_t positions, int part) const;
  Work transpose_parts(std::int64_t positions) const;   // channel_major
  Work product(std::int64_t positions) const;           // of one group: all products, or one use
  Work transpose_result(std::int64_t positions) const;  // the other forms
  Work store(std::int64_t positions) const;

 private:
  Work vector(std::int64_t elements, std::int64_t passes) const;

  const BankPlan& p_;
};

}  // namespace tilewright
