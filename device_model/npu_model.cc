// SPDX-License-Identifier: Apache-2.0
#include "device_model/npu_model.h"

#include <array>

#include "schedules/conv2d_im2col_lowering.h"

namespace tilewright {
namespace {

const Conv2dPool& conv(const Workload& workload) { return *std::get_if<Conv2dPool>(&workload); }

constexpr std::array kConv2dModels{
    NpuVariantModel{
        .variant = Variant::im2col,
        .share =
            [](const Workload& w, const Schedule& s, const Limits& l) {
              const Im2colItem item = im2col_item(conv(w), s, l);
              return ChipShare{item.dealing, item.bias_bytes};
            },
        .lower = [](const Workload& w, const Schedule& s, const Limits& l, std::int64_t items,
                    TileProgram& program) { lower_im2col(conv(w), s, l, program, items); },
        .summarize = [](const Workload& w, const Schedule& s, const Limits& l,
                        WorkSummary& summary) { summarize_im2col(conv(w), s, l, summary); },
        .summarize_item =
            [](const Workload& w, const Schedule& s, const Limits& l, bool first_item,
               WorkSummary& summary) { summarize_im2col_item(conv(w), s, l, first_item, summary); },
    },
};

}  // namespace

const NpuVariantModel* find_npu_model(const Workload& workload, Variant variant) {
  if (!std::holds_alternative<Conv2dPool>(workload)) return nullptr;
  for (const NpuVariantModel& model : kConv2dModels) {
    if (model.variant == variant) return &model;
  }
  return nullptr;
}

}  // namespace tilewright
