// SPDX-License-Identifier: Apache-2.0
// Runs a SimProgram: exact integer times, memory and time independent of loop counts where a loop
// reaches a steady state. Reusable: running another program allocates nothing in steady state.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "device_model/sim_program.h"

namespace tilewright {

// Why an engine did not work.
enum class Stall : std::uint8_t {
  input_not_there,  // a slot to be read was not filled
  slot_not_free,    // a slot to be taken was still in use
  engine_busy,      // another engine that the operation needs was busy
  excluded,         // a mutually exclusive engine was busy
  call,             // held by the kernel's head or a synchronous call
  finished,         // nothing left to do until the end of the core
};
inline constexpr std::size_t kStallCount = 6;
const char* stall_name(Stall stall);

struct EngineTimes {
  std::int64_t busy = 0;
  std::array<std::int64_t, kStallCount> stalls{};
  friend bool operator==(const EngineTimes&, const EngineTimes&) = default;
};

struct SimStatistics {
  std::int64_t executed = 0;  // operations, those of trial walks included
  std::int64_t uniform_jumps = 0, germ_jumps = 0;
  std::int64_t skipped = 0;  // iterations
};

class Simulator {
 public:
  struct Options {
    bool uniform_jumps = true;
    bool germ_jumps = true;
    // For tests: leaves out one of the rules that make jumps exact.
    enum class Ablation : std::uint8_t {
      none,
      first_iteration,  // compare with the state before the loop
      slots,            // compare engine times only
      resting_engines,  // call a release time unnoticed because of an engine that the loop does not
                        // touch
      germ_limit,       // skip all periods, whoever wins the maxima
    } ablation = Ablation::none;
  };

  Simulator();
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  // The end: the latest done of all operations. Precondition: no defect_of(program).
  std::int64_t run(const SimProgram& program) {
    return run(program, Options{true, true, Options::Ablation::none});
  }
  std::int64_t run(const SimProgram& program, const Options& options);
  // The same with busy and stall times: busy + stalls = end, for every engine.
  std::int64_t run_with_stalls(const SimProgram& program, const Options& options,
                               std::vector<EngineTimes>& times);

  // Of the last run.
  std::int64_t engine_time(std::size_t engine) const;  // when the engine was free at the end
  SimStatistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright
