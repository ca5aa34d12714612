// SPDX-License-Identifier: Apache-2.0
// tilewright-emit-conv2d_pool: kernels of conv2d_pool.
#include "generators/conv2d_direct.h"
#include "generators/conv2d_im2col.h"
#include "generators/emission_rules.h"
#include "generators/emit_main.h"

namespace tilewright {
namespace {

std::vector<Halide::Argument> arguments(const Halide::ImageParam& x, const Halide::ImageParam& w,
                                        const Halide::ImageParam& bias, bool has_bias) {
  std::vector<Halide::Argument> list{x, w};
  if (has_bias) list.emplace_back(bias);
  return list;
}

Kernel direct(const Conv2dPool& layer, const Schedule& schedule, const KernelContext& context) {
  Conv2dDirect kernel = conv2d_direct(layer, direct_tile(layer, schedule));
  if (context.scheduled) {
    apply_schedule(kernel, layer, schedule, as_int(vector_elements(schedule, context.vector)));
  } else {
    default_schedule(kernel);
  }
  return {arguments(kernel.x, kernel.w, kernel.bias, layer.bias), kernel.out};
}

Kernel im2col(const Conv2dPool& layer, const Schedule& schedule, const KernelContext& context) {
  const Im2colShape shape = im2col_shape(layer, schedule[Knob::rows]);
  Conv2dIm2col kernel = conv2d_im2col(layer, shape);
  if (context.scheduled) {
    apply_schedule(kernel, layer, shape, schedule, context);
  } else {
    default_schedule(kernel);
  }
  return {arguments(kernel.x, kernel.w, kernel.bias, layer.bias), kernel.out};
}

Kernel build(const Workload& workload, const Schedule& schedule, const KernelContext& context) {
  const Conv2dPool& layer = std::get<Conv2dPool>(workload);
  return schedule.variant == Variant::im2col ? im2col(layer, schedule, context)
                                             : direct(layer, schedule, context);
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  return tilewright::emit_main(argc, argv,
                               {.program = "tilewright-emit-conv2d_pool",
                                .operator_name = "conv2d_pool",
                                .build = tilewright::build});
}
