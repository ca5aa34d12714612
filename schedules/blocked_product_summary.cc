// SPDX-License-Identifier: Apache-2.0
// The closed form of a blocked product: the same Work values as its tree, with counts, and the ways
// and ring holds that no schedule of the engines can shorten. Each claim is what makes the bound
// provable, so each has its reason beside it.
#include <algorithm>

#include "schedules/blocked_product.h"

namespace tilewright {
namespace {

enum FlowIndex : std::uint8_t {
  kLoadA,
  kLoadB,
  kFeedA,
  kFeedB,
  kProduct,
  kStore,
  kFetchA,
  kFetchB,
  kFlowCount
};
constexpr std::uint32_t bit(FlowIndex flow) { return 1U << flow; }

template <std::size_t N>
void append(FixedList<Step, N>& way, std::uint8_t term, std::int64_t holds,
            std::int64_t latencies) {
  way.push({term, holds, latencies});
}

}  // namespace

struct BlockedProduct::Summarizer {
  const BlockedProduct& p;
  WorkSummary& out;
  // Terms by size class: 0 = the first block of an axis, 1 = the tail where it differs.
  std::uint8_t load_a0 = 0, load_b0 = 0, load_al = 0,
               load_bl = 0;     // first of the product, last of it
  std::uint8_t load_b[2][2]{};  // by size class; full copies and last ones
  std::uint8_t feed_a[2][2]{}, feed_b[2][2]{}, prod[2][2][2]{}, store[2][2]{};
  std::int64_t k_full, k_tail;  // blocks of a sweep over k: full ones, short ones (0 or 1)

  explicit Summarizer(const BlockedProduct& product, WorkSummary& summary)
      : p(product), out(summary), k_full(product.k_.full), k_tail(product.k_.tail > 0) {}

  // An axis as (size, count) pairs; class 0 always exists.
  struct Sizes {
    std::int64_t size[2], count[2];
    int classes;
  };
  static Sizes sizes(const Blocks& axis) {
    if (axis.full == 0) return {{axis.tail, 0}, {1, 0}, 1};
    return {{axis.size, axis.tail}, {axis.full, 1}, axis.tail > 0 ? 2 : 1};
  }

  std::uint8_t add(FlowIndex flow, const Work& work, std::int64_t count) const {
    WorkTerm& term = out.terms.next();
    term.work = work;
    term.count = count;
    term.flow = flow;
    return static_cast<std::uint8_t>(out.terms.size() - 1);
  }

  void loads() {
    const Sizes m = sizes(p.m_);
    const Sizes n = sizes(p.n_);
    if (!p.shape_.a_in_core) {
      for (int i = 0; i < m.classes; ++i) {
        std::uint8_t term[2] = {};
        load_al = loads_of(m.size[i], m.count[i], p.a_kept_ ? 1 : p.n_.count(), true, term);
        if (i == 0) load_a0 = term[p.loads_a_.full == 0];
      }
    }
    for (int j = 0; j < n.classes; ++j) {
      load_bl = loads_of(n.size[j], n.count[j], p.b_kept_ ? 1 : p.m_.count(), false, load_b[j]);
    }
    load_b0 = load_b[0][p.loads_b_.full == 0];
  }
  // The copies of one operand for blocks of one size: `sweeps` over k, the first apart where it
  // differs. Returns the term of the last copy of a sweep, and those of the first sweep's full and
  // last copies in `first`.
  std::uint8_t loads_of(std::int64_t size, std::int64_t blocks, std::int64_t sweeps, bool a,
                        std::uint8_t* first) const {
    const Loads& l = a ? p.loads_a_ : p.loads_b_;
    const bool differs = a ? p.a_differs_ : p.b_differs_;
    std::uint8_t term = 0;
    for (int again = 0; again <= (differs ? 1 : 0); ++again) {
      const std::int64_t times = blocks * (!differs ? sweeps : again ? sweeps - 1 : 1);
      for (int last = 0; last < 2; ++last) {
        const std::int64_t copies = last ? l.last > 0 : l.full;
        if (copies == 0) continue;
        const Work work = a ? p.load_a(size, last, again) : p.load_b(size, last, again);
        term = add(a ? kLoadA : kLoadB, work, times * copies);
        if (again == 0) first[last] = term;
        if (p.fetches(work)) add(a ? kFetchA : kFetchB, fetch(work), times * copies);
      }
    }
    return term;
  }

