// SPDX-License-Identifier: Apache-2.0
// tilewright-emit-conv1d_bank: kernels of conv1d_bank.
#include "generators/conv1d_bank.h"
#include "generators/emission_rules.h"
#include "generators/emit_main.h"

namespace tilewright {
namespace {

Kernel build(const Workload& workload, const Schedule& schedule, const KernelContext& context) {
  const Conv1dBank& layer = std::get<Conv1dBank>(workload);
  const BankShape shape = bank_shape(layer, schedule);
  const BankTiles tiles =
      bank_tiles(layer, schedule, as_int(vector_elements(schedule, context.vector)));
  Conv1dBankFuncs funcs = conv1d_bank(layer, shape, tiles.covered);
  if (context.scheduled) {
    apply_schedule(funcs, layer, shape, tiles, schedule);
  } else {
    default_schedule(funcs);
  }
  std::vector<Halide::Argument> arguments{funcs.x, funcs.w};
  if (layer.bias) arguments.emplace_back(funcs.bias);
  return {arguments, funcs.out};
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  return tilewright::emit_main(argc, argv,
                               {.program = "tilewright-emit-conv1d_bank",
                                .operator_name = "conv1d_bank",
                                .build = tilewright::build});
}
