// SPDX-License-Identifier: Apache-2.0
#include "generators/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright {
namespace {

// Rounds once to the output type, and back to a double.
double rounded_to(DType dtype, double value) {
  return dtype == DType::fp16 ? static_cast<double>(float_from_half(half_from_double(value)))
                              : static_cast<double>(static_cast<float>(value));
}

// What takes the place of Inf in a comparison near the border: the number after the largest, were
// there one.
double beyond_largest(DType dtype) { return dtype == DType::fp16 ? 0x1p16 : 0x1p128; }

struct Judgement {
  bool ok = false;
  double difference = 0;
  double tolerance = 0;
  bool rated = false;  // difference / tolerance is a number
};

class Judge {
 public:
  Judge(const Workload& workload, const Reference& reference, DType dtype, Gate gate)
      : reference_(reference),
        dtype_(dtype),
        exact_(gate == Gate::exact),
        folds_(std::holds_alternative<Conv1dBank>(workload)),
        limits_(tolerance_of(workload)) {}

  Judgement operator()(std::int64_t i, double got) const {
    const double expected = reference_.value(i);
    if (std::isnan(expected)) return {std::isnan(got), 0, 0, false};
    if (std::isinf(expected)) return {got == expected || (folds_ && std::isnan(got)), 0, 0, false};
    const double rounded = rounded_to(dtype_, expected);
    if (exact_) return {got == rounded, std::abs(got - rounded), 0, false};
    if (std::isnan(got)) return {false, 0, tolerance(i, expected), false};
    if (got == rounded && std::isinf(got)) return {true, 0, 0, false};
    const double finite = std::isinf(got) ? std::copysign(beyond_largest(dtype_), got) : got;
    const double allowed = tolerance(i, expected);
    const double difference = std::abs(finite - expected);
    return {difference <= allowed, difference, allowed, allowed > 0};
  }

  double tolerance(std::int64_t i, double expected) const {
    const double sum =
        reference_.absolute_sums.empty()
            ? 0
            : static_cast<double>(reference_.absolute_sums[static_cast<std::size_t>(i)]);
    return std::max(limits_.relative * std::abs(expected), limits_.half_subnormal) +
           limits_.absolute + limits_.per_absolute_sum * sum;
  }

 private:
  const Reference& reference_;
  DType dtype_;
  bool exact_, folds_;
  Tolerance limits_;
};

double largest_finite(const Reference& reference) {
  double largest = 0;
  const std::int64_t count = reference.count();
#pragma omp parallel for reduction(max : largest)
  for (std::int64_t i = 0; i < count; ++i) {
    const double size = std::abs(reference.value(i));
    if (std::isfinite(size) && size > largest) largest = size;
  }
  return largest;
}

std::vector<std::int64_t> index_of(std::int64_t offset, std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> index(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    index[axis] = offset % extents[axis];
    offset /= extents[axis];
  }
  return index;
}

// Elements where gate (c) says no. Elements without a finite reference are gate (b)'s matter.
std::int64_t count_published_failures(const ArrayView& output, const Reference& reference) {
  const double allowed = (output.dtype == DType::fp16 ? 2e-2 : 1e-4) * largest_finite(reference);
  const std::int64_t count = output.count();
  std::int64_t failures = 0;
#pragma omp parallel for reduction(+ : failures)
  for (std::int64_t i = 0; i < count; ++i) {
    const double expected = reference.value(i);
    const double got = static_cast<double>(output.at(i));
    if (!std::isfinite(expected) || got == rounded_to(output.dtype, expected)) continue;
    if (!(std::abs(got - expected) <= allowed)) ++failures;
  }
  return failures;
}

}  // namespace

Tolerance tolerance_of(const Workload& workload) {
  if (std::holds_alternative<Conv1dBank>(workload)) return {1e-5, 1e-5, 0, 0};
  const auto& conv = std::get<Conv2dPool>(workload);
  const std::int64_t group_channels = conv.cin / conv.groups;
  const auto products = static_cast<double>(group_channels * conv.kh * conv.kw);
  const bool half = conv.dtype == DType::fp16;
  return {half ? 0x1p-11 : 0x1p-24, 0, 1.01 * products * 0x1p-24, half ? 0x1p-25 : 0x1p-150};
}

std::string describe_gate(const Workload& workload, Gate gate) {
  if (gate == Gate::exact) return "exact: the double reference rounded once to the output type";
  if (std::holds_alternative<Conv1dBank>(workload)) return "|y-ref| <= 1e-5 + 1e-5*|ref|";
  const bool half = dtype_of(workload) == DType::fp16;
  const auto& conv = std::get<Conv2dPool>(workload);
  return fmt::format("|y-ref| <= 2^-{}*|ref| + 1.01*{}*2^-24*sum|x*w| and |y-ref| <= {}*max|ref|",
                     half ? 11 : 24, conv.cin / conv.groups * conv.kh * conv.kw,
                     half ? "2e-2" : "1e-4");
}

GateReport check_gate(const Workload& workload, const ArrayView& output, const Reference& reference,
                      Gate gate) {
  const Judge judge(workload, reference, output.dtype, gate);
  const std::int64_t count = output.count();
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t failures = 0;
  std::int64_t unrated = 0;
  std::int64_t first = kNone;
  double worst = 0;
#pragma omp parallel for reduction(+ : failures, unrated) reduction(min : first) reduction(max : worst)
  for (std::int64_t i = 0; i < count; ++i) {
    const Judgement judgement = judge(i, static_cast<double>(output.at(i)));
    if (judgement.rated) worst = std::max(worst, judgement.difference / judgement.tolerance);
    if (judgement.ok) continue;
    ++failures;
    if (!judgement.rated) ++unrated;
    first = std::min(first, i);
  }
  GateReport report;
  report.outputs = count;
  report.failures = failures;
  report.unrated_failures = unrated;
  report.worst_ratio = worst;
  if (first != kNone) {
    const auto got = static_cast<double>(output.at(first));
    const Judgement judgement = judge(first, got);
    report.first_failure = GateFailure{first, index_of(first, output.extents), got,
                                       reference.value(first), judgement.tolerance};
  }
  const bool has_published = std::holds_alternative<Conv2dPool>(workload);
  report.published_failures =
      has_published ? count_published_failures(output, reference) : failures;
  return report;
}

}  // namespace tilewright
