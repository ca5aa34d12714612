// SPDX-License-Identifier: Apache-2.0
// Laws of keys, schedules and limits over random workloads, schedules and devices.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "schedules/limit_checks.h"
#include "schedules/operators.h"
#include "schedules/space.h"
#include "schedules/variants.h"
#include "tests/schedules/samples.h"

namespace tilewright {
namespace {

std::int64_t between(std::int64_t least, std::int64_t most) {
  return *rc::gen::inRange(least, most + 1);
}

// Any valid convolution; `plain`: one that every variant takes.
Workload any_conv(bool plain) {
  Conv2dPool w;
  w.n = between(1, 4);
  w.groups = plain ? 1 : between(1, 3);
  w.cin = w.groups * between(1, 200);
  w.cout = w.groups * between(1, 200);
  w.kh = between(1, 5);
  w.kw = between(1, 5);
  w.pool = between(1, 3);
  w.dtype = plain ? *rc::gen::element(DType::fp32, DType::fp16)
                  : *rc::gen::element(DType::fp32, DType::fp16, DType::bf16, DType::int8);
  w.stride_h = between(1, 3);
  w.stride_w = between(1, 3);
  w.pad_t = between(0, 2);
  w.pad_b = between(0, 2);
  w.pad_l = between(0, 2);
  w.pad_r = between(0, 2);
  w.dil_h = between(1, 3);
  w.dil_w = between(1, 3);
  w.bias = *rc::gen::arbitrary<bool>();
  w.act = *rc::gen::element(Activation::none, Activation::relu);
  w.layout = plain ? Layout::nchw : *rc::gen::element(Layout::nchw, Layout::nhwc);
  w.h = w.dil_h * (w.kh - 1) + 1 + w.stride_h * (w.pool - 1) + between(0, 60);
  w.w = w.dil_w * (w.kw - 1) + 1 + w.stride_w * (w.pool - 1) + between(0, 300);
  return w;
}
Workload any_bank(bool plain) {
  Conv1dBank w;
  w.n = between(1, 4);
  w.cin = between(1, 3);
  w.cout = 2 * between(1, 50);
  w.k = between(1, 300);
  w.stride = between(1, 12);
  w.dil = between(1, 3);
  w.pad_l = between(0, 9);
  w.pad_r = between(0, 9);
  w.l = w.dil * (w.k - 1) + 1 + between(0, 2000);
  w.dtype = plain ? DType::fp32 : *rc::gen::element(DType::fp32, DType::fp16);
  w.bias = *rc::gen::arbitrary<bool>();
  w.symmetry = plain ? Symmetry::even_odd : *rc::gen::element(Symmetry::none, Symmetry::even_odd);
  return w;
}
Workload any_matmul() {
  Matmul w;
  w.m = between(1, 2000);
  w.n = between(1, 2000);
  w.k = between(1, 2000);
  w.dtype = *rc::gen::element(DType::fp16, DType::fp32);
  return w;
}
Workload any_workload(std::string_view op, bool plain) {
  if (op == "matmul") return any_matmul();
  return op == "conv2d_pool" ? any_conv(plain) : any_bank(plain);
}

// Any value that the text of a knob can hold; with sensible ones often.
std::int32_t any_value(Knob knob) {
  if (const auto words = knob_words(knob); !words.empty()) {
    return static_cast<std::int32_t>(between(0, std::ssize(words) - 1));
  }
  const std::int64_t least = knob == Knob::deal_stride || knob == Knob::vec ? 0 : 1;
  return static_cast<std::int32_t>(*rc::gen::weightedOneOf<std::int64_t>({
      {6,
       rc::gen::map(rc::gen::inRange<std::int64_t>(1, 17), [](std::int64_t v) { return 16 * v; })},
      {6, rc::gen::inRange<std::int64_t>(least, 9)},
      {2, rc::gen::inRange<std::int64_t>(least, 700)},
      {1, rc::gen::element<std::int64_t>(std::numeric_limits<std::int32_t>::max(), 1 << 20)},
  }));
}
Schedule any_schedule(const VariantRow& row) {
  Schedule s{row.variant, {}};
  for (const VariantKnob& knob : row.knobs) s[knob.knob] = any_value(knob.knob);
  return s;
}
// Defaults with a few knobs changed: near the border between feasible and not.
Schedule near_schedule(const VariantRow& row, const Workload& w, const Limits& limits) {
  Schedule s = row.hand(w, limits);
  for (std::int64_t changes = between(0, 3); changes > 0; --changes) {
    const Knob knob =
        row.knobs[static_cast<std::size_t>(between(0, std::ssize(row.knobs) - 1))].knob;
    s[knob] = any_value(knob);
  }
  return s;
}
Limits any_limits(DeviceKind kind) {
  if (kind == DeviceKind::host) return host_limits(*rc::gen::element<std::int64_t>(64, 32, 16));
  if (kind == DeviceKind::mxu) {
    Limits limits = mxu_limits();
    limits.on_chip >>= between(0, 3);
    limits.lanes >>= between(0, 2);
    limits.columns >>= between(0, 2);
    limits.group_limit = between(0, 2);
    return limits;
  }
  Limits limits = npu_limits();
  limits.l0a >>= between(0, 2);
  limits.l0b >>= between(0, 2);
  limits.l0c >>= between(0, 2);
  limits.l1 >>= between(0, 3);
  limits.ub >>= between(0, 2);
  return limits;
}

const VariantRow& any_row() {
  const auto rows = variant_rows();
  return *rows[static_cast<std::size_t>(between(0, std::ssize(rows) - 1))];
}
// A variant with limits, on a kind of device that any_limits() knows.
const VariantRow& any_working_row() {
  std::vector<const VariantRow*> rows;
  for (const VariantRow* row : variant_rows()) {
    const bool known_device = row->kind == DeviceKind::host || row->kind == DeviceKind::npu;
    if (row->hand != nullptr && known_device) rows.push_back(row);
  }
  return **rc::gen::elementOf(rows);
}

RC_GTEST_PROP(Laws, KeysSurviveTheRoundTrip, ()) {
  const Workload w = any_workload(*rc::gen::element("conv2d_pool", "conv1d_bank"), false);
  const std::string key = to_key(w);
  const auto parsed = parse_workload_key(key);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == w);
  RC_ASSERT(to_key(*parsed) == key);
  RC_ASSERT(key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789:/,._-") ==
            std::string::npos);
}

RC_GTEST_PROP(Laws, AKeyInAnyOrderWithEveryPartWrittenIsTheSameWorkload, ()) {
  const Workload w = any_workload(*rc::gen::element("conv2d_pool", "conv1d_bank"), false);
  const Operator& op = operator_of(w);
  std::vector<std::string> items;
  for (const Field& field : op.fields) {
    for (const FieldPart& part : field.all_parts()) {
      const std::int64_t value = part.get(w);
      items.push_back(std::string(part.name) + ":" +
                      (field.words.empty()
                           ? std::to_string(value)
                           : std::string(field.words[static_cast<std::size_t>(value)])));
    }
  }
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1],
              items[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
  }
  std::string key = std::string(op.name) + "/";
  for (const std::string& item : items) key += (key.back() == '/' ? "" : ",") + item;
  const auto parsed = parse_workload_key(key);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(to_key(*parsed) == to_key(w));
}

