// SPDX-License-Identifier: Apache-2.0
// Random feasible im2col schedules over shapes of every sort.
#pragma once

#include <random>
#include <vector>

#include "schedules/limits.h"
#include "schedules/schedule.h"
#include "schedules/workload.h"

namespace tilewright::test {

// The reference shapes, and others: tails on every axis, one channel block, stride, padding,
// dilation, 1x1, Kh != Kw, few input channels, more items than cores and fewer.
const std::vector<Workload>& im2col_workloads();
Schedule random_im2col(std::mt19937_64& random, const Workload& workload, const Limits& limits);

}  // namespace tilewright::test
