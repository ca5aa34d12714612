// SPDX-License-Identifier: Apache-2.0
// Writes the closed form of a blocked product: the same Work values as its tree, with counts
// (blocked_product_summary.cc), and the ring holds that no order of the engines can shorten
// (blocked_product_rings.cc). Each claim is what makes the bound provable, so each has its reason
// beside it.
#pragma once

#include <cstdint>

#include "schedules/blocked_product.h"

namespace tilewright {

// Flows in the order of the pipeline; the off-chip shares of the loads come last.
enum ProductFlow : std::uint8_t {
  kLoadA,
  kLoadB,
  kFeedA,
  kFeedB,
  kProduct,
  kStore,
  kFetchA,
  kFetchB,
  kProductFlows
};
constexpr std::uint32_t flow_bit(ProductFlow flow) { return 1U << flow; }

struct BlockedProduct::Summarizer {
  Summarizer(const BlockedProduct& product, WorkSummary& summary);
  void write();

 private:
  // An axis as (size, count) pairs: class 0 always exists, class 1 is the tail where it differs.
  struct Sizes {
    std::int64_t size[2], count[2];
    int classes;
    explicit Sizes(const Blocks& axis);
    int last() const { return classes - 1; }
    // The class of least work, where work grows with the size.
    int least() const { return classes - 1; }
  };
  static constexpr std::uint8_t kNone = 0xff;
  // Copies of one operand: terms by size class; full copies and last ones; first sweep and further
  // ones. kNone where there are none.
  struct LoadTerms {
    std::uint8_t term[2][2][2];
    std::uint8_t first = 0;  // of the product
    std::uint8_t last = 0;   // of the product
  };

  Work& add(ProductFlow flow, std::int64_t count, std::uint8_t& term) {
    WorkTerm& next = out.terms.next();
    term = static_cast<std::uint8_t>(out.terms.size() - 1);
    next.count = count;
    next.flow = flow;
    next.work = Work{};
    return next.work;
  }
  void loads(bool a);
  void feeds();
  void products();
  void ways_in();
  void ways_out();

  void rings();
  void block_rings();
  void group_rings();
  void single_slot_rings();
  void refill_rings();
  RingTerm& ring(std::int64_t slots, std::uint32_t flows, std::uint32_t arrivals,
                 ProductFlow before);

  template <std::size_t N>
  void after_product(FixedList<Step, N>& way) const;
  template <std::size_t N>
  void after_feed(FixedList<Step, N>& way) const;
  void feeds_of_last_copy(Way& way, std::int64_t blocks, bool a) const;
  void feed_b_after_feed_a(RingTerm& term) const;

  // From the first to the last feed of `blocks` consecutive blocks, `times` times.
  enum class Span { feeds, products };
  void add_span(RingTerm& term, Span span, std::int64_t blocks, std::int64_t times) const;
  bool has_product_span(std::int64_t blocks) const {
    return p.shape_.db_l0 > 1 && blocks > p.shape_.db_l0;
  }

  bool streams(bool a) const { return a ? !p.shape_.a_in_core && !p.a_kept_ : !p.b_kept_; }
  bool b_loaded_before_a() const { return p.b_kept_ || (!p.a_kept_ && !p.a_is_big_); }
  const LoadTerms& small_loads() const { return p.a_is_big_ ? load_b : load_a; }
  const LoadTerms& big_loads() const { return p.a_is_big_ ? load_a : load_b; }
  const Loads& small() const { return p.a_is_big_ ? p.loads_b_ : p.loads_a_; }
  const Loads& big() const { return p.a_is_big_ ? p.loads_a_ : p.loads_b_; }
  // The feed of the smaller step's operand, of least work.
  std::uint8_t small_feed() const {
    return p.a_is_big_ ? feed_b[n.least()][0] : feed_a[m.least()][0];
  }

  const BlockedProduct& p;
  WorkSummary& out;
  Sizes m, n, k;
  std::int64_t k_full, k_tail;  // blocks of a sweep over k: full ones, short ones (0 or 1)
  std::int64_t tiles;
  LoadTerms load_a, load_b;
  // Terms by size class of m, n, k.
  std::uint8_t feed_a[2][2], feed_b[2][2], prod[2][2][2], store[2][2];
};

template <std::size_t N>
void append(FixedList<Step, N>& way, std::uint8_t term, std::int64_t holds,
            std::int64_t latencies) {
  way.push({term, holds, latencies});
}

// From the last product's result on: the last store.
template <std::size_t N>
void BlockedProduct::Summarizer::after_product(FixedList<Step, N>& way) const {
  append(way, store[m.last()][n.last()], 1, 0);
}
// From the last feed's result on.
template <std::size_t N>
void BlockedProduct::Summarizer::after_feed(FixedList<Step, N>& way) const {
  append(way, prod[m.last()][n.last()][k.last()], 1, 1);
  after_product(way);
}

}  // namespace tilewright