RC_GTEST_PROP(Laws, SchedulesSurviveTheRoundTrip, ()) {
  const VariantRow& row = any_row();
  const Workload w = any_workload(row.op, false);
  const Schedule s = any_schedule(row);
  const std::string text = to_text(s, w, row.kind);
  const auto parsed = parse_schedule(text, w, row.kind);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == s);
  RC_ASSERT(to_text(*parsed, w, row.kind) == text);
}

RC_GTEST_PROP(Laws, KnobsAtTheirDefaultsMayBeLeftOut, ()) {
  const VariantRow& row = any_row();
  const Workload w = any_workload(row.op, false);
  Schedule s = any_schedule(row);
  std::string text = std::string(variant_name(row.variant)) + "/";
  for (const VariantKnob& knob : row.knobs) {
    if (!knob.required && *rc::gen::arbitrary<bool>()) {
      s[knob.knob] = default_value(knob, w);
      continue;
    }
    text += (text.back() == '/' ? "" : ",") + std::string(knob_name(knob.knob)) + ":" +
            knob_value_text(knob.knob, s[knob.knob]);
  }
  const auto parsed = parse_schedule(text, w, row.kind);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == s);
}

RC_GTEST_PROP(Laws, ParsersNeverCrashOnDamagedText, ()) {
  std::string key = *rc::gen::element(kLargeFp16, kSincnet);
  std::string text = "im2col/base_m:128,base_n:256,base_k:64,rows:6,load:norm";
  for (std::string* damaged : {&key, &text}) {
    for (std::int64_t edits = between(1, 4); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(between(0, std::ssize(*damaged)));
      if (at < damaged->size() && *rc::gen::arbitrary<bool>()) {
        damaged->erase(at, static_cast<std::size_t>(between(1, 9)));
      } else {
        damaged->insert(at, 1, *rc::gen::arbitrary<char>());
      }
    }
  }
  // Whatever is accepted is valid and canonical when printed; whatever is not has a message.
  if (const auto w = parse_workload_key(key)) {
    RC_ASSERT(parse_workload_key(to_key(*w)).value() == *w);
  } else {
    RC_ASSERT(!w.error().message.empty());
  }
  const Workload w = workload(kLargeFp16);
  if (const auto s = parse_schedule(text, w, DeviceKind::npu)) {
    RC_ASSERT(parse_schedule(to_text(*s, w, DeviceKind::npu), w, DeviceKind::npu).value() == *s);
  } else {
    RC_ASSERT(!s.error().message.empty());
  }
}

