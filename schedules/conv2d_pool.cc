// SPDX-License-Identifier: Apache-2.0
#include "schedules/conv2d_pool.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 2> kActivationWords{"none", "relu"};
constexpr std::array<std::string_view, 2> kLayoutWords{"nchw", "nhwc"};

constexpr std::array<Field, 16> kFields{
    size_field<&Conv2dPool::n>("n"),
    size_field<&Conv2dPool::cin>("cin"),
    size_field<&Conv2dPool::h>("h"),
    size_field<&Conv2dPool::w>("w"),
    size_field<&Conv2dPool::cout>("cout"),
    size_field<&Conv2dPool::kh>("kh"),
    size_field<&Conv2dPool::kw>("kw"),
    size_field<&Conv2dPool::pool>("pool"),
    word_field<&Conv2dPool::dtype>("dtype", kDTypeWords),
    Field{
        .name = "stride",
        .fallback = 1,
        .minimum = 1,
        .words = {},
        .parts = {part<&Conv2dPool::stride_h>("stride_h"), part<&Conv2dPool::stride_w>("stride_w")},
        .part_count = 2},
    Field{.name = "pad",
          .fallback = 0,
          .minimum = 0,
          .words = {},
          .parts = {part<&Conv2dPool::pad_t>("pad_t"), part<&Conv2dPool::pad_b>("pad_b"),
                    part<&Conv2dPool::pad_l>("pad_l"), part<&Conv2dPool::pad_r>("pad_r")},
          .part_count = 4},
    Field{.name = "dil",
          .fallback = 1,
          .minimum = 1,
          .words = {},
          .parts = {part<&Conv2dPool::dil_h>("dil_h"), part<&Conv2dPool::dil_w>("dil_w")},
          .part_count = 2},
    size_field<&Conv2dPool::groups>("groups", 1),
    boolean_field<&Conv2dPool::bias>("bias", true),
    word_field<&Conv2dPool::act>("act", kActivationWords, 0),
    word_field<&Conv2dPool::layout>("layout", kLayoutWords, 0),
};

const Conv2dPool& self(const Workload& workload) { return std::get<Conv2dPool>(workload); }

// Output positions along one axis; 0 if the kernel is larger than the padded image.
std::int64_t positions(std::int64_t size, std::int64_t pad, std::int64_t kernel,
                       std::int64_t dilation, std::int64_t stride) {
  const std::int64_t span = saturating_add(product(dilation, kernel - 1), 1);
  return span > size + pad ? 0 : (size + pad - span) / stride + 1;
}

std::vector<ArrayShape> inputs(const Workload& workload) {
  const Conv2dPool& w = self(workload);
  ArrayShape x{"x", {w.n, w.cin, w.h, w.w}};
  if (w.layout == Layout::nhwc) x.extents = {w.n, w.h, w.w, w.cin};
  std::vector<ArrayShape> arrays{x, {"w", {w.cout, w.cin / w.groups, w.kh, w.kw}}};
  if (w.bias) arrays.push_back({"bias", {w.cout}});
  return arrays;
}

ArrayShape output(const Workload& workload) {
  const Conv2dPool& w = self(workload);
  if (w.layout == Layout::nhwc) return {"y", {w.n, w.pooled_h(), w.pooled_w(), w.cout}};
  return {"y", {w.n, w.cout, w.pooled_h(), w.pooled_w()}};
}

std::array<std::int64_t, 7> mac_factors(const Conv2dPool& w) {
  return {w.n, w.cout, w.hout(), w.wout(), w.cin / w.groups, w.kh, w.kw};
}

std::optional<std::string> problem(const Workload& workload) {
  const Conv2dPool& w = self(workload);
  if (w.pool > 3) return fmt::format("pool must be 1, 2 or 3, not {}; nearest is 3", w.pool);
  for (const auto& [name, channels] : {std::pair{"cin", w.cin}, std::pair{"cout", w.cout}}) {
    if (channels % w.groups != 0) {
      return fmt::format("groups {} does not divide {} {}", w.groups, name, channels);
    }
  }
  if (w.hout() < w.pool || w.wout() < w.pool) {
    return fmt::format(
        "the output has size zero: the convolution gives {} x {} positions, pool needs {} x {}",
        w.hout(), w.wout(), w.pool, w.pool);
  }
  std::vector<ArrayShape> arrays = inputs(workload);
  arrays.push_back(output(workload));
  return size_problem(arrays, bytes_of(w.dtype), mac_factors(w));
}

}  // namespace

std::int64_t Conv2dPool::hout() const { return positions(h, pad_t + pad_b, kh, dil_h, stride_h); }
std::int64_t Conv2dPool::wout() const { return positions(w, pad_l + pad_r, kw, dil_w, stride_w); }

Operator conv2d_pool_operator() {
  return {.name = "conv2d_pool",
          .fields = kFields,
          .make = [] { return Workload(Conv2dPool{}); },
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
