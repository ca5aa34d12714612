// SPDX-License-Identifier: Apache-2.0
#include "device_model/systolic_bound.h"

#include <algorithm>

namespace tilewright {
namespace {

// An axis as sizes with their counts; a count may be 0.
struct Sizes {
  std::array<std::int64_t, 2> size, count;
  explicit Sizes(const SystolicPlan::Axis& axis)
      : size{axis.size, axis.tail}, count{axis.full, axis.tail > 0} {}
};

// One block of the result: its passes one after the other.
struct BlockCost {
  std::int64_t loads = 0, array = 0;  // array: with the turns between passes
  std::int64_t load_and_pass = 0;     // both, of every pass
  std::int64_t first_load = 0, last_pass = 0, store = 0;
};

class Evaluation {
 public:
  Evaluation(const SystolicPlan& plan, const SystolicCosting& costing)
      : p_(plan), costing_(costing), m_(plan.m()), n_(plan.n()), k_(plan.k()) {
    Work work;
    work.kind = WorkKind::turn;
    turn_ = plan.stationary ? costing.hold(work) : 0;
  }

  SystolicBound bound() {
    const Sizes m(m_), n(n_);
    std::int64_t alone = 0;  // every block by itself, one after the other
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        const std::int64_t count = m.count[i] * n.count[j];
        if (count == 0) continue;
        const BlockCost cost = block(m.size[i], n.size[j], count);
        loads_ += count * cost.loads;
        array_ += count * cost.array;
        stores_ += count * cost.store;
        load_and_pass_ += count * cost.load_and_pass;
        // Loads and stores are in order on one engine, passes on the other.
        alone += count *
                 (std::max(cost.first_load + cost.array, cost.loads + cost.last_pass) + cost.store);
      }
    }
    const std::int64_t blocks = m_.count() * n_.count();
    array_ += (blocks - 1) * turn_;
    result_.busy = {array_, loads_ + stores_};
    result_.cycles = p_.late_store() ? overlapped(blocks) : one_accumulator(alone);
    return result_;
  }

 private:
  BlockCost block(std::int64_t rows, std::int64_t columns, std::int64_t count) {
    const Sizes k(k_);
    BlockCost cost;
    for (std::size_t q = 0; q < 2; ++q) {
      if (k.count[q] == 0) continue;
      const Work a = p_.load_a(rows, k.size[q]), b = p_.load_b(columns, k.size[q]);
      const Work pass = p_.multiply(rows, columns, k.size[q]);
      const std::int64_t load = costing_.hold(a) + costing_.hold(b), hold = costing_.hold(pass);
      if (cost.loads == 0) cost.first_load = load;
      cost.last_pass = hold;
      cost.loads += k.count[q] * load;
      cost.array += k.count[q] * hold;
      cost.load_and_pass += k.count[q] * (load + hold);
      result_.loaded_bytes += count * k.count[q] * (a.bytes() + b.bytes());
      result_.macs += count * k.count[q] * pass.macs();
    }
    cost.array += (k_.count() - 1) * turn_;
    const Work store = p_.store(rows, columns);
    cost.store = costing_.hold(store);
    result_.stored_bytes += count * store.bytes();
    return cost;
  }

  // Everything after the last load: its pass and the last store.
  std::int64_t last_pass() const {
    return costing_.hold(p_.multiply(m_.last(), n_.last(), k_.last()));
  }
  std::int64_t store_of(std::int64_t rows, std::int64_t columns) const {
    return costing_.hold(p_.store(rows, columns));
  }

  // A block's store comes before the next one's loads, on the same engine: blocks do not overlap.
  // With one slot a pass's loads wait for the pass before as well.
  std::int64_t one_accumulator(std::int64_t alone) const {
    return p_.slots == 1 ? std::max(alone, load_and_pass_ + stores_) : alone;
  }

  std::int64_t overlapped(std::int64_t blocks) const {
    const std::int64_t last_store = store_of(m_.last(), n_.last());
    const std::int64_t first_load = costing_.hold(p_.load_a(m_.first(), k_.first())) +
                                    costing_.hold(p_.load_b(n_.first(), k_.first()));
    std::int64_t cycles = first_load + array_ + last_store;
    // The channel: all of its work; before the last store it waits for the last pass. Where a block
    // is one pass, the store of the block before comes after the last load too.
    cycles = std::max(cycles, loads_ + stores_);
    std::int64_t before_last_load = stores_ - last_store;
    if (k_.count() == 1 && blocks > 1) {
      const std::int64_t column = n_.count() > 1 ? (n_.tail > 0 ? n_.size : n_.last()) : n_.last();
      const std::int64_t row = n_.count() > 1 ? m_.last() : (m_.tail > 0 ? m_.size : m_.last());
      before_last_load -= store_of(row, column);
    }
    cycles = std::max(cycles, loads_ + before_last_load + last_pass() + last_store);
    // A slot is held from the first load of a pass to the pass's end.
    return std::max(cycles, load_and_pass_ / p_.slots + last_store);
  }

  const SystolicPlan& p_;
  const SystolicCosting& costing_;
  SystolicPlan::Axis m_, n_, k_;
  std::int64_t turn_ = 0;
  std::int64_t loads_ = 0, array_ = 0, stores_ = 0, load_and_pass_ = 0;
  SystolicBound result_;
};

}  // namespace

SystolicBound systolic_bound(const SystolicPlan& plan, const SystolicCosting& costing) {
  return Evaluation(plan, costing).bound();
}

}  // namespace tilewright
