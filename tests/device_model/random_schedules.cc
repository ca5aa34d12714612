// SPDX-License-Identifier: Apache-2.0
#include "random_schedules.h"

#include <algorithm>

#include "devices.h"
#include "schedules/conv2d_pool.h"
#include "schedules/space.h"

namespace tilewright::test {

const std::vector<Workload>& im2col_workloads() {
  static const std::vector<Workload> workloads = [] {
    std::vector<Workload> all;
    for (const char* key : {
             "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:2,dtype:fp16",
             "conv2d_pool/n:1,cin:256,h:224,w:224,cout:256,kh:3,kw:3,pool:1,dtype:fp32",
             "conv2d_pool/n:4,cin:128,h:32,w:16,cout:128,kh:3,kw:3,pool:2,dtype:fp16",
             "conv2d_pool/n:4,cin:128,h:32,w:16,cout:128,kh:3,kw:3,pool:1,dtype:fp32",
             "conv2d_pool/n:1,cin:64,h:56,w:56,cout:64,kh:3,kw:3,pool:1,dtype:fp16,pad:1",
             "conv2d_pool/n:2,cin:3,h:57,w:61,cout:72,kh:7,kw:7,pool:1,dtype:fp16,stride:2,pad:3",
             "conv2d_pool/n:3,cin:40,h:29,w:35,cout:200,kh:1,kw:3,pool:3,dtype:fp32",
             "conv2d_pool/n:8,cin:512,h:14,w:14,cout:100,kh:1,kw:1,pool:1,dtype:fp16",
             "conv2d_pool/n:1,cin:96,h:30,w:40,cout:16,kh:3,kw:5,pool:2,dtype:fp16,dil:2",
         }) {
      all.push_back(workload(key));
    }
    return all;
  }();
  return workloads;
}

Schedule random_im2col(std::mt19937_64& random, const Workload& w, const Limits& limits) {
  const auto& conv = std::get<Conv2dPool>(w);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    const auto span = static_cast<std::uint64_t>(std::max(low, high) - low + 1);
    return static_cast<std::int32_t>(low + static_cast<std::int64_t>(random() % span));
  };
  const std::int64_t depth = round_up(reduction_length(conv), 16) / 16;
  Schedule s = value_of(hand_schedule(w, Variant::im2col, limits));
  while (true) {
    s[Knob::rows] = static_cast<std::int32_t>(conv.pool) * pick(1, 12 / conv.pool);
    s[Knob::base_m] = 16 * pick(1, round_up(conv.cout, 16) / 16);
    s[Knob::base_n] =
        16 * pick(1, std::min<std::int64_t>(64, s[Knob::rows] * padded_row(conv) / 16));
    s[Knob::base_k] = 16 * pick(1, std::min<std::int64_t>(24, depth));
    s[Knob::step_ka] = pick(1, pick(0, 3) ? 12 : 40);
    s[Knob::step_kb] = pick(0, 3) ? pick(1, 12) : s[Knob::step_ka];
    s[Knob::load] = pick(0, 1);
    s[Knob::order] = pick(0, 1);
    s[Knob::deal] = pick(0, 1);
    s[Knob::deal_stride] = pick(0, 7) ? 0 : pick(1, 40);
    s[Knob::db_l0] = pick(1, 2);
    s[Knob::db_l0c] = pick(1, 2);
    s[Knob::l1] = pick(1, 2);
    s[Knob::async] = pick(0, 3) ? 1 : 2;
    s[Knob::split_m] = pick(0, 3) ? 1 : pick(1, 3);
    s[Knob::weights] = pick(0, 7) ? word::stream : word::resident;
    if (first_violation(w, s, limits) == nullptr) return s;
  }
}

}  // namespace tilewright::test
