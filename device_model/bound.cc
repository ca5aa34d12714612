// SPDX-License-Identifier: Apache-2.0
#include "device_model/bound.h"

#include <algorithm>
#include <limits>

namespace tilewright {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct FlowTotals {
  std::int64_t work = 0, latency = 0, off_chip = 0, count = 0;
  NpuEngine engine = NpuEngine::mte2;
  std::int64_t before = 0, after = 0, after_off_chip = 0;
};

class ItemBound {
 public:
  ItemBound(const WorkSummary& summary, const Costing& costing) : summary_(summary) {
    for (std::size_t t = 0; t < summary.terms.size(); ++t) {
      const WorkTerm& term = summary.terms[t];
      const Cost cost = costing.cost(term.work);
      // A result is there a latency after the longest hold, the off-chip one included.
      const std::int64_t drawn_out = std::max<std::int64_t>(0, cost.off_chip_hold - cost.hold);
      costs_[t] = {cost.hold, cost.latency + drawn_out, cost.latency};
      FlowTotals& flow = flows_[term.flow];
      flow.latency += term.count * costs_[t].latency;
      flow.engine = cost.main;
      flow.count += term.count;
      flow.work += term.count * cost.hold;
      flow.off_chip += term.count * cost.off_chip_hold;
    }
    for (std::size_t f = 0; f < summary.flows.size(); ++f) {
      flows_[f].before = sum(summary.flows[f].before);
      flows_[f].after = sum(summary.flows[f].after);
      if (flows_[f].off_chip > 0) {
        flows_[f].after_off_chip = sum(summary.flows[f].after, &TermCost::after_off_chip);
      }
    }
  }

  std::int64_t cycles(BoundDetail* detail) const {
    struct Engine {
      std::int64_t before = kNever, work = 0, after = kNever;
    };
    std::array<Engine, kNpuEngines> engines{};
    const auto add = [&](NpuEngine engine, std::int64_t before, std::int64_t work,
                         std::int64_t after) {
      Engine& e = engines[static_cast<std::size_t>(engine)];
      e.before = std::min(e.before, before);
      e.work += work;
      e.after = std::min(e.after, after);
    };
    for (std::size_t f = 0; f < summary_.flows.size(); ++f) {
      const FlowTotals& flow = flows_[f];
      if (flow.count == 0) continue;
      add(flow.engine, flow.before, flow.work, flow.after);
      if (flow.off_chip > 0) {
        add(NpuEngine::off_chip, flow.before, flow.off_chip, flow.after_off_chip);
      }
    }
    std::int64_t best = 0;
    for (std::size_t e = 0; e < kNpuEngines; ++e) {
      if (engines[e].before == kNever) continue;
      const std::int64_t needed = engines[e].before + engines[e].work + engines[e].after;
      if (detail != nullptr) {
        detail->busy[e] = engines[e].work;
        if (needed > best) detail->engine = static_cast<NpuEngine>(e);
      }
      best = std::max(best, needed);
    }
    const std::int64_t rings = ring_cycles();
    if (detail != nullptr) detail->ring_bound = rings > best;
    return std::max(best, rings);
  }

  std::int64_t latency_of(std::size_t flow) const {
    for (std::size_t t = 0; t < summary_.terms.size(); ++t) {
      if (summary_.terms[t].flow == flow) return costs_[t].latency;
    }
    return 0;
  }

 private:
  struct TermCost {
    std::int64_t hold, latency;
    std::int64_t after_off_chip;  // from the end of its off-chip hold to its result
  };

  template <class Steps>
  std::int64_t sum(const Steps& steps, std::int64_t TermCost::*latency = &TermCost::latency) const {
    std::int64_t total = 0;
    for (const Step& step : steps) {
      const TermCost& cost = costs_[step.term];
      total += step.holds * cost.hold + step.latencies * (cost.*latency);
    }
    return total;
  }

  std::int64_t ring_cycles() const {
    std::int64_t best = 0;
    for (const RingTerm& ring : summary_.rings) {
      std::int64_t holds = sum(ring.extra);
      for (std::size_t f = 0; f < summary_.flows.size(); ++f) {
        if ((ring.flows >> f) & 1U) holds += flows_[f].work;
        if ((ring.arrivals >> f) & 1U) holds += flows_[f].latency;
      }
      best = std::max(best, flows_[ring.before_flow].before + holds / ring.slots + sum(ring.after));
    }
    return best;
  }

  const WorkSummary& summary_;
  std::array<TermCost, 48> costs_;
  std::array<FlowTotals, kMaxFlows> flows_{};
};

std::int64_t evaluate(const WorkSummary& summary, const Costing& costing, BoundDetail* detail) {
  const ItemBound item_bound(summary, costing);
  const std::int64_t item = item_bound.cycles(detail);
  const std::int64_t launch = costing.cost(summary.launch).hold;
  const std::int64_t call = costing.cost(summary.call).hold;
  const std::int64_t pool = costing.cost(summary.pool).hold;
  const std::int64_t result = item_bound.latency_of(summary.result_flow);
  // Everything in the first item waits for the load that comes before it.
  const std::int64_t once = summary.once.empty() ? 0 : costing.cost(summary.once[0]).hold;
  const std::int64_t one = call + item;
  // The cube core's items one after the other; the last one's pooling comes on top.
  std::int64_t cycles = launch + once + summary.items * one + result + pool;
  // A client's items: with one slot in flight the next call waits for the pooling; with more, its
  // vector core works through them one by one.
  const std::int64_t turn = one + result + pool;
  cycles = std::max(cycles, launch + (once + summary.client_items * turn) / summary.client_slots);
  cycles = std::max(cycles, launch + once + one + result + summary.client_items * pool);
  if (detail != nullptr) {
    detail->cycles = cycles;
    detail->item = item;
  }
  return cycles;
}

}  // namespace

std::int64_t bound_cycles(const WorkSummary& summary, const Costing& costing) {
  return evaluate(summary, costing, nullptr);
}

BoundDetail bound_detail(const WorkSummary& summary, const Costing& costing) {
  BoundDetail detail;
  evaluate(summary, costing, &detail);
  return detail;
}

}  // namespace tilewright
