// SPDX-License-Identifier: Apache-2.0
#include "schedules/matmul.h"

#include "schedules/units.h"

namespace tilewright {
namespace {

constexpr std::array<Field, 5> kFields{
    size_field<&Matmul::m>("m"),
    size_field<&Matmul::n>("n"),
    size_field<&Matmul::k>("k"),
    word_field<&Matmul::dtype>("dtype", kDTypeWords),
    boolean_field<&Matmul::trans_b>("trans_b", false),
};

const Matmul& self(const Workload& workload) { return std::get<Matmul>(workload); }

std::vector<ArrayShape> inputs(const Workload& workload) {
  const Matmul& w = self(workload);
  ArrayShape b{"b", {w.k, w.n}};
  if (w.trans_b) b.extents = {w.n, w.k};
  return {{"a", {w.m, w.k}}, b};
}

ArrayShape output(const Workload& workload) {
  const Matmul& w = self(workload);
  return {"c", {w.m, w.n}};
}

std::array<std::int64_t, 3> mac_factors(const Matmul& w) { return {w.m, w.n, w.k}; }

std::optional<std::string> problem(const Workload& workload) {
  std::vector<ArrayShape> arrays = inputs(workload);
  arrays.push_back(output(workload));
  return size_problem(arrays, bytes_of(self(workload).dtype), mac_factors(self(workload)));
}

}  // namespace

Operator matmul_operator() {
  return {.name = "matmul",
          .fields = kFields,
          .make = [] { return Workload(Matmul{}); },
          .problem = problem,
          .inputs = inputs,
          .output = output,
          .dtype = [](const Workload& workload) { return self(workload).dtype; },
          .macs =
              [](const Workload& workload) {
                return bounded_product(mac_factors(self(workload))).value_or(kSaturated);
              },
          .no_kernel =
              "matmul has a model only: there is no Halide kernel and no reference of it "
              "yet"};
}

}  // namespace tilewright
