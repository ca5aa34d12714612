// SPDX-License-Identifier: Apache-2.0
#include "device_model/npu_model.h"

#include <array>
#include <map>

#include "schedules/conv2d_im2col_lowering.h"
#include "schedules/matmul_lowering.h"
#include "schedules/matmul_npu.h"

namespace tilewright {
namespace {

const Conv2dPool& conv(const Workload& workload) { return *std::get_if<Conv2dPool>(&workload); }
const Matmul& matmul(const Workload& workload) { return *std::get_if<Matmul>(&workload); }

// Groups of cube cores with the same number of items, as they are dealt.
ChipShare dealt_share(const Dealing& dealing, std::int64_t vector_core_once_bytes) {
  ChipShare share;
  share.cores = dealing.cube_cores;
  std::map<std::int64_t, std::int64_t> cores;  // items -> cores
  for (std::int64_t j = 0; j < dealing.cube_cores; ++j) ++cores[dealing.items_of_cube_core(j)];
  for (const auto& [items, count] : cores) {
    if (items > 0) share.groups.push_back({.cores = count, .items = items});
  }
  std::int64_t active = 0;
  for (std::int64_t v = 0; v < dealing.cube_cores * dealing.clients; ++v)
    active += dealing.items_of_vector_core(v) > 0;
  share.vector_once_bytes = active * vector_core_once_bytes;
  return share;
}

constexpr std::array kConv2dModels{
    NpuVariantModel{
        .variant = Variant::im2col,
        .share =
            [](const Workload& w, const Schedule& s, const Limits& l) {
              const Im2colItem item = im2col_item(conv(w), s, l);
              return dealt_share(item.dealing, item.bias_bytes);
            },
        .latest =
            [](const Workload& w, const Schedule& s, const Limits& l, CoreGroups& groups) {
              groups.clear();
              groups.push({.cores = 1, .items = im2col_item(conv(w), s, l).dealing.busiest()});
            },
        .lower = [](const Workload& w, const Schedule& s, const Limits& l, const CoreGroup& group,
                    TileProgram& program) { lower_im2col(conv(w), s, l, program, group.items); },
        .summarize = [](const Workload& w, const Schedule& s, const Limits& l,
                        WorkSummary& summary) { summarize_im2col(conv(w), s, l, summary); },
        .summarize_item =
            [](const Workload& w, const Schedule& s, const Limits& l, const CoreGroup&,
               bool first_item,
               WorkSummary& summary) { summarize_im2col_item(conv(w), s, l, first_item, summary); },
    },
};

// A core grid: the inner cores, those at the two edges, the one in the corner.
void grid_groups(const Matmul& w, const Schedule& s, CoreGroups& groups) {
  const CoreGrid grid(w, s);
  groups.clear();
  const auto add = [&](std::int64_t cores, std::int64_t m, std::int64_t n) {
    if (cores == 0) return;
    for (CoreGroup& group : groups) {
      if (group.m != m || group.n != n) continue;
      group.cores += cores;
      return;
    }
    groups.push({.cores = cores, .items = 1, .m = m, .n = n});
  };
  add((grid.active_m - 1) * (grid.active_n - 1), grid.single_m, grid.single_n);
  add(grid.active_m - 1, grid.single_m, grid.last_n);
  add(grid.active_n - 1, grid.last_m, grid.single_n);
  add(1, grid.last_m, grid.last_n);
}

ChipShare grid_share(const Matmul& w, const Schedule& s) {
  CoreGroups groups;
  grid_groups(w, s, groups);
  ChipShare share;
  share.cores = std::int64_t{s[Knob::cores_m]} * s[Knob::cores_n];
  share.groups.assign(groups.begin(), groups.end());
  return share;
}

CoreGroup largest_part(const Matmul& w, const Schedule& s) {
  const CoreGrid grid(w, s);
  return {.cores = 1, .items = 1, .m = grid.single_m, .n = grid.single_n};
}

constexpr std::array kMatmulModels{
    NpuVariantModel{
        .variant = Variant::blocked,
        .share = [](const Workload& w, const Schedule& s,
                    const Limits&) { return grid_share(matmul(w), s); },
        .latest = [](const Workload& w, const Schedule& s, const Limits&,
                     CoreGroups& groups) { grid_groups(matmul(w), s, groups); },
        .lower =
            [](const Workload& w, const Schedule& s, const Limits& l, const CoreGroup& group,
               TileProgram& program) {
              lower_matmul(matmul(w), s, l, {group.m, group.n}, program);
            },
        .summarize =
            [](const Workload& w, const Schedule& s, const Limits& l, WorkSummary& summary) {
              const CoreGroup group = largest_part(matmul(w), s);
              summarize_matmul(matmul(w), s, l, {group.m, group.n}, summary);
            },
        .summarize_item =
            [](const Workload& w, const Schedule& s, const Limits& l, const CoreGroup& group, bool,
               WorkSummary& summary) {
              summarize_matmul(matmul(w), s, l, {group.m, group.n}, summary);
            },
    },
};

template <class Models>
const NpuVariantModel* find(const Models& models, Variant variant) {
  for (const NpuVariantModel& model : models) {
    if (model.variant == variant) return &model;
  }
  return nullptr;
}

}  // namespace

const NpuVariantModel* find_npu_model(const Workload& workload, Variant variant) {
  if (std::holds_alternative<Conv2dPool>(workload)) return find(kConv2dModels, variant);
  if (std::holds_alternative<Matmul>(workload)) return find(kMatmulModels, variant);
  return nullptr;
}

}  // namespace tilewright
