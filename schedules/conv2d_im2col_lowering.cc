// SPDX-License-Identifier: Apache-2.0
#include "schedules/conv2d_im2col_lowering.h"

#include <algorithm>

#include "schedules/blocked_product.h"
#include "schedules/conv2d_pool.h"

namespace tilewright {
namespace {

std::int64_t at_least_one(std::int64_t value) { return std::max<std::int64_t>(value, 1); }

// Distinct bytes that all active cores read between two reads of the same block: every core streams
// its own strip, all share the weights.
//   order m: all of B passes before a block of B is read again; one column block of B and one row
//   block of A before a
//            block of A is.
//   order n: all of A passes while one column block of B is kept; so for both.
struct Reuse {
  std::int64_t a_again, b_again, next_item;
};
Reuse reuse_of(const Im2colItem& item, const Schedule& schedule) {
  const std::int64_t e = item.element_bytes;
  const std::int64_t weights = item.m * item.k * e;
  const std::int64_t strips = item.active_cores * item.k * item.n * e;
  const std::int64_t columns = item.active_cores * item.k * schedule[Knob::base_n] * e;
  const std::int64_t rows = std::int64_t{schedule[Knob::base_m]} * item.k * e;
  if (schedule[Knob::order] == word::order_m)
    return {columns + rows, strips + rows, strips + weights};
  return {columns + weights, columns + weights, strips + weights};
}

ProductShape product_shape(const Im2colItem& item, const Conv2dPool& workload,
                           const Schedule& schedule, const Limits& limits, bool first_item) {
  const Reuse reuse = reuse_of(item, schedule);
  ProductShape shape;
  shape.m = item.m;
  shape.n = item.n;
  shape.k = item.k;
  shape.element_bytes = item.element_bytes;
  shape.dtype = workload.dtype;
  shape.base_m = schedule[Knob::base_m];
  shape.base_n = schedule[Knob::base_n];
  shape.base_k = schedule[Knob::base_k];
  shape.step_ka = at_least_one(schedule[Knob::step_ka]);
  shape.step_kb = at_least_one(schedule[Knob::step_kb]);
  shape.mdl = schedule[Knob::load] == word::mdl;
  shape.order_n = schedule[Knob::order] == word::order_n;
  shape.db_l0 = schedule[Knob::db_l0];
  shape.db_l0c = schedule[Knob::db_l0c];
  shape.l1 = schedule[Knob::l1];
  shape.a_in_core = schedule[Knob::weights] == word::resident;
  shape.l2_bytes = limits.l2;
  // The weights: all active cores read the same bytes, out of step. Split channels read disjoint
  // parts.
  const std::int64_t parts = at_least_one(schedule[Knob::split_m]);
  shape.a.sharing = Sharing::spread;
  shape.a.sharers = at_least_one(item.active_cores / parts);
  shape.a.first_read = first_item;
  shape.a.first_reuse_bytes = reuse.next_item;
  shape.a.again_reuse_bytes = reuse.a_again;
  // The strip: private to its item, nobody has read it before.
  shape.b.first_read = true;
  shape.b.again_reuse_bytes = reuse.b_again;
  return shape;
}

Work of_kind(WorkKind kind) {
  Work work;
  work.kind = kind;
  return work;
}

Work pool_work(const Im2colItem& item, const Conv2dPool& workload, std::uint8_t client) {
  Work work = of_kind(WorkKind::pool);
  work.path = Path::gm_ub;
  work.dtype = workload.dtype;
  work.client = client;
  work.rows = item.m;
  work.row_bytes = item.n * item.element_bytes;
  work.elements = item.m * item.n;
  work.ub_write_bytes = item.pooled_bytes;
  return work;
}

// The items of one core: a call from the client whose turn it is, the product, the client's
// pooling.
class CoreProgram {
 public:
  CoreProgram(const Im2colItem& item, const Conv2dPool& workload, const Schedule& schedule,
              const Limits& limits, TileProgram& program)
      : item_(item),
        workload_(workload),
        program_(program),
        slots_(at_least_one(schedule[Knob::async])) {
    const ProductShape first = product_shape(item, workload, schedule, limits, true);
    const ProductShape later = product_shape(item, workload, schedule, limits, false);
    first_ = BlockedProduct(first);
    later_ = BlockedProduct(later);
    // Later items are operations of their own only where L2 tells their reads of the weights from
    // the first ones.
    load_weights_ = first.a_in_core;
    peel_first_ = first.a_in_core || later.a.first_reuse_bytes <= limits.l2;
  }

