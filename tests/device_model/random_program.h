// SPDX-License-Identifier: Apache-2.0
// Random simulator programs, and a second interpreter that shares nothing with the simulator but
// its input.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "device_model/sim_program.h"
#include "device_model/simulator.h"

namespace tilewright::test {

struct ProgramShape {
  int deepest = 4;                     // nested loops
  std::int64_t most_executed = 20000;  // operations, walked
  int most_slots = 3;
  std::int64_t longest = 60;  // hold or latency
  bool all_taken = false;     // every slot is taken once before anything else
  bool long_loops = false;    // one loop of hundreds of iterations at the top
};

// No defect_of() the result: one engine takes all slots of a ring, lags fit.
SimProgram random_program(std::mt19937_64& random, const ProgramShape& shape);

struct Interpreted {
  std::int64_t end = 0;
  std::vector<std::int64_t> engines;  // free at
  std::vector<EngineTimes> times;
};
// By the text of sim_program.h, in the plainest way: every take gets a record of its own, slot =
// take number mod slots.
Interpreted interpret(const SimProgram& program);

std::int64_t executed_operations(const SimProgram& program);

}  // namespace tilewright::test
