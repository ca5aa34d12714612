// SPDX-License-Identifier: Apache-2.0
// How long the slots of a blocked product's buffers are held at least.
#include "schedules/blocked_product_summarizer.h"

namespace tilewright {

RingTerm& BlockedProduct::Summarizer::ring(std::int64_t slots, std::uint32_t flows,
                                           std::uint32_t arrivals, ProductFlow before) {
  RingTerm& term = out.rings.next();
  term.slots = slots;
  term.flows = flows;
  term.arrivals = arrivals;
  term.before_flow = before;
  term.extra.clear();
  term.after.clear();
  return term;
}

void BlockedProduct::Summarizer::rings() {
  const std::int64_t steps = tiles * (k_full + k_tail);
  // L0C: from the tile's first product to its stored result. The last result comes a latency after
  // the last hold.
  RingTerm& l0c =
      ring(p.shape_.db_l0c, flow_bit(kProduct) | flow_bit(kStore), flow_bit(kStore), kProduct);
  append(l0c.extra, prod[0][0][0], 0, tiles);
  append(l0c.after, store[0][0], 0, -1);
  // L0A: feed_a, then feed_b on the same engine, its result, the product.
  RingTerm& l0a = ring(p.shape_.db_l0, flow_bit(kFeedA) | flow_bit(kFeedB) | flow_bit(kProduct),
                       flow_bit(kProduct), kFeedA);
  append(l0a.extra, feed_b[0][0], 0, steps);
  after_product(l0a.after);
  if (!p.shape_.mdl) {
    block_rings();
    return;
  }
  group_rings();
  if (!streams(true) || !streams(false)) return;
  if (p.shape_.l1 == 1) single_slot_rings();
  if (p.shape_.l1 > 1) refill_rings();
}

// From the last feed_a's result: feed_b follows its hold.
void BlockedProduct::Summarizer::feed_b_after_feed_a(RingTerm& term) const {
  append(term.after, feed_a[m.last()][k.last()], 0, -1);
  append(term.after, feed_b[n.last()][k.last()], 1, 1);
}

// norm: a block's copy, its arrival, its feed.
void BlockedProduct::Summarizer::block_rings() {
  if (!p.shape_.a_in_core) {
    RingTerm& a = ring(p.shape_.step_ka * p.shape_.l1, flow_bit(kLoadA) | flow_bit(kFeedA),
                       flow_bit(kLoadA) | flow_bit(kFeedA), kLoadA);
    feed_b_after_feed_a(a);
    after_feed(a.after);
  }
  RingTerm& b = ring(p.shape_.step_kb * p.shape_.l1, flow_bit(kLoadB) | flow_bit(kFeedB),
                     flow_bit(kLoadB) | flow_bit(kFeedB), kLoadB);
  after_feed(b.after);
}

// mdl: the copy of a group, its arrival, the feeds from its first to its last block.
void BlockedProduct::Summarizer::group_rings() {
  const std::uint32_t feeds = flow_bit(kFeedA) | flow_bit(kFeedB);
  if (streams(true)) {  // the last block's feed_b comes after the last feed_a
    const std::int64_t copies = tiles * p.loads_a_.count();
    RingTerm& a = ring(p.shape_.l1, flow_bit(kLoadA) | feeds, flow_bit(kLoadA), kLoadA);
    append(a.extra, feed_a[0][0], 0, copies);
    append(a.extra, feed_b[0][0], -copies, 0);
    feed_b_after_feed_a(a);
    after_feed(a.after);
  }
  if (streams(false)) {  // the first block's feed_a may come before the copy
    const std::int64_t copies = tiles * p.loads_b_.count();
    RingTerm& b = ring(p.shape_.l1, flow_bit(kLoadB) | feeds, flow_bit(kLoadB), kLoadB);
    append(b.extra, feed_b[0][0], 0, copies);
    append(b.extra, feed_a[0][0], -copies, 0);
    after_feed(b.after);
  }
}

// `blocks` consecutive blocks, from the first feed to the last one of the same operand:
//   feeds: blocks-1 pairs of feeds; with one slot of L0 every pair also waits for its product;
//   products: with more slots the last feed waits for the product that `db_l0` blocks before it
//   frees a slot, and products are in order after the first feed_b.
// Of least work: every tile has at least as much.
void BlockedProduct::Summarizer::add_span(RingTerm& term, Span span, std::int64_t blocks,
                                          std::int64_t times) const {
  const std::uint8_t a = feed_a[m.least()][0], b = feed_b[n.least()][0];
  const std::uint8_t c = prod[m.least()][n.least()][0];
  const std::int64_t pairs = times * (blocks - 1);
  if (span == Span::feeds) {
    const std::int64_t waits = p.shape_.db_l0 == 1 ? pairs : 0;
    append(term.extra, a, pairs, 0);
    append(term.extra, b, pairs, waits);
    append(term.extra, c, waits, waits);
  } else {
    append(term.extra, a, times, 0);
    append(term.extra, b, times, times);
    append(term.extra, c, times * (blocks - p.shape_.db_l0), times);
  }
}

// One slot each: the copy engine stands still while the smaller operand's copy is read. A copy of
// several blocks holds it from its arrival to the last feed_a at least (the next copy of either
// operand waits for that); a copy of one block until its feed, if the group goes on.
void BlockedProduct::Summarizer::single_slot_rings() {
  const LoadTerms& loads = small_loads();
  const std::int64_t full = small().full;
  const std::int64_t in_groups =
      small().count() - big().count();  // copies that are not a group's last
  const bool last_waits = small().last > 0 && small().last_blocks - k_tail >= 2;
  for (const Span span : {Span::feeds, Span::products}) {
    if (span == Span::products && !has_product_span(p.small_)) break;
    RingTerm& chain = ring(1, flow_bit(kLoadA) | flow_bit(kLoadB), 0, kLoadA);
    for (int last = 0; last < 2; ++last) {
      const std::int64_t waits = last == 0 ? (p.small_ >= 2 ? full : in_groups) : last_waits;
      const std::int64_t copies = last == 0 ? full : 1;
      if (waits <= 0 || copies == 0) continue;
      for (int i = 0; i < 2; ++i) {
        for (int again = 0; again < 2; ++again) {
          if (i >= (p.a_is_big_ ? n : m).classes) continue;
          const std::uint8_t term = loads.term[i][last][again];
          if (term != kNone) append(chain.extra, term, 0, out.terms[term].count / copies * waits);
        }
      }
    }
    if (p.small_ >= 2) {
      if (full > 0) add_span(chain, span, p.small_, tiles * full);
    } else if (in_groups > 0) {
      append(chain.extra, small_feed(), tiles * in_groups, tiles * in_groups);
    }
    if (last_waits) add_span(chain, Span::feeds, small().last_blocks - k_tail, tiles);
    after_feed(chain.after);
  }
  // The larger operand's slot is held while the smaller one's copies stream through the copy
  // engine. Where A is the larger one its last feed precedes the last block's feed_b, so a last
  // copy of one block may still be on its way.
  RingTerm& hold = ring(1, flow_bit(kLoadA) | flow_bit(kLoadB), 0, kLoadA);
  const std::int64_t groups = tiles * big().count();
  // The latency of a copy that the off-chip engine does not draw out.
  if (p.shape_.a.sharing != Sharing::none) append(hold.extra, load_a.first, 0, groups);
  const std::uint8_t feed = p.a_is_big_ ? feed_a[m.least()][k.last()] : feed_b[n.least()][k.last()];
  append(hold.extra, feed, groups, groups);
  if (!p.a_is_big_) return;
  for (int j = 0; j < n.classes; ++j) {
    const std::int64_t alike = p.m_.count() * n.count[j];
    if (p.small_ == 1 && big().full > 0) {
      append(hold.extra, loads.term[j][0][0], -alike * big().full, 0);
    }
    if (big().last == 0) continue;
    const bool short_copy = small().last > 0;
    if ((short_copy ? small().last_blocks : p.small_) == 1) {
      append(hold.extra, loads.term[j][short_copy][0], -alike, 0);
    }
  }
}

// With S slots the last copy of the smaller operand in a group waits until the copy S before it is
// read; only then comes the next group's large copy, on the same engine. So a group takes its large
// copy, its first small one and that one's arrival, the feeds until then, and its last small copy.
void BlockedProduct::Summarizer::refill_rings() {
  const std::int64_t ratio = p.big_ / p.small_, slots = p.shape_.l1;
  if (ratio <= slots || big().full == 0) return;
  const std::int64_t blocks = (ratio - slots) * p.small_;
  const std::int64_t groups = tiles * big().full;
  for (const Span span : {Span::feeds, Span::products}) {
    if (span == Span::products && !has_product_span(blocks)) break;
    RingTerm& refill = ring(1, 0, 0, kLoadA);
    for (int i = 0; i < 2; ++i) {
      for (int again = 0; again < 2; ++again) {
        if (i < (p.a_is_big_ ? m : n).classes) {
          const std::uint8_t term = big_loads().term[i][0][again];
          if (term != kNone) append(refill.extra, term, out.terms[term].count, 0);
        }
        if (i < (p.a_is_big_ ? n : m).classes) {
          const std::uint8_t term = small_loads().term[i][0][again];
          const std::int64_t times =
              term == kNone ? 0 : out.terms[term].count / small().full * big().full;
          if (times > 0) append(refill.extra, term, 2 * times, times);
        }
      }
    }
    add_span(refill, span, blocks, groups);
    append(refill.extra, small_feed(), 0, groups);
    after_feed(refill.after);
  }
}

}  // namespace tilewright
