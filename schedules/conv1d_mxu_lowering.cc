// SPDX-License-Identifier: Apache-2.0
#include "schedules/conv1d_mxu_lowering.h"

namespace tilewright {
namespace {

constexpr std::int64_t kFp32 = 4, kBf16 = 2;

Work of_kind(WorkKind kind) {
  Work work;
  work.kind = kind;
  return work;
}

}  // namespace

// ---- Work -------------------------------------------------------------------------------------

Work BankWorks::load_weights() const {
  const Conv1dBank& w = *p_.workload;
  Work work = of_kind(WorkKind::copy);
  work.path = Path::dma_in;
  work.rows = 1;
  work.row_bytes = round_up(tilewright::product(w.cout, w.cin, w.k), p_.limits->dma_step) * kFp32;
  return work;
}
Work BankWorks::split_weights() const {
  return vector(p_.weight_bytes() / (p_.parts_w * kBf16),
                split_passes(static_cast<int>(p_.parts_w)));
}

Work BankWorks::load(std::int64_t positions) const {
  Work work = of_kind(WorkKind::copy);
  work.path = Path::dma_in;
  work.rows = p_.workload->cin;
  work.row_bytes = p_.window_elements(positions) * kFp32;
  work.stride_bytes = work.rows > 1 ? p_.workload->l * kFp32 : 0;
  return work;
}

Work BankWorks::vector(std::int64_t elements, std::int64_t passes) const {
  Work work = of_kind(WorkKind::vector);
  work.elements = tilewright::product(elements, passes);
  return work;
}
// In lane_masked a sample is a row of lanes, whatever the number of channels in it.
Work BankWorks::split(std::int64_t positions) const {
  const bool masked = p_.variant == Variant::lane_masked;
  const std::int64_t cin = p_.workload->cin;
  return vector(tilewright::product(p_.window_elements(positions),
                                    masked ? round_up(cin, p_.limits->lanes) : cin),
                split_passes(static_cast<int>(p_.parts)));
}

Work BankWorks::rebuild(std::int64_t positions) const {
  Work work = of_kind(WorkKind::rebuild);
  work.m = p_.operand_rows(positions);
  return work;
}
Work BankWorks::prepare(std::int64_t positions) const {
  Work work = of_kind(WorkKind::prepare);
  work.m = p_.operand_rows(positions);
  work.rows = p_.rebuilds ? 1 : p_.parts;
  return work;
}
// One pass folds; part i takes the passes that split off the first i + 1.
Work BankWorks::fold_part(std::int64_t positions, int part) const {
  return vector(p_.operand_rows(positions) * p_.limits->lanes, 1 + split_passes(part + 1));
}
Work BankWorks::fold(std::int64_t positions) const {
  return fold_part(positions, static_cast<int>(p_.parts) - 1);
}

Work BankWorks::transpose_parts(std::int64_t positions) const {
  Work work = of_kind(WorkKind::transpose);
  work.rows = p_.parts * p_.operand_rows(positions);
  work.row_bytes = p_.limits->lanes * kBf16;
  return work;
}

// Rows x columns x lanes of the unit, padding included; channel_major has the filters as rows.
Work BankWorks::product(std::int64_t positions) const {
  const Limits& l = *p_.limits;
  Work work = of_kind(WorkKind::product);
  work.dtype = DType::bf16;
  work.m = round_up(p_.channel_major ? p_.filters : positions, l.issue_rows);
  work.n = p_.rebuilds ? l.columns  // a use serves one block of filters
                       : round_up(p_.channel_major ? positions : p_.filters, l.columns);
  work.k = l.lanes;
  work.rows = p_.rebuilds ? 1 : p_.products;
  if (p_.variant == Variant::lane_masked) work.rows *= p_.groups;
  return work;
}

Work BankWorks::transpose_result(std::int64_t positions) const {
  Work work = of_kind(WorkKind::transpose);
  work.rows = p_.operand_rows(positions);
  work.row_bytes = round_up(p_.workload->cout, p_.limits->columns) * kFp32;
  return work;
}

Work BankWorks::store(std::int64_t positions) const {
  const std::int64_t lout = p_.workload->lout();
  Work work = of_kind(WorkKind::copy);
  work.path = Path::dma_out;
  work.rows = p_.workload->cout;
  work.row_bytes = p_.result_row_elements(positions) * kFp32;
  work.stride_bytes = work.rows > 1 ? round_up(lout, p_.limits->dma_step) * kFp32 : 0;
  return work;
}

// ---- Tree -------------------------------------------------------------------------------------

namespace {

class BankProgram {
 public:
  BankProgram(const BankPlan& plan, TileProgram& program)
      : p_(plan), works_(plan), program_(program) {
    program.clear();
    const std::int64_t stages = plan.stages;
    weights_ = program.add_ring("W", Memory::on_chip, 1, plan.weight_bytes());
    raw_ = program.add_ring("raw", Memory::on_chip, stages, plan.raw_bytes());
    if (plan.folded)
      group_ = program.add_ring("group", Memory::registers, plan.prep_groups, plan.group_bytes());
    stage_ = program.add_ring(plan.rebuilds ? "queue" : "stage", Memory::on_chip, stages,
                              plan.stage_bytes());
    result_ = program.add_ring("y", Memory::on_chip, stages, plan.result_bytes());
    if (!plan.channel_major)
      out_ = program.add_ring("y.ncl", Memory::on_chip, stages, plan.out_bytes());
  }

