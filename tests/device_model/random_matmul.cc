// SPDX-License-Identifier: Apache-2.0
#include "random_matmul.h"

#include <algorithm>

#include "devices.h"
#include "schedules/matmul_npu.h"
#include "schedules/space.h"

namespace tilewright::test {

const std::vector<Workload>& matmul_workloads() {
  static const std::vector<Workload> workloads = [] {
    std::vector<Workload> all;
    for (const char* key : {
             "matmul/m:8192,n:8192,k:8192,dtype:fp16,trans_b:1",
             "matmul/m:8192,n:8192,k:8192,dtype:fp16",
             "matmul/m:1000,n:3000,k:700,dtype:fp16",
             "matmul/m:1000,n:3000,k:700,dtype:fp32,trans_b:1",
             "matmul/m:4096,n:512,k:1024,dtype:bf16",
             "matmul/m:100,n:4096,k:4096,dtype:fp16,trans_b:1",
             "matmul/m:16384,n:80,k:333,dtype:fp32",
             "matmul/m:50000,n:40000,k:30000,dtype:fp16",
             "matmul/m:16,n:16,k:16,dtype:fp16",
         }) {
      all.push_back(workload(key));
    }
    return all;
  }();
  return workloads;
}

Schedule random_blocked(std::mt19937_64& random, const Workload& w, const Limits& limits) {
  const auto& product = std::get<Matmul>(w);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    const auto span = static_cast<std::uint64_t>(std::max(low, high) - low + 1);
    return static_cast<std::int32_t>(low + static_cast<std::int64_t>(random() % span));
  };
  const auto blocks = [&](std::int64_t extent, std::int64_t most) {
    return 16 * pick(1, std::min(most, ceil_div(extent, 16)));
  };
  Schedule s = value_of(hand_schedule(w, Variant::blocked, limits));
  while (true) {
    s[Knob::cores_m] = pick(1, std::min(limits.cube_cores, ceil_div(product.m, 16)));
    const std::int64_t rest = limits.cube_cores / s[Knob::cores_m];
    s[Knob::cores_n] = pick(1, std::min(rest, ceil_div(product.n, 16)));
    const CoreGrid grid(product, s);
    s[Knob::base_m] = blocks(grid.single_m, pick(0, 1) ? 16 : 40);
    s[Knob::base_n] = blocks(grid.single_n, pick(0, 1) ? 16 : 40);
    s[Knob::base_k] = blocks(product.k, 24);
    s[Knob::step_ka] = pick(1, pick(0, 3) ? 12 : 40);
    s[Knob::step_kb] = pick(0, 3) ? pick(1, 12) : s[Knob::step_ka];
    s[Knob::load] = pick(0, 1);
    s[Knob::order] = pick(0, 1);
    s[Knob::db_l0] = pick(1, 2);
    s[Knob::db_l0c] = pick(1, 2);
    s[Knob::l1] = pick(1, 2);
    if (first_violation(w, s, limits) == nullptr) return s;
  }
}

}  // namespace tilewright::test