  void feeds() {
    const Sizes m = sizes(p.m_);
    const Sizes n = sizes(p.n_);
    const Sizes k = sizes(p.k_);
    for (int q = 0; q < k.classes; ++q) {
      for (int i = 0; i < m.classes; ++i) {
        feed_a[i][q] =
            add(kFeedA, p.feed_a(m.size[i], k.size[q]), m.count[i] * k.count[q] * p.n_.count());
      }
      for (int j = 0; j < n.classes; ++j) {
        feed_b[j][q] =
            add(kFeedB, p.feed_b(n.size[j], k.size[q]), n.count[j] * k.count[q] * p.m_.count());
      }
    }
  }

  void products() {
    const Sizes m = sizes(p.m_);
    const Sizes n = sizes(p.n_);
    const Sizes k = sizes(p.k_);
    for (int i = 0; i < m.classes; ++i) {
      for (int j = 0; j < n.classes; ++j) {
        const std::int64_t tiles = m.count[i] * n.count[j];
        for (int q = 0; q < k.classes; ++q) {
          prod[i][j][q] =
              add(kProduct, p.product(m.size[i], n.size[j], k.size[q]), tiles * k.count[q]);
        }
        store[i][j] = add(kStore, p.result(m.size[i], n.size[j]), tiles);
      }
    }
  }

  // Size classes of the last tile and the last block.
  int ml() const { return p.m_.full > 0 && p.m_.tail > 0; }
  int nl() const { return p.n_.full > 0 && p.n_.tail > 0; }
  int kl() const { return k_full > 0 && k_tail > 0; }

  bool b_loaded_before_a() const { return p.b_kept_ || (!p.a_kept_ && !p.a_is_big_); }

  // Ways in: what the first operation of a flow must wait for, along the pipeline. Loads are in
  // order on one engine.
  void ways_in() const {
    Flow& feed_a_flow = out.flows[kFeedA];
    Flow& feed_b_flow = out.flows[kFeedB];
    const bool a_loaded = !p.shape_.a_in_core;
    if (a_loaded) {
      if (b_loaded_before_a()) append(feed_a_flow.before, load_b0, 1, 0);
      append(feed_a_flow.before, load_a0, 1, 1);
    }
    if (a_loaded &&
        b_loaded_before_a()) {  // feed_b follows feed_a on its engine, which waited for both
      feed_b_flow.before = feed_a_flow.before;
      append(feed_b_flow.before, feed_a[0][0], 1, 0);
    } else {
      if (a_loaded) append(feed_b_flow.before, load_a0, 1, 0);
      append(feed_b_flow.before, load_b0, 1, 1);
    }
    Way& to_product = out.flows[kProduct].before;
    to_product = feed_b_flow.before;
    append(to_product, feed_b[0][0], 1, 1);
    Way& to_store = out.flows[kStore].before;
    to_store = to_product;
    if (k_full > 0) append(to_store, prod[0][0][0], k_full, k_tail ? 0 : 1);
    if (k_tail > 0) append(to_store, prod[0][0][kl()], 1, 1);
  }

