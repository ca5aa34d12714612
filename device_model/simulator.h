// SPDX-License-Identifier: Apache-2.0
// Runs a SimProgram: exact integer times, memory and time independent of loop counts where a loop
// reaches a steady state. Reusable: running another program allocates nothing in steady state.
#pragma once

#include <array>
#include <cstdint>
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
    // Tests only: leave out one of the rules that make jumps exact.
    enum class Ablation : std::uint8_t {
      none,
      first_iteration,
      slots,
      germ_limit,
      live_engines
    } ablation{};
  };

  // The end: the latest done of all operations and the latest hold. Precondition: no
  // defect_of(program).
  std::int64_t run(const SimProgram& program) { return run(program, Options{}); }
  std::int64_t run(const SimProgram& program, const Options& options);
  // The same with busy and stall times per engine: busy + stalls = end, for every engine.
  std::int64_t run_with_stalls(const SimProgram& program, std::vector<EngineTimes>& times,
                               const Options& options);
  const SimStatistics& statistics() const { return statistics_; }

  // After a run: the state that a continuation would see. Times of slots that no continuation can
  // notice are lower bounds; see live.
  std::int64_t engine_time(std::size_t engine) const { return engine_[engine]; }

 private:
  struct RingState {
    std::int32_t slots = 1, base = 0, head = 0;  // head: the slot that the next take binds
  };
  // What an iteration of a loop's body touches.
  struct LoopFacts {
    std::uint32_t engines = 0;          // a bit each
    std::uint32_t taken = 0, used = 0;  // rings, a bit each
    std::array<std::uint64_t, kMaxRings> read_write{},
        filled{};  // lags accessed, lags written (rings not taken)
    bool has_loop = false;
  };

  void prepare(const SimProgram& program);
  template <bool kStalls>
  void execute(const SimOp& op);
  template <bool kStalls>
  void run_range(std::int32_t begin, std::int32_t end);
  template <bool kStalls>
  void run_loop(std::int32_t loop);

  const SimProgram* program_ = nullptr;
  Options options_;
  SimStatistics statistics_;
  std::array<std::int64_t, kMaxEngines> engine_{};
  std::array<RingState, kMaxRings> rings_{};
  std::vector<std::int64_t> filled_, free_;  // F and R of all slots
  std::int64_t latest_ = 0;                  // done
  std::array<EngineTimes, kMaxEngines> times_{};
};

}  // namespace tilewright
