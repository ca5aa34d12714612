// SPDX-License-Identifier: Apache-2.0
// Random feasible `blocked` schedules of matrix products of every sort.
#pragma once

#include <random>
#include <vector>

#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright::test {

// The public shape, and others: tails on every axis, rows off the 32 B grid, fewer rows than cores
// could take, one block.
const std::vector<Workload>& matmul_workloads();
Schedule random_blocked(std::mt19937_64& random, const Workload& workload, const Limits& limits);

}  // namespace tilewright::test