  void lower(std::int64_t items) {
    program_.clear();
    first_.add_rings(program_);
    later_.use_rings_of(first_);
    clients_[0] = program_.add_ring("C0", Memory::gm, slots_, item_.result_bytes);
    clients_[1] = program_.add_ring("C1", Memory::gm, slots_, item_.result_bytes);
    program_.add("launch", of_kind(WorkKind::launch));
    const std::int64_t done = peel_first_ && items > 0 ? 1 : 0;
    if (done > 0) item(0, first_, load_weights_);
    const BlockedProduct& product = peel_first_ ? later_ : first_;
    const std::int64_t clients = item_.dealing.clients;
    const auto turn = [&](std::int64_t i) {
      item(static_cast<std::uint8_t>((done + i) % clients), product, false);
    };
    const auto round = [&](std::int64_t count) {
      for (std::int64_t c = 0; c < count; ++c) turn(c);
    };
    program_.repeat((items - done) / clients, [&] { round(clients); });
    round((items - done) % clients);
  }

 private:
  void item(std::uint8_t client, const BlockedProduct& product, bool load_weights) {
    program_.add("call", of_kind(WorkKind::call)).access(clients_[client], verb::take);
    if (load_weights) product.emit_whole_a(program_);
    product.emit(program_, clients_[client]);
    program_.add("pool", pool_work(item_, workload_, client)).access(clients_[client], verb::read);
  }

  const Im2colItem& item_;
  const Conv2dPool& workload_;
  TileProgram& program_;
  BlockedProduct first_, later_;
  std::int64_t slots_;
  bool load_weights_ = false, peel_first_ = false;
  std::uint8_t clients_[2] = {};
};

}  // namespace

Im2colItem im2col_item(const Conv2dPool& workload, const Schedule& schedule, const Limits& limits) {
  const std::int64_t e = bytes_of(workload.dtype);
  const std::int64_t rows = schedule[Knob::rows];
  const std::int64_t parts = at_least_one(schedule[Knob::split_m]);
  const std::int64_t channels = ceil_div(workload.cout, parts);
  const std::int64_t items = workload.n * ceil_div(kept_rows(workload), rows) * parts;
  Im2colItem item;
  item.m = round_up(channels, limits.fractal);
  item.n = rows * padded_row(workload);
  item.k = round_up(reduction_length(workload), limits.fractal);
  item.element_bytes = e;
  item.dealing = deal(items, schedule, limits);
  item.active_cores = std::min(limits.cube_cores, items);
  item.result_bytes = item.m * item.n * e;
  item.pooled_bytes = channels * (rows / workload.pool) * workload.pooled_w() * e;
  item.bias_bytes = workload.bias ? workload.cout * e : 0;
  return item;
}

void lower_im2col(const Conv2dPool& workload, const Schedule& schedule, const Limits& limits,
                  TileProgram& program, std::int64_t items) {
  const Im2colItem item = im2col_item(workload, schedule, limits);
  CoreProgram(item, workload, schedule, limits, program)
      .lower(items < 0 ? item.dealing.busiest() : items);
}

namespace {

void summarize(const Im2colItem& item, const Conv2dPool& workload, const Schedule& schedule,
               const Limits& limits, bool first_item, WorkSummary& summary) {
  const BlockedProduct product(product_shape(item, workload, schedule, limits, first_item));
  product.summarize(summary);
  summary.launch = of_kind(WorkKind::launch);
  summary.call = of_kind(WorkKind::call);
  summary.pool = pool_work(item, workload, 0);
  summary.items = item.dealing.busiest();
  summary.client_items = item.dealing.busiest_client();
  summary.client_slots = at_least_one(schedule[Knob::async]);
  if (schedule[Knob::weights] == word::resident) product.summarize_whole_a(summary.once);
}

}  // namespace

void summarize_im2col(const Conv2dPool& workload, const Schedule& schedule, const Limits& limits,
                      WorkSummary& summary) {
  const Im2colItem item = im2col_item(workload, schedule, limits);
  summarize(item, workload, schedule, limits, item.dealing.busiest() == 1, summary);
}

void summarize_im2col_item(const Conv2dPool& workload, const Schedule& schedule,
                           const Limits& limits, bool first_item, WorkSummary& summary) {
  summarize(im2col_item(workload, schedule, limits), workload, schedule, limits, first_item,
            summary);
}

}  // namespace tilewright
