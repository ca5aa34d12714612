// SPDX-License-Identifier: Apache-2.0
// The closed form of the filter bank's program: totals per engine, and the ways and ring holds that
// no luck with the engines can shorten. Every engine works its operations off in program order, so
// along a ring the holds of a slot's fills, each as long as its chain of operations, fit into
// `slots` times the time between the first and the last.
#include "schedules/conv1d_mxu_lowering.h"

namespace tilewright {
namespace {

enum FlowIndex : std::uint8_t {
  kLoad,
  kGather,
  kVector,
  kTurn,
  kProduct,
  kTurnOut,
  kStore,
  kFlows
};
constexpr std::uint32_t bit(FlowIndex flow) { return 1U << flow; }

class Summarizer {
 public:
  Summarizer(const BankPlan& plan, WorkSummary& out) : p_(plan), works_(plan), out_(out) {
    out.clear();
    for (int f = 0; f < kFlows; ++f) {
      Flow& flow = out.flows.next();
      flow.before.clear();
      flow.after.clear();
    }
    tiles_ = p_.full_tiles + (p_.tail > 0);
    gathers_ = p_.variant == Variant::lane_masked ? 0
               : p_.rebuilds                      ? p_.groups * p_.filter_blocks * p_.products
                                                  : p_.groups;
    products_ = p_.variant == Variant::lane_masked ? 1 : gathers_;
    all_tiles_ = tiles_ * p_.batches;
  }

  void run() {
    load_w_ = add(kLoad, works_.load_weights(), 1);
    split_w_ = add(kVector, works_.split_weights(), 1);
    if (p_.full_tiles > 0) terms(p_.m_tile, p_.full_tiles * p_.batches, first_);
    if (p_.tail > 0) terms(p_.tail, p_.batches, last_);
    if (p_.full_tiles == 0) first_ = last_;
    if (p_.tail == 0) last_ = first_;
    ways_in();
    ways_out();
    rings();
  }

 private:
  // Terms of a tile of one size. Of several lengths of vector work `vector` is the shortest.
  struct Tile {
    std::uint8_t load = 0, split = 0, gather = 0, vector = 0, turn = 0, product = 0, turn_out = 0,
                 store = 0;
  };

  std::uint8_t add(FlowIndex flow, const Work& work, std::int64_t count) {
    WorkTerm& term = out_.terms.next();
    term.work = work;
    term.count = count;
    term.flow = flow;
    return static_cast<std::uint8_t>(out_.terms.size() - 1);
  }

  void terms(std::int64_t positions, std::int64_t count, Tile& tile) {
    tile.load = add(kLoad, works_.load(positions), count);
    if (!p_.folded) {
      tile.split = add(kVector, works_.split(positions), count);
    } else if (!p_.rebuilds) {
      tile.vector = add(kVector, works_.fold(positions), count * gathers_);
    } else {
      for (int part = static_cast<int>(p_.parts) - 1; part >= 0; --part) {
        tile.vector = add(kVector, works_.fold_part(positions, part),
                          count * p_.groups * p_.filter_blocks * p_.terms->uses_of_x(part));
      }
    }
    if (p_.folded) tile.gather = add(kGather, works_.prepare(positions), count * gathers_);
    if (p_.variant == Variant::compact_k)
      tile.gather = add(kGather, works_.rebuild(positions), count * gathers_);
    if (p_.channel_major) {
      tile.turn = add(kTurn, works_.transpose_parts(positions), count * gathers_);
    } else {
      tile.turn_out = add(kTurnOut, works_.transpose_result(positions), count);
    }
    tile.product = add(kProduct, works_.product(positions), count * products_);
    tile.store = add(kStore, works_.store(positions), count);
  }

