// SPDX-License-Identifier: Apache-2.0
// conv1d_bank on a CPU, variants `folded_channel_major` (terms fp32) and `direct`. Costly to
// include (Halide.h).
//
// The input is split into `stride` phases, phases(m, p) = x(stride*m + p): tap k of position n is
// then phases(n + dil*k div stride, dil*k mod stride), of unit stride over n, so neither gathers
// nor im2col exist. Folding uses the symmetry of the filters: the first half of them even (w[k] =
// w[K-1-k]), the second half odd (w[k] = -w[K-1-k]): mirrored samples are added or subtracted once
// and multiplied once.
//
// Arithmetic: the caller promises the symmetry. `chains` fp32 chains per output, chain q takes taps
// q, q + chains, ... (for each input channel in turn); the chains are added in order, then the
// bias. The fold is one fp32 addition.
#pragma once

#include "generators/kernel.h"

namespace tilewright {

// Sizes that follow from the workload and the number of chains.
struct BankShape {
  int groups = 1;       // 2 parity groups when folded
  int group_size = 0;   // filters of a group
  int taps = 0;         // products per output and input channel: K, or ceil(K/2) when folded
  int padded_taps = 0;  // taps rounded up to a multiple of chains, the rest zeros
  int chains = 1;
  bool folded = false;
};
BankShape bank_shape(const Conv1dBank& layer, const Schedule& schedule);

// Dimensions, innermost first; g is the parity group of channel c, q the chain.
struct Conv1dBankFuncs {
  Halide::ImageParam x, w, bias;
  Halide::Func phases;   // (m, p, ci, b)
  Halide::Func operand;  // (n, k, ci, g, b): folded samples; direct: the phases' samples, inlined
  Halide::Func packed;   // (c, k, ci): weights
  Halide::Func sums;     // (n, c, q, g, b)
  Halide::Func out;      // (n, c, b)
  Halide::RDom taps;     // (r, ci)
  int operand_updates = 0;
  Halide::Var n{"n"}, c{"c"}, b{"b"}, k{"k"}, g{"g"}, m{"m"}, p{"p"}, q{"q"}, ci{"ci"};
};
// positions: how many of the output are computed at least, whatever its length (tiles of a short
// output stand over).
Conv1dBankFuncs conv1d_bank(const Conv1dBank& layer, const BankShape& shape,
                            std::int64_t positions);

// Sizes of the schedule, adapted to an output shorter than a tile.
struct BankTiles {
  int vector = 16;
  int positions = 0;         // of a register tile
  int prepared = 0;          // positions prepared together
  std::int64_t covered = 0;  // positions that all tiles together compute
  bool stands_over = false;  // the only tile is longer than the output
};
BankTiles bank_tiles(const Conv1dBank& layer, const Schedule& schedule, int vector);

// The one place where the knobs of both variants become directives (apply_schedule_conv1d_bank.cc).
void apply_schedule(Conv1dBankFuncs& kernel, const Conv1dBank& layer, const BankShape& shape,
                    const BankTiles& tiles, const Schedule& schedule);
void default_schedule(Conv1dBankFuncs& kernel);

}  // namespace tilewright