  // From the last product's result on: the last store.
  template <std::size_t N>
  void after_product(FixedList<Step, N>& way) const {
    append(way, store[ml()][nl()], 1, 0);
  }
  // From the last feed's result on.
  template <std::size_t N>
  void after_feed(FixedList<Step, N>& way) const {
    append(way, prod[ml()][nl()][kl()], 1, 1);
    after_product(way);
  }
  // A copy of `blocks` blocks has arrived: its feeds and, on the same engine, those between them.
  // With A the sequence is a b a b ... , with B it is b a b ... b.
  void feeds_of_last_copy(Way& way, std::int64_t blocks, bool a) const {
    const std::int64_t full = blocks - k_tail;
    const std::int64_t others = blocks - 1;  // feeds of the other operand that are surely behind
    append(way, feed_b[nl()][0], k_full > 0 ? full : 0, 0);
    append(way, feed_b[nl()][kl()], k_full > 0 ? k_tail : blocks, 1);
    const std::int64_t feeds_a = a ? blocks : others;
    const std::int64_t tail_a = std::min(k_tail, feeds_a);
    append(way, feed_a[ml()][0], feeds_a - tail_a, 0);
    append(way, feed_a[ml()][kl()], tail_a, 0);
  }
  void ways_out() const {
    if (!p.shape_.a_in_core) {
      Way& way = out.flows[kLoadA].after;
      append(way, load_al, 0, 1);
      feeds_of_last_copy(way, p.loads_a_.last_blocks, true);
      after_feed(way);
    }
    Way& way_b = out.flows[kLoadB].after;
    append(way_b, load_bl, 0, 1);
    feeds_of_last_copy(way_b, p.loads_b_.last_blocks, false);
    after_feed(way_b);
    // A fetch fills the same slot as its copy: the same way out, its latency included.
    out.flows[kFetchA].after = out.flows[kLoadA].after;
    out.flows[kFetchB].after = out.flows[kLoadB].after;
    for (const FlowIndex flow :
         {kFeedA, kFeedB}) {  // feed_b is the last one; feed_a's result is needed as well
      append(out.flows[flow].after, feed_b[nl()][kl()], flow == kFeedA ? 1 : 0, 1);
      after_feed(out.flows[flow].after);
    }
    append(out.flows[kProduct].after, prod[ml()][nl()][kl()], 0, 1);
    after_product(out.flows[kProduct].after);
  }

  RingTerm& ring(std::int64_t slots, std::uint32_t flows, FlowIndex before) const {
    RingTerm& term = out.rings.next();
    term.slots = slots;
    term.flows = flows;
    term.before_flow = before;
    term.extra.clear();
    term.after.clear();
    return term;
  }

  void ring_terms() const {
    const std::int64_t tiles = p.m_.count() * p.n_.count();
    const std::int64_t steps = tiles * (k_full + k_tail);
    // L0C: from the tile's first product to its stored result. The last result comes a latency
    // after the last hold.
    RingTerm& l0c = ring(p.shape_.db_l0c, bit(kProduct) | bit(kStore), kProduct);
    append(l0c.extra, prod[0][0][0], 0, tiles);
    append(l0c.extra, store[0][0], 0, tiles);
    append(l0c.after, store[0][0], 0, -1);
    // L0A: feed_a, then feed_b on the same engine, its result, the product.
    RingTerm& l0a = ring(p.shape_.db_l0, bit(kFeedA) | bit(kFeedB) | bit(kProduct), kFeedA);
    append(l0a.extra, feed_b[0][0], 0, steps);
    append(l0a.extra, prod[0][0][0], 0, steps);
    after_product(l0a.after);
    if (p.shape_.mdl) {
      group_rings(tiles);
    } else {
      block_rings(steps);
    }
  }

  // From the last feed_a's result: feed_b follows its hold.
  void feed_b_after_feed_a(RingTerm& term) const {
    append(term.after, feed_a[ml()][kl()], 0, -1);
    append(term.after, feed_b[nl()][kl()], 1, 1);
  }

  // norm: a block's copy, its result, its feed.
  void block_rings(std::int64_t steps) const {
    if (!p.shape_.a_in_core) {
      RingTerm& a = ring(p.shape_.step_ka * p.shape_.l1, bit(kLoadA) | bit(kFeedA), kLoadA);
      append(a.extra, load_a0, 0, steps);
      append(a.extra, feed_a[0][0], 0, steps);
      feed_b_after_feed_a(a);
      after_feed(a.after);
    }
    RingTerm& b = ring(p.shape_.step_kb * p.shape_.l1, bit(kLoadB) | bit(kFeedB), kLoadB);
    append(b.extra, load_b0, 0, steps);
    append(b.extra, feed_b[0][0], 0, steps);
    after_feed(b.after);
  }