  // From the start to the first operation of each flow, along the first tile.
  void ways_in() {
    Way way;
    way.clear();
    way.push({load_w_, 1, 0});
    out_.flows[kVector].before = way;
    out_.flows[kVector].before.push({load_w_, 0, 1});
    way.push({first_.load, 1, 1});
    if (!p_.folded) way.push({first_.split, 1, 0});
    out_.flows[kGather].before = way;
    if (gathers_ > 0) way.push({first_.gather, 1, 1});
    if (p_.folded) way.push({first_.vector, 1, 0});
    out_.flows[kTurn].before = way;
    if (p_.channel_major) way.push({first_.turn, 1, 0});
    out_.flows[kProduct].before = way;
    way.push({first_.product, products_, 0});
    out_.flows[kTurnOut].before = way;
    if (!p_.channel_major) way.push({first_.turn_out, 1, 0});
    out_.flows[kStore].before = way;
  }

  // From the last operation of each flow to the end, along the last tile.
  void ways_out() {
    Way way;
    way.clear();
    way.push({last_.store, 0, 1});
    out_.flows[kStore].after = way;
    way.push({last_.store, 1, 0});
    out_.flows[kTurnOut].after = way;
    if (!p_.channel_major) way.push({last_.turn_out, 1, 0});
    out_.flows[kProduct].after = way;
    Way to_product = way;
    to_product.push({last_.product, 1, 0});
    out_.flows[kTurn].after = to_product;
    if (p_.channel_major) to_product.push({last_.turn, 1, 0});
    // Where nothing is gathered the tile's split is the last vector work.
    if (p_.variant == Variant::compact_k) {
      out_.flows[kVector].after = way;
      out_.flows[kVector].after.push({last_.gather, gathers_, 0});
      out_.flows[kVector].after.push({last_.product, 1, 0});
    } else {
      out_.flows[kVector].after = to_product;
    }
    if (p_.folded) to_product.push({last_.vector, 1, 0});
    out_.flows[kGather].after = to_product;
    if (gathers_ > 0) {
      out_.flows[kGather].after.push({last_.gather, 0, 1});
      to_product.push({last_.gather, gathers_, 1});
    }
    if (!p_.folded) to_product.push({last_.split, 1, 0});
    out_.flows[kLoad].after = to_product;
    out_.flows[kLoad].after.push({last_.load, 0, 1});
  }

  RingTerm& ring(std::int64_t slots, std::uint32_t flows, FlowIndex before) {
    RingTerm& term = out_.rings.next();
    term.slots = slots;
    term.flows = flows;
    term.before_flow = before;
    term.extra.clear();
    term.after.clear();
    term.if_exclusive = false;
    return term;
  }
  std::int64_t tiles_of(bool last) const {
    if (p_.full_tiles == 0 || p_.tail == 0) return last ? 0 : all_tiles_;
    return last ? p_.batches : p_.full_tiles * p_.batches;
  }
  // Work of a tile's operation, `times` times a tile (or taken off), over all tiles.
  void per_tile(RingTerm& term, std::uint8_t Tile::*which, std::int64_t times,
                std::int64_t latencies = 0) {
    for (const bool last : {false, true}) {
      if (tiles_of(last) > 0)
        term.extra.push(
            {(last ? last_ : first_).*which, times * tiles_of(last), latencies * tiles_of(last)});
    }
  }
  void latency_of_loads(RingTerm& term) { term.extra.push({first_.load, 0, all_tiles_}); }
  void until_the_end(RingTerm& term, bool product, bool turn_out, bool store) {
    if (product) term.after.push({last_.product, 1, 0});
    if (turn_out && !p_.channel_major) term.after.push({last_.turn_out, 1, 0});
    if (store) term.after.push({last_.store, 1, 1});
  }

