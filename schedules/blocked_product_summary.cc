// SPDX-License-Identifier: Apache-2.0
// Terms and ways of a blocked product's closed form.
#include <algorithm>

#include "schedules/blocked_product_summarizer.h"

namespace tilewright {

BlockedProduct::Summarizer::Sizes::Sizes(const Blocks& axis)
    : size{axis.full > 0 ? axis.size : axis.tail, axis.tail},
      count{axis.full > 0 ? axis.full : 1, 1},
      classes(axis.full > 0 && axis.tail > 0 ? 2 : 1) {}

BlockedProduct::Summarizer::Summarizer(const BlockedProduct& product, WorkSummary& summary)
    : p(product),
      out(summary),
      m(product.m_),
      n(product.n_),
      k(product.k_),
      k_full(product.k_.full),
      k_tail(product.k_.tail > 0),
      tiles(product.m_.count() * product.n_.count()) {}

void BlockedProduct::Summarizer::write() {
  if (!p.shape_.a_in_core) loads(true);
  loads(false);
  feeds();
  products();
  ways_in();
  ways_out();
  rings();
}

// Copies of one operand. A copy's off-chip share is a term of its own, as it is an operation.
void BlockedProduct::Summarizer::loads(bool a) {
  const Loads& l = a ? p.loads_a_ : p.loads_b_;
  const Sizes& sizes = a ? m : n;
  const bool differs = a ? p.a_differs_ : p.b_differs_;
  const std::int64_t others = a ? p.n_.count() : p.m_.count();
  const std::int64_t sweeps = (a ? p.a_kept_ : p.b_kept_) ? 1 : others;
  LoadTerms& terms = a ? load_a : load_b;
  for (int i = 0; i < sizes.classes; ++i) {
    for (int again = 0; again < 2; ++again) {
      for (int last = 0; last < 2; ++last) {
        std::uint8_t& term = terms.term[i][last][again];
        term = kNone;
        const std::int64_t copies = last ? l.last > 0 : l.full;
        const std::int64_t times = !differs ? (again ? 0 : sweeps) : again ? sweeps - 1 : 1;
        if (copies * times == 0) continue;
        Work& work = add(a ? kLoadA : kLoadB, sizes.count[i] * times * copies, term);
        a ? p.load_a(work, sizes.size[i], last, again) : p.load_b(work, sizes.size[i], last, again);
        terms.last = term;
        if (!p.fetches(work)) continue;
        std::uint8_t unused = 0;
        add(a ? kFetchA : kFetchB, sizes.count[i] * times * copies, unused) = fetch(work);
      }
    }
  }
  terms.first = terms.term[0][l.full == 0][0];
}

void BlockedProduct::Summarizer::feeds() {
  for (int q = 0; q < k.classes; ++q) {
    for (int i = 0; i < m.classes; ++i) {
      Work& work = add(kFeedA, m.count[i] * k.count[q] * p.n_.count(), feed_a[i][q]);
      p.feed_a(work, m.size[i], k.size[q]);
    }
    for (int j = 0; j < n.classes; ++j) {
      Work& work = add(kFeedB, n.count[j] * k.count[q] * p.m_.count(), feed_b[j][q]);
      p.feed_b(work, n.size[j], k.size[q]);
    }
  }
}

void BlockedProduct::Summarizer::products() {
  for (int i = 0; i < m.classes; ++i) {
    for (int j = 0; j < n.classes; ++j) {
      const std::int64_t alike = m.count[i] * n.count[j];
      for (int q = 0; q < k.classes; ++q) {
        Work& work = add(kProduct, alike * k.count[q], prod[i][j][q]);
        p.product(work, m.size[i], n.size[j], k.size[q]);
      }
      p.result(add(kStore, alike, store[i][j]), m.size[i], n.size[j]);
    }
  }
}

// Ways in: what the first operation of a flow must wait for, along the pipeline. Loads are in order
// on one engine.
void BlockedProduct::Summarizer::ways_in() {
  Way& to_feed_a = out.flows[kFeedA].before;
  Way& to_feed_b = out.flows[kFeedB].before;
  const bool a_loaded = !p.shape_.a_in_core;
  if (a_loaded) {
    if (b_loaded_before_a()) append(to_feed_a, load_b.first, 1, 0);
    append(to_feed_a, load_a.first, 1, 1);
  }
  if (a_loaded && b_loaded_before_a()) {
    // feed_b follows feed_a on its engine, which waited for both.
    to_feed_b = to_feed_a;
    append(to_feed_b, feed_a[0][0], 1, 0);
  } else {
    if (a_loaded) append(to_feed_b, load_a.first, 1, 0);
    append(to_feed_b, load_b.first, 1, 1);
  }
  Way& to_product = out.flows[kProduct].before;
  to_product = to_feed_b;
  append(to_product, feed_b[0][0], 1, 1);
  Way& to_store = out.flows[kStore].before;
  to_store = to_product;
  if (k_full > 0) append(to_store, prod[0][0][0], k_full, k_tail ? 0 : 1);
  if (k_tail > 0) append(to_store, prod[0][0][k.last()], 1, 1);
}

// A copy of `blocks` blocks has arrived: its feeds and, on the same engine, those between them.
// With A the sequence is a b a b ... , with B it is b a b ... b.
void BlockedProduct::Summarizer::feeds_of_last_copy(Way& way, std::int64_t blocks, bool a) const {
  const std::int64_t full = k_full > 0 ? blocks - k_tail : 0;
  append(way, feed_b[n.last()][0], full, 0);
  append(way, feed_b[n.last()][k.last()], blocks - full, 1);
  const std::int64_t feeds_a = a ? blocks : blocks - 1;
  const std::int64_t tail_a = std::min(k_tail, feeds_a);
  append(way, feed_a[m.last()][0], feeds_a - tail_a, 0);
  append(way, feed_a[m.last()][k.last()], tail_a, 0);
}

void BlockedProduct::Summarizer::ways_out() {
  if (!p.shape_.a_in_core) {
    Way& way = out.flows[kLoadA].after;
    append(way, load_a.last, 0, 1);
    feeds_of_last_copy(way, p.loads_a_.last_blocks, true);
    after_feed(way);
  }
  Way& way_b = out.flows[kLoadB].after;
  append(way_b, load_b.last, 0, 1);
  feeds_of_last_copy(way_b, p.loads_b_.last_blocks, false);
  after_feed(way_b);
  // A fetch fills the same slot as its copy: the same way out, its latency included.
  out.flows[kFetchA].after = out.flows[kLoadA].after;
  out.flows[kFetchB].after = out.flows[kLoadB].after;
  for (const ProductFlow flow : {kFeedA, kFeedB}) {  // feed_b is the last one, and needed
    append(out.flows[flow].after, feed_b[n.last()][k.last()], flow == kFeedA ? 1 : 0, 1);
    after_feed(out.flows[flow].after);
  }
  append(out.flows[kProduct].after, prod[m.last()][n.last()][k.last()], 0, 1);
  after_product(out.flows[kProduct].after);
}

void BlockedProduct::summarize(WorkSummary& summary) const {
  summary.clear();
  for (int f = 0; f < kProductFlows; ++f) {
    Flow& flow = summary.flows.next();
    flow.before.clear();
    flow.after.clear();
  }
  summary.result_flow = kStore;
  Summarizer(*this, summary).write();
}

}  // namespace tilewright
