// SPDX-License-Identifier: Apache-2.0
// A Workload is one layer: an operator and its shape, as plain values. Its canonical key
// (`conv2d_pool/n:1,cin:256,...`) is the database column, the command-line argument, the generator
// parameter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schedules/result.h"

namespace tilewright {

enum class DType : std::uint8_t { fp32, fp16, bf16, int8 };
enum class Activation : std::uint8_t { none, relu };
enum class Layout : std::uint8_t { nchw, nhwc };
enum class Symmetry : std::uint8_t {
  none,
  even_odd
};  // first half of the filters even, second half odd

std::int64_t bytes_of(DType dtype);

// Conv2d + bias + MaxPool, PyTorch's contract. X (n, cin, h, w), W (cout, cin/groups, kh, kw), bias
// (cout), out (n, cout, hout/pool, wout/pool). Pool window = stride = pool, floor. All sizes in
// elements.
struct Conv2dPool {
  std::int64_t n = 0, cin = 0, h = 0, w = 0, cout = 0, kh = 0, kw = 0, pool = 0;
  DType dtype = DType::fp32;
  std::int64_t stride_h = 1, stride_w = 1, pad_t = 0, pad_b = 0, pad_l = 0, pad_r = 0;
  std::int64_t dil_h = 1, dil_w = 1, groups = 1;
  bool bias = true;
  Activation act = Activation::none;
  Layout layout = Layout::nchw;

  std::int64_t hout() const;  // convolution rows before pooling
  std::int64_t wout() const;
  std::int64_t pooled_h() const { return hout() / pool; }
  std::int64_t pooled_w() const { return wout() / pool; }
  friend bool operator==(const Conv2dPool&, const Conv2dPool&) = default;
};

// Conv1d filter bank. x (n, cin, l), w (cout, cin, k), bias (cout), y (n, cout, lout).
struct Conv1dBank {
  std::int64_t n = 0, l = 0, cout = 0, k = 0, stride = 0;
  DType dtype = DType::fp32;
  std::int64_t cin = 1, pad_l = 0, pad_r = 0, dil = 1;
  bool bias = true;
  Symmetry symmetry = Symmetry::none;

  std::int64_t lout() const;
  friend bool operator==(const Conv1dBank&, const Conv1dBank&) = default;
};

// Matrix product. a (m, k), b (k, n) or transposed (n, k), c (m, n); row-major.
struct Matmul {
  std::int64_t m = 0, n = 0, k = 0;
  DType dtype = DType::fp32;
  bool trans_b = false;
  friend bool operator==(const Matmul&, const Matmul&) = default;
};

using Workload = std::variant<Conv2dPool, Conv1dBank, Matmul>;

// Keys. parse(print(w)) == w, and print(parse(t)) is canonical. A parsed workload is valid: every
// size positive, output not empty, all products (MACs, bytes) below 2^62. Errors name the field,
// its position and the nearest valid name.
Result<Workload> parse_workload_key(std::string_view key);
std::string to_key(const Workload& workload);
std::string_view operator_name(const Workload& workload);

// `what` is a canonical key, a path to a TOML file with exactly one workload (or `file.toml:name`),
// or a name from the files in `workloads_dir`. An unknown name is an error that offers the nearest
// one.
Result<Workload> find_workload(std::string_view what, const std::string& workloads_dir);
struct NamedWorkload {
  std::string name;
  Workload workload;
  std::string file;
};
Result<std::vector<NamedWorkload>> list_workloads(const std::string& workloads_dir);

// Sizes of the arrays a kernel touches, in C order (outermost first); inputs in the order x, w,
// bias (bias only if the workload has one). Elements, not bytes. Every array has the workload's
// dtype.
struct ArrayShape {
  std::string name;
  std::vector<std::int64_t> extents;
  friend bool operator==(const ArrayShape&, const ArrayShape&) = default;
};
std::vector<ArrayShape> input_shapes(const Workload& workload);
ArrayShape output_shape(const Workload& workload);
DType dtype_of(const Workload& workload);
std::int64_t output_count(const Workload& workload);  // elements of the output
std::int64_t direct_macs(
    const Workload& workload);  // multiply-adds of the direct loop, padding included

}  // namespace tilewright