  // The raw window: its load, then all that reads it, one after the other on one engine.
  void raw_ring() {
    RingTerm& raw = ring(p_.stages, bit(kLoad) | bit(kGather), kLoad);
    latency_of_loads(raw);
    if (!p_.folded) per_tile(raw, &Tile::split, 1);
    if (p_.folded) per_tile(raw, &Tile::gather, 0, 1);
    until_the_end(raw, true, true, true);
    if (!p_.folded || gathers_ <= p_.prep_groups) return;
    // A gather waits until the group `prep_groups` before it has left its registers.
    const std::int64_t turns = (gathers_ - 1) / p_.prep_groups;
    RingTerm& chain = ring(p_.stages, bit(kLoad), kLoad);
    latency_of_loads(chain);
    per_tile(chain, &Tile::gather, turns + 1, turns + 1);
    per_tile(chain, &Tile::vector, turns);
    if (p_.channel_major) per_tile(chain, &Tile::turn, turns);
    until_the_end(chain, true, true, true);
  }

  void group_ring() {
    if (!p_.folded) return;
    const std::uint32_t flows = bit(kGather) | bit(kVector) | (p_.channel_major ? bit(kTurn) : 0U);
    RingTerm& group = ring(p_.prep_groups, flows, kGather);
    group.extra.push({split_w_, -1, 0});
    per_tile(group, &Tile::gather, 0, gathers_);
    until_the_end(group, true, true, true);
  }

  // Stages are held from the first gather to the last product; a queue's slot from the vector or
  // permute unit to its product.
  void stage_ring() {
    if (p_.variant == Variant::lane_masked || p_.rebuilds) {
      const bool gathered = p_.variant == Variant::compact_k;
      RingTerm& queue = ring(p_.stages, bit(kProduct) | bit(gathered ? kGather : kVector),
                             gathered ? kGather : kVector);
      if (!gathered) queue.extra.push({split_w_, -1, 0});
      until_the_end(queue, false, true, true);
      return;
    }
    // All gathers and the way of the last one, or the way of the first one and all products.
    const auto turn = [&](RingTerm& term, std::int64_t times) {
      if (p_.channel_major) per_tile(term, &Tile::turn, times);
    };
    RingTerm& gathers = ring(p_.stages, bit(kGather), kGather);
    per_tile(gathers, &Tile::gather, 0, 1);
    per_tile(gathers, &Tile::vector, 1);
    turn(gathers, 1);
    per_tile(gathers, &Tile::product, 1);
    until_the_end(gathers, false, true, true);
    RingTerm& products = ring(p_.stages, bit(kProduct), kGather);
    per_tile(products, &Tile::gather, 1, 1);
    per_tile(products, &Tile::vector, 1);
    turn(products, 1);
    until_the_end(products, false, true, true);
    if (!p_.channel_major) return;
    // Where they exclude each other, transposes and products of a tile alternate.
    RingTerm& alternating = ring(p_.stages, bit(kProduct) | bit(kTurn), kGather);
    per_tile(alternating, &Tile::gather, 1, 1);
    per_tile(alternating, &Tile::vector, 1);
    until_the_end(alternating, false, true, true);
    alternating.if_exclusive = true;
  }

  void result_rings() {
    const auto latency_of_stores = [&](RingTerm& term) {
      term.extra.push({last_.store, 0, all_tiles_});
    };
    if (p_.channel_major) {
      latency_of_stores(ring(p_.stages, bit(kProduct) | bit(kStore), kProduct));
      return;
    }
    until_the_end(ring(p_.stages, bit(kProduct) | bit(kTurnOut), kProduct), false, false, true);
    latency_of_stores(ring(p_.stages, bit(kTurnOut) | bit(kStore), kTurnOut));
  }

  void rings() {
    raw_ring();
    group_ring();
    stage_ring();
    result_rings();
  }

  const BankPlan& p_;
  BankWorks works_;
  WorkSummary& out_;
  Tile first_, last_;  // first and last tile of a batch
  std::uint8_t load_w_ = 0, split_w_ = 0;
  std::int64_t tiles_ = 0, all_tiles_ = 0;
  std::int64_t gathers_ = 0, products_ = 0;  // operations of a tile
};

}  // namespace

void summarize_bank(const Conv1dBank& workload, const Schedule& schedule, const Limits& limits,
                    WorkSummary& summary) {
  const BankPlan plan(workload, schedule, limits);
  Summarizer(plan, summary).run();
}

}  // namespace tilewright
