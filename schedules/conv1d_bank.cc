// SPDX-License-Identifier: Apache-2.0
#include "schedules/conv1d_bank.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 2> kSymmetryWords{"none", "even_odd"};

constexpr std::array<Field, 11> kFields{
    size_field<&Conv1dBank::n>("n"),
    size_field<&Conv1dBank::l>("l"),
    size_field<&Conv1dBank::cout>("cout"),
    size_field<&Conv1dBank::k>("k"),
    size_field<&Conv1dBank::stride>("stride"),
    word_field<&Conv1dBank::dtype>("dtype", kDTypeWords),
    size_field<&Conv1dBank::cin>("cin", 1),
    Field{.name = "pad",
          .fallback = 0,
          .minimum = 0,
          .words = {},
          .parts = {part<&Conv1dBank::pad_l>("pad_l"), part<&Conv1dBank::pad_r>("pad_r")},
          .part_count = 2},
    size_field<&Conv1dBank::dil>("dil", 1),
    boolean_field<&Conv1dBank::bias>("bias", true),
    word_field<&Conv1dBank::symmetry>("symmetry", kSymmetryWords, 0),
};

const Conv1dBank& self(const Workload& workload) { return std::get<Conv1dBank>(workload); }

std::vector<ArrayShape> inputs(const Workload& workload) {
  const Conv1dBank& w = self(workload);
  std::vector<ArrayShape> arrays{{"x", {w.n, w.cin, w.l}}, {"w", {w.cout, w.cin, w.k}}};
  if (w.bias) arrays.push_back({"bias", {w.cout}});
  return arrays;
}

ArrayShape output(const Workload& workload) {
  const Conv1dBank& w = self(workload);
  return {"y", {w.n, w.cout, w.lout()}};
}

std::array<std::int64_t, 5> mac_factors(const Conv1dBank& w) {
  return {w.n, w.cout, w.lout(), w.cin, w.k};
}

std::optional<std::string> problem(const Workload& workload) {
  const Conv1dBank& w = self(workload);
  if (w.lout() < 1) {
    return fmt::format(
        "the output has size zero: {} taps with dilation {} do not fit into {} samples", w.k, w.dil,
        w.l + w.pad_l + w.pad_r);
  }
  if (w.symmetry == Symmetry::even_odd && w.cout % 2 != 0) {
    return fmt::format("symmetry even_odd needs as many even as odd filters; cout {} is odd",
                       w.cout);
  }
  std::vector<ArrayShape> arrays = inputs(workload);
  arrays.push_back(output(workload));
  return size_problem(arrays, bytes_of(w.dtype), mac_factors(w));
}

}  // namespace

std::int64_t Conv1dBank::lout() const {
  const std::int64_t span = saturating_add(product(dil, k - 1), 1);
  const std::int64_t length = l + pad_l + pad_r;
  return span > length ? 0 : (length - span) / stride + 1;
}

Operator conv1d_bank_operator() {
  return {.name = "conv1d_bank",
          .fields = kFields,
          .make = [] { return Workload(Conv1dBank{}); },
          .problem = problem,
          .inputs = inputs,
          .output = output,
          .dtype = [](const Workload& workload) { return self(workload).dtype; },
          .macs =
              [](const Workload& workload) {
                return bounded_product(mac_factors(self(workload))).value_or(kSaturated);
              }};
}

}  // namespace tilewright
