// SPDX-License-Identifier: Apache-2.0
#include "generators/conv1d_bank.h"

#include <algorithm>

namespace tilewright {

using Halide::Expr;

BankShape bank_shape(const Conv1dBank& layer, const Schedule& schedule) {
  BankShape shape;
  shape.folded = schedule.variant == Variant::folded_channel_major;
  shape.groups = shape.folded ? 2 : 1;
  shape.group_size = as_int(layer.cout / shape.groups);
  shape.taps = as_int(shape.folded ? ceil_div(layer.k, 2) : layer.k);
  shape.chains = std::max(1, schedule[Knob::chains]);
  shape.padded_taps = as_int(ceil_div(shape.taps, shape.chains) * shape.chains);
  return shape;
}

BankTiles bank_tiles(const Conv1dBank& layer, const Schedule& schedule, int vector) {
  const std::int64_t positions = schedule[Knob::base_n];
  const std::int64_t needed = ceil_div(layer.lout(), positions) * positions;
  const std::int64_t prepared = std::min<std::int64_t>(schedule[Knob::m_tile], needed);
  return {.vector = vector,
          .positions = as_int(positions),
          .prepared = as_int(prepared),
          .covered = std::max(layer.lout(), prepared),
          .stands_over = layer.lout() < prepared};
}

namespace {

void declare_buffers(Conv1dBankFuncs& f, const Conv1dBank& layer) {
  f.x = Halide::ImageParam(Halide::Float(32), 3, "x");
  f.w = Halide::ImageParam(Halide::Float(32), 3, "w");
  f.bias = Halide::ImageParam(Halide::Float(32), 1, "bias");
  set_dense_shape(f.x, {layer.l, layer.cin, layer.n});
  set_dense_shape(f.w, {layer.k, layer.cin, layer.cout});
  set_dense_shape(f.bias, {layer.cout});
}

void define_phases(Conv1dBankFuncs& f, const Conv1dBank& layer, std::int64_t positions) {
  const std::int64_t stride = layer.stride;
  const std::int64_t last_m = positions - 1 + (layer.k - 1) * layer.dil / stride;
  const std::int64_t last_sample = stride * last_m + stride - 1;  // whole phases are copied
  const bool inside = layer.pad_l == 0 && last_sample < layer.l;
  const Expr sample = f.m * as_int(stride) + f.p - as_int(layer.pad_l);
  f.phases = Halide::Func("phases");
  if (inside) {
    f.phases(f.m, f.p, f.ci, f.b) = f.x(sample, f.ci, f.b);
  } else {
    const Halide::Func zero_outside =
        Halide::BoundaryConditions::constant_exterior(f.x, 0.0f, {{0, as_int(layer.l)}});
    f.phases(f.m, f.p, f.ci, f.b) = zero_outside(sample, f.ci, f.b);
  }
}

void define_operand(Conv1dBankFuncs& f, const Conv1dBank& layer, const BankShape& shape) {
  const int stride = as_int(layer.stride), dil = as_int(layer.dil), last = as_int(layer.k) - 1;
  const auto tap = [&](const Expr& k) {
    const Expr offset = k * dil;
    return f.phases(f.n + offset / stride, offset % stride, f.ci, f.b);
  };
  const bool padded = shape.padded_taps > shape.taps;
  const Expr k = padded ? min(f.k, shape.taps - 1)
                        : Expr(f.k);  // taps that do not exist read a real sample ...
  f.operand = Halide::Func("operand");
  if (!shape.folded) {
    f.operand(f.n, f.k, f.ci, f.g, f.b) = padded ? select(f.k < shape.taps, tap(k), 0.0f) : tap(k);
    return;
  }
  const Expr sign = select(f.g == 0, 1.0f, -1.0f);
  f.operand(f.n, f.k, f.ci, f.g, f.b) = tap(k) + tap(last - k) * sign;
  if (layer.k % 2 == 1) {
    // The centre has no mirror; for odd filters it is 0, so that no 0*Inf appears.
    const int centre = shape.taps - 1;
    f.operand(f.n, centre, f.ci, f.g, f.b) = select(f.g == 0, tap(centre), 0.0f);
    ++f.operand_updates;
  }
  for (int none = shape.taps; none < shape.padded_taps; ++none) {  // ... and become zeros
    f.operand(f.n, none, f.ci, f.g, f.b) = 0.0f;
    ++f.operand_updates;
  }
}

void define_weights(Conv1dBankFuncs& f, const Conv1dBank& layer, const BankShape& shape) {
  // A register tile may stand over its group's end: its extra channels read some weight and are
  // never stored.
  const Expr channel = min(f.c, as_int(layer.cout) - 1);
  f.packed = Halide::Func("packed");
  f.packed(f.c, f.k, f.ci) =
      select(f.k < shape.taps, f.w(min(f.k, shape.taps - 1), f.ci, channel), 0.0f);
}

void define_output(Conv1dBankFuncs& f, const Conv1dBank& layer, const BankShape& shape) {
  f.taps = Halide::RDom(0, shape.padded_taps / shape.chains, 0, as_int(layer.cin), "taps");
  const Expr k = f.q + shape.chains * f.taps.x;
  f.sums = Halide::Func("sums");
  f.sums(f.n, f.c, f.q, f.g, f.b) =
      f.packed(f.c, shape.padded_taps, 0);  // see kernel.h: zero_of_memory
  f.sums(f.n, f.c, f.q, f.g, f.b) +=
      f.packed(f.c, k, f.taps.y) * f.operand(f.n, k, f.taps.y, f.g, f.b);

  const Expr group = shape.groups == 1 ? Expr(0) : f.c / shape.group_size;
  const auto chain = [&](int q) { return f.sums(f.n, f.c, q, group, f.b); };
  Expr value = chain(0);
  for (int q = 1; q < shape.chains; ++q) value = value + chain(q);
  if (layer.bias) value = value + f.bias(f.c);
  f.out = Halide::Func("y");
  f.out(f.n, f.c, f.b) = strict_float(value);  // the chains are added in this order
  Halide::OutputImageParam buffer = f.out.output_buffer();
  set_dense_shape(buffer, {layer.lout(), layer.cout, layer.n});
}

}  // namespace

Conv1dBankFuncs conv1d_bank(const Conv1dBank& layer, const BankShape& shape,
                            std::int64_t positions) {
  Conv1dBankFuncs funcs;
  declare_buffers(funcs, layer);
  define_phases(funcs, layer, positions);
  define_operand(funcs, layer, shape);
  define_weights(funcs, layer, shape);
  define_output(funcs, layer, shape);
  return funcs;
}

}  // namespace tilewright
