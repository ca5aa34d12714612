// SPDX-License-Identifier: Apache-2.0
// Rates of the model on the three reference schedules (im2col, large fp16, pool 2, ascend_910b4),
// one core.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "device_model/costed_program.h"
#include "device_model/costing.h"
#include "device_model/model.h"
#include "device_model/simulator.h"
#include "schedules/conv2d_im2col_lowering.h"

namespace tilewright {
namespace {

constexpr const char* kWorkload =
    "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16";
constexpr const char* kSchedules[] = {
    "im2col/base_m:128,base_n:256,base_k:64,rows:6,load:norm",
    "im2col/base_m:128,base_n:256,base_k:64,rows:6,load:mdl,step_ka:8",
    "im2col/"
    "base_m:112,base_n:144,base_k:80,rows:10,load:mdl,step_ka:4,step_kb:2,order:n,deal:cube_first,"
    "db_l0c:2",
};
constexpr const char* kNames[] = {"norm_128x256x64", "mdl_8_1", "odd_sizes"};

template <class T>
T checked(Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << result.error().message << "\n";
  std::exit(1);
}

struct Reference {
  Workload workload = checked(parse_workload_key(kWorkload));
  Device device = checked(
      load_device("ascend_910b4", std::string(TILEWRIGHT_SOURCE_DIR) + "/device_model/devices"));
  Limits limits = limits_of(device);
  Schedule schedule;

  explicit Reference(const benchmark::State& state)
      : schedule(checked(parse_schedule(kSchedules[state.range(0)], workload, DeviceKind::npu))) {}
  const Conv2dPool& conv() const { return std::get<Conv2dPool>(workload); }
};

void report(benchmark::State& state) {
  state.SetLabel(kNames[state.range(0)]);
  state.SetItemsProcessed(state.iterations());
}

void bound(benchmark::State& state) {
  const Reference r(state);
  CostModel model(r.workload, r.device);
  for (auto _ : state) benchmark::DoNotOptimize(model.bound_cycles(r.schedule));
  report(state);
}

void build_tree(benchmark::State& state) {
  const Reference r(state);
  TileProgram program;
  for (auto _ : state) {
    lower_im2col(r.conv(), r.schedule, r.limits, program);
    benchmark::DoNotOptimize(program.nodes().data());
  }
  report(state);
}

// The program of a core with `items` items, simulated; lowering not included.
void simulate_core(benchmark::State& state, std::int64_t items, bool jumps) {
  const Reference r(state);
  TileProgram program;
  lower_im2col(r.conv(), r.schedule, r.limits, program, items);
  SimProgram costed;
  cost_program(program, Costing(r.device), costed);
  Simulator simulator;
  Simulator::Options options;
  options.uniform_jumps = options.germ_jumps = jumps;
  for (auto _ : state) benchmark::DoNotOptimize(simulator.run(costed, options));
  state.counters["operations"] = static_cast<double>(simulator.statistics().executed);
  report(state);
}
void simulate_item(benchmark::State& state) { simulate_core(state, 1, true); }
void walk_item(benchmark::State& state) { simulate_core(state, 1, false); }

// As the search does it: lowering, costing, simulation of the busiest core.
void simulate_operator(benchmark::State& state) {
  const Reference r(state);
  CostModel model(r.workload, r.device);
  for (auto _ : state) benchmark::DoNotOptimize(model.simulated_cycles(r.schedule));
  report(state);
}

BENCHMARK(bound)->DenseRange(0, 2);
BENCHMARK(build_tree)->DenseRange(0, 2);
BENCHMARK(simulate_item)->DenseRange(0, 2);
BENCHMARK(walk_item)->DenseRange(0, 2);
BENCHMARK(simulate_operator)->DenseRange(0, 2);

}  // namespace
}  // namespace tilewright