RC_GTEST_PROP(Limits, FirstViolationAgreesWithTheReasons, ()) {
  const VariantRow& row = any_working_row();
  const Workload w = any_workload(row.op, true);
  const struct Limits limits = any_limits(row.kind);
  const Schedule s =
      *rc::gen::arbitrary<bool>() ? any_schedule(row) : near_schedule(row, w, limits);
  const char* first = first_violation(w, s, limits);
  const std::vector<Reason> reasons = infeasible_reasons(w, s, limits);
  RC_TAG(first == nullptr ? "feasible" : first);
  RC_ASSERT((first == nullptr) == reasons.empty());
  if (first != nullptr) RC_ASSERT(reasons.front().buffer == first);
  for (const Reason& reason : reasons) {
    RC_ASSERT(!reason.message.empty());
    if (reason.terms.empty()) continue;
    std::int64_t sum = 0;
    for (const Term& term : reason.terms) sum = saturating_add(sum, term.bytes);
    RC_ASSERT(sum == reason.needed_bytes);
    RC_ASSERT(reason.needed_bytes > reason.available_bytes);
  }
}

std::vector<std::string> buffers(const Workload& w, const Schedule& s,
                                 const struct Limits& limits) {
  std::vector<std::string> names;
  for (const Reason& reason : infeasible_reasons(w, s, limits)) names.push_back(reason.buffer);
  return names;
}
bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

// Repairs the limit and breaks none that held before.
bool repairs(const Workload& w, const Schedule& changed, const struct Limits& limits,
             const std::string& limit, const std::vector<std::string>& before) {
  const auto after = buffers(w, changed, limits);
  return !contains(after, limit) &&
         std::all_of(after.begin(), after.end(),
                     [&](const std::string& name) { return contains(before, name); });
}

RC_GTEST_PROP(Limits, NearestValuesRepairAndNoneIsNearer, ()) {
  const VariantRow& row = any_working_row();
  const Workload w = any_workload(row.op, true);
  const struct Limits limits = any_limits(row.kind);
  const Schedule s = near_schedule(row, w, limits);
  const std::vector<Reason> reasons = infeasible_reasons(w, s, limits);
  const std::vector<std::string> before = buffers(w, s, limits);
  for (const Reason& reason : reasons) {
    for (const auto& [name, text] : reason.nearest) {
      const Knob knob = find_knob(name).value();
      Schedule changed = s;
      if (is_number(text)) {
        changed[knob] = std::stoi(text);
      } else {
        const auto words = knob_words(knob);
        changed[knob] =
            static_cast<std::int32_t>(std::find(words.begin(), words.end(), text) - words.begin());
      }
      RC_ASSERT(repairs(w, changed, limits, reason.buffer, before));
      if (reasons.size() > 1 || !is_number(text)) continue;
      constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
      const std::int64_t now = s[knob];
      const std::int64_t least = knob == Knob::vec || knob == Knob::deal_stride ? 0 : 1;
      const std::int64_t distance = std::abs(changed[knob] - now);
      for (std::int64_t nearer = 1; nearer < std::min<std::int64_t>(distance, 300); ++nearer) {
        for (const std::int64_t value : {now - nearer, now + nearer}) {
          if (value < least || value > kMost) continue;
          changed[knob] = static_cast<std::int32_t>(value);
          RC_ASSERT(!repairs(w, changed, limits, reason.buffer, before));
        }
      }
    }
  }
}

RC_GTEST_PROP(Spaces, EveryPointIsFeasibleAndCounted, ()) {
  const VariantRow& row = any_working_row();
  const Workload w = any_workload(row.op, true);
  const struct Limits limits = any_limits(row.kind);
  std::int64_t visited = 0;
  for_each_point(w, row.variant, limits, Grid::coarse, [&](const Schedule& s) {
    ++visited;
    if (visited % 97 == 1) RC_ASSERT(first_violation(w, s, limits) == nullptr);
  });
  const SpaceSize size = space_size(w, row.variant, limits, Grid::coarse);
  RC_ASSERT(visited == size.feasible);
  std::int64_t refused = 0;
  for (const auto& [limit, count] : size.by_limit) refused += count;
  RC_ASSERT(size.points == size.feasible + refused);
}

RC_GTEST_PROP(Spaces, HandSchedulesFitThePublishedDevices, ()) {
  const VariantRow& row = any_working_row();
  const Workload w = any_workload(row.op, true);
  const struct Limits limits = row.kind == DeviceKind::npu   ? npu_limits()
                               : row.kind == DeviceKind::mxu ? mxu_limits()
                                                             : any_limits(row.kind);
  const auto hand = hand_schedule(w, row.variant, limits);
  if (!hand) RC_LOG() << hand.error().message;
  RC_ASSERT(hand.has_value());
}

}  // namespace
}  // namespace tilewright
