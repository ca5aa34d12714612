// SPDX-License-Identifier: Apache-2.0
#include "device_model/mxu_bound.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace tilewright {
namespace {

class Evaluation {
 public:
  Evaluation(const WorkSummary& summary, const MxuCosting& costing)
      : summary_(summary), exclusive_(costing.exclusive()) {
    for (std::size_t t = 0; t < summary.terms.size(); ++t) {
      const WorkTerm& term = summary.terms[t];
      costs_[t] = costing.cost(term.work);
      flows_[term.flow].work += term.count * costs_[t].hold;
      flows_[term.flow].engines |= costs_[t].engines;
    }
  }

  MxuBound bound() const {
    MxuBound result;
    std::array<std::int64_t, kMxuEngines> before, after;
    before.fill(std::numeric_limits<std::int64_t>::max());
    after = before;
    for (std::size_t f = 0; f < summary_.flows.size(); ++f) {
      const std::int64_t way_in = sum(summary_.flows[f].before);
      const std::int64_t way_out = sum(summary_.flows[f].after);
      for (std::uint32_t engines = flows_[f].engines; engines != 0; engines &= engines - 1) {
        const auto e = static_cast<std::size_t>(std::countr_zero(engines));
        result.busy[e] += flows_[f].work;
        before[e] = std::min(before[e], way_in);
        after[e] = std::min(after[e], way_out);
      }
    }
    for (std::size_t e = 0; e < kMxuEngines; ++e) {
      if (result.busy[e] > 0)
        result.ticks = std::max(result.ticks, before[e] + result.busy[e] + after[e]);
    }
    const std::int64_t rings = ring_ticks();
    result.ring_bound = rings > result.ticks;
    result.ticks = std::max(result.ticks, rings);
    return result;
  }

 private:
  struct FlowTotal {
    std::int64_t work = 0;
    std::uint32_t engines = 0;
  };

  template <class Steps>
  std::int64_t sum(const Steps& steps) const {
    std::int64_t total = 0;
    for (const Step& step : steps) {
      const MxuCost& cost = costs_[step.term];
      total += step.holds * cost.hold + step.latencies * cost.latency;
    }
    return total;
  }

  std::int64_t ring_ticks() const {
    std::int64_t best = 0;
    for (const RingTerm& ring : summary_.rings) {
      if (ring.if_exclusive && !exclusive_) continue;
      std::int64_t holds = sum(ring.extra);
      for (std::size_t f = 0; f < summary_.flows.size(); ++f) {
        if ((ring.flows >> f) & 1U) holds += flows_[f].work;
      }
      const std::int64_t way_in = sum(summary_.flows[ring.before_flow].before);
      best = std::max(best, way_in + holds / ring.slots + sum(ring.after));
    }
    return best;
  }

  const WorkSummary& summary_;
  bool exclusive_;
  std::array<MxuCost, 48> costs_;
  std::array<FlowTotal, kMaxFlows> flows_{};
};

}  // namespace

MxuBound mxu_bound(const WorkSummary& summary, const MxuCosting& costing) {
  return Evaluation(summary, costing).bound();
}

}  // namespace tilewright