  // mdl: the copy of a group, its result, the feeds from its first to its last block.
  void group_rings(std::int64_t tiles) const {
    const bool a_streams = !p.shape_.a_in_core && !p.a_kept_;
    const bool b_streams = !p.b_kept_;
    const std::int64_t copies_a = tiles * p.loads_a_.count();
    const std::int64_t copies_b = tiles * p.loads_b_.count();
    if (a_streams) {  // the last block's feed_b comes after the last feed_a
      RingTerm& a = ring(p.shape_.l1, bit(kLoadA) | bit(kFeedA) | bit(kFeedB), kLoadA);
      append(a.extra, load_a0, 0, copies_a);
      append(a.extra, feed_a[0][0], 0, copies_a);
      append(a.extra, feed_b[0][0], -copies_a, 0);
      feed_b_after_feed_a(a);
      after_feed(a.after);
    }
    if (b_streams) {  // the first block's feed_a may come before the copy
      RingTerm& b = ring(p.shape_.l1, bit(kLoadB) | bit(kFeedA) | bit(kFeedB), kLoadB);
      append(b.extra, load_b0, 0, copies_b);
      append(b.extra, feed_b[0][0], 0, copies_b);
      append(b.extra, feed_a[0][0], -copies_b, 0);
      after_feed(b.after);
    }
    if (p.shape_.l1 == 1 && a_streams && b_streams) single_slot_rings(tiles);
  }

  // One slot each: the copy engine stands still while the smaller operand's copy is read.
  void single_slot_rings(std::int64_t tiles) const {
    const Loads& small = p.a_is_big_ ? p.loads_b_ : p.loads_a_;
    const std::uint8_t load = p.a_is_big_ ? load_b0 : load_a0;
    // Copies of exactly small_ full blocks: from arrival to the last feed_a at least small_-1 pairs
    // of feeds.
    const std::int64_t waits = p.small_ >= 2 ? tiles * small.full : 0;
    if (waits > 0) {
      RingTerm& chain = ring(1, bit(kLoadA) | bit(kLoadB), kLoadA);
      append(chain.extra, load, 0, waits);
      append(chain.extra, feed_a[least(p.m_)][0], waits * (p.small_ - 1), 0);
      append(chain.extra, feed_b[least(p.n_)][0], waits * (p.small_ - 1), 0);
    }
    // The larger operand's slot is held while the smaller one's copies stream through the copy
    // engine. Where A is the larger one its last feed precedes the last block's feed_b, so a last
    // copy of one block may still be on its way.
    const Loads& big = p.a_is_big_ ? p.loads_a_ : p.loads_b_;
    RingTerm& hold = ring(1, bit(kLoadA) | bit(kLoadB), kLoadA);
    append(hold.extra, p.a_is_big_ ? load_a0 : load_b0, 0, tiles * big.count());
    const std::uint8_t last_feed =
        p.a_is_big_ ? feed_a[least(p.m_)][kl()] : feed_b[least(p.n_)][kl()];
    append(hold.extra, last_feed, tiles * big.count(), tiles * big.count());
    if (!p.a_is_big_) return;
    const Sizes n = sizes(p.n_);
    for (int j = 0; j < n.classes; ++j) {
      const std::int64_t tiles_j = p.m_.count() * n.count[j];
      if (p.small_ == 1 && big.full > 0) append(hold.extra, load_b[j][0], -tiles_j * big.full, 0);
      if (big.last == 0) continue;
      const bool short_copy = small.last > 0;
      if ((short_copy ? small.last_blocks : p.small_) == 1)
        append(hold.extra, load_b[j][short_copy], -tiles_j, 0);
    }
  }
  static int least(const Blocks& axis) { return axis.full > 0 && axis.tail > 0; }
};

void BlockedProduct::summarize(WorkSummary& summary) const {
  summary.clear();
  for (int f = 0; f < kFlowCount; ++f) {
    Flow& flow = summary.flows.next();
    flow.before.clear();
    flow.after.clear();
  }
  summary.result_flow = kStore;
  Summarizer writer(*this, summary);
  writer.loads();
  writer.feeds();
  writer.products();
  writer.ways_in();
  writer.ways_out();
  writer.ring_terms();
}

}  // namespace tilewright
