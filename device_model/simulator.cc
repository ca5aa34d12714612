// SPDX-License-Identifier: Apache-2.0
#include "device_model/simulator.h"

#include "device_model/walker_germ.h"

namespace tilewright {

const char* stall_name(Stall stall) {
  static constexpr const char* kNames[kStallCount] = {
      "input_not_there", "slot_not_free", "engine_busy", "excluded", "call", "finished"};
  return kNames[static_cast<std::size_t>(stall)];
}

struct Simulator::State {
  SimFacts facts;
  Walker<std::int64_t, false> walker;
  Walker<std::int64_t, true> stall_walker;
  Walker<Germ, false> germ_walker;
  Walker<Germ, true> germ_stall_walker;
  bool with_stalls = false;

  State() {
    walker.set_germ_walker(&germ_walker);
    stall_walker.set_germ_walker(&germ_stall_walker);
  }

  template <class W>
  std::int64_t run(W& which, const SimProgram& program, const Options& options) {
    facts.prepare(program);
    which.start(facts, options);
    which.run_range(0, static_cast<std::int32_t>(program.nodes.size()));
    return which.latest();
  }
};

Simulator::Simulator() : state_(std::make_unique<State>()) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

std::int64_t Simulator::run(const SimProgram& program, const Options& options) {
  state_->with_stalls = false;
  return state_->run(state_->walker, program, options);
}

std::int64_t Simulator::run_with_stalls(const SimProgram& program, const Options& options,
                                        std::vector<EngineTimes>& times) {
  state_->with_stalls = true;
  const std::int64_t end = state_->run(state_->stall_walker, program, options);
  times.clear();
  for (std::size_t e = 0; e < program.engines; ++e) {
    const auto& walked = state_->stall_walker.times()[e];
    EngineTimes& out = times.emplace_back(EngineTimes{walked.busy, walked.stalls});
    out.stalls[static_cast<std::size_t>(Stall::finished)] += end - state_->stall_walker.engine(e);
  }
  return end;
}

std::int64_t Simulator::engine_time(std::size_t engine) const {
  return state_->with_stalls ? state_->stall_walker.engine(engine) : state_->walker.engine(engine);
}

SimStatistics Simulator::statistics() const {
  return state_->with_stalls ? state_->stall_walker.statistics() : state_->walker.statistics();
}

}  // namespace tilewright