  void lower() {
    add("load_w", works_.load_weights()).access(weights_, verb::take | verb::write);
    add("split_w", works_.split_weights()).access(weights_, verb::read | verb::write);
    program_.repeat(p_.batches, [&] {
      program_.repeat(p_.full_tiles, [&] { tile(p_.m_tile); });
      if (p_.tail > 0) tile(p_.tail);
    });
  }

 private:
  Operation& add(const char* label, const Work& work) { return program_.add(label, work); }

  void tile(std::int64_t positions) {
    add("load", works_.load(positions)).access(raw_, verb::take | verb::write);
    if (p_.variant == Variant::lane_masked) {
      masked(positions);
    } else if (p_.variant == Variant::compact_k) {
      compact(positions);
    } else {
      p_.rebuilds ? folded_instant(positions) : folded(positions);
    }
    if (!p_.channel_major) {
      add("turn_y", works_.transpose_result(positions))
          .access(result_, verb::read)
          .access(out_, verb::take | verb::write);
    }
    add("store", works_.store(positions)).access(p_.channel_major ? result_ : out_, verb::read);
  }

  void bind_result() { add("bind", of_kind(WorkKind::bind)).access(result_, verb::take); }
  void product(std::int64_t positions) {
    add("product", works_.product(positions))
        .access(stage_, verb::read)
        .access(weights_, verb::read)
        .access(result_, verb::write);
  }

  void masked(std::int64_t positions) {
    add("split", works_.split(positions))
        .access(raw_, verb::read)
        .access(stage_, verb::take | verb::write);
    bind_result();
    product(positions);
  }

  void compact(std::int64_t positions) {
    add("split", works_.split(positions)).access(raw_, verb::read | verb::write);
    bind_result();
    program_.repeat(p_.groups * p_.filter_blocks * p_.products, [&] {
      add("rebuild", works_.rebuild(positions))
          .access(raw_, verb::read)
          .access(stage_, verb::take | verb::write);
      product(positions);
    });
  }

  void prepare(std::int64_t positions) {
    add("prepare", works_.prepare(positions))
        .access(raw_, verb::read)
        .access(group_, verb::take | verb::write);
  }
  void folded(std::int64_t positions) {
    add("reserve", of_kind(WorkKind::reserve)).access(stage_, verb::take);
    bind_result();
    program_.repeat(p_.groups, [&] {
      prepare(positions);
      Operation& fold =
          add("fold", works_.fold(positions)).access(group_, verb::read | verb::write);
      if (p_.channel_major) {
        add("turn", works_.transpose_parts(positions))
            .access(group_, verb::read)
            .access(stage_, verb::write);
      } else {
        fold.access(stage_, verb::write);
      }
      product(positions);
    });
  }

  void folded_instant(std::int64_t positions) {
    bind_result();
    program_.repeat(p_.groups * p_.filter_blocks, [&] {
      for (const PartProduct& use : p_.terms->smallest_first()) {
        prepare(positions);
        add("fold", works_.fold_part(positions, use.x))
            .access(group_, verb::read)
            .access(stage_, verb::take | verb::write);
        product(positions);
      }
    });
  }

  const BankPlan& p_;
  BankWorks works_;
  TileProgram& program_;
  std::uint8_t weights_ = 0, raw_ = 0, group_ = 0, stage_ = 0, result_ = 0, out_ = 0;
};

}  // namespace

void lower_bank(const Conv1dBank& workload, const Schedule& schedule, const Limits& limits,
                TileProgram& program) {
  const BankPlan plan(workload, schedule, limits);
  BankProgram(plan, program).lower();
}

}  // namespace tilewright
