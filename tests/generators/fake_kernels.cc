// SPDX-License-Identifier: Apache-2.0
// Hand-written kernels with the C ABI of Halide's ahead-of-time output, good and bad, for the
// harness's own test. All of them are conv2d_pool with bias, pool 2, one chain of floats per output
// (and so right for small shapes).
#include <HalideRuntime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <utility>

namespace {

halide_error_handler_t error_handler = nullptr;

// The order of all calls, for the test: a letter a call into the file that FAKE_KERNEL_LOG names.
void log_call(const char* text) {
  const char* const path = std::getenv("FAKE_KERNEL_LOG");
  if (path == nullptr) return;
  if (std::FILE* const file = std::fopen(path, "a")) {
    std::fputs(text, file);
    std::fclose(file);
  }
}

float& element(const halide_buffer_t& b, int i, int j = 0, int k = 0, int l = 0) {
  const int index[4] = {i, j, k, l};
  std::ptrdiff_t offset = 0;
  for (int d = 0; d < b.dimensions; ++d) offset += std::ptrdiff_t{index[d]} * b.dim[d].stride;
  return reinterpret_cast<float*>(b.host)[offset];
}

float convolve(const halide_buffer_t& x, const halide_buffer_t& w, int column, int row, int channel,
               int image) {
  float sum = 0;
  for (int c = 0; c < w.dim[2].extent; ++c) {
    for (int kh = 0; kh < w.dim[1].extent; ++kh) {
      for (int kw = 0; kw < w.dim[0].extent; ++kw) {
        sum += element(x, column + kw, row + kh, c, image) * element(w, kw, kh, c, channel);
      }
    }
  }
  return sum;
}

void convolve_and_pool(void** arguments, int images_left_out = 0) {
  const auto& x = *static_cast<halide_buffer_t*>(arguments[0]);
  const auto& w = *static_cast<halide_buffer_t*>(arguments[1]);
  const auto& bias = *static_cast<halide_buffer_t*>(arguments[2]);
  const auto& y = *static_cast<halide_buffer_t*>(arguments[3]);
  for (int n = 0; n < y.dim[3].extent - images_left_out; ++n) {
    for (int c = 0; c < y.dim[2].extent; ++c) {
      for (int row = 0; row < y.dim[1].extent; ++row) {
        for (int column = 0; column < y.dim[0].extent; ++column) {
          float best = -std::numeric_limits<float>::infinity();
          for (int p = 0; p < 4; ++p)
            best = std::max(best, convolve(x, w, 2 * column + p % 2, 2 * row + p / 2, c, n));
          element(y, column, row, c, n) = best + element(bias, c);
        }
      }
    }
  }
}

float* output_of(void** arguments) {
  return reinterpret_cast<float*>(static_cast<halide_buffer_t*>(arguments[3])->host);
}
std::ptrdiff_t count_of(void** arguments) {
  return static_cast<std::ptrdiff_t>(
      static_cast<halide_buffer_t*>(arguments[3])->number_of_elements());
}

constexpr halide_type_t kFloat{halide_type_float, 32, 1};
constexpr halide_type_t kHalf{halide_type_float, 16, 1};
const halide_filter_argument_t arguments_of_all[4] = {
    {"x", halide_argument_kind_input_buffer, 4, kFloat, nullptr, nullptr, nullptr, nullptr,
     nullptr},
    {"w", halide_argument_kind_input_buffer, 4, kFloat, nullptr, nullptr, nullptr, nullptr,
     nullptr},
    {"bias", halide_argument_kind_input_buffer, 1, kFloat, nullptr, nullptr, nullptr, nullptr,
     nullptr},
    {"y", halide_argument_kind_output_buffer, 4, kFloat, nullptr, nullptr, nullptr, nullptr,
     nullptr}};
const halide_filter_argument_t half_arguments[4] = {
    {"x", halide_argument_kind_input_buffer, 4, kHalf, nullptr, nullptr, nullptr, nullptr, nullptr},
    arguments_of_all[1],
    arguments_of_all[2],
    arguments_of_all[3]};
const halide_filter_metadata_t metadata_of_all{1, 4, arguments_of_all, "x86-64-linux", "fake"};
const halide_filter_metadata_t half_metadata{1, 4, half_arguments, "x86-64-linux", "fake"};
const halide_filter_metadata_t short_metadata{1, 3, arguments_of_all, "x86-64-linux", "fake"};

}  // namespace

// NAME itself is only looked up, never called: the harness calls NAME_argv.
#define FAKE_KERNEL(name, metadata)                                                    \
  extern "C" int name() { return -1; }                                                 \
  extern "C" const halide_filter_metadata_t* name##_metadata() { return &(metadata); } \
  extern "C" int name##_argv([[maybe_unused]] void** arguments)

extern "C" halide_error_handler_t halide_set_error_handler(halide_error_handler_t handler) {
  return std::exchange(error_handler, handler);
}
extern "C" int halide_set_num_threads(int n) {
  log_call(("threads " + std::to_string(n) + "\n").c_str());
  return 0;
}

FAKE_KERNEL(right, metadata_of_all) {
  log_call("a");
  convolve_and_pool(arguments);
  return 0;
}
FAKE_KERNEL(slow, metadata_of_all) {
  log_call("b");
  convolve_and_pool(arguments);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return 0;
}
FAKE_KERNEL(wrong, metadata_of_all) {
  convolve_and_pool(arguments);
  output_of(arguments)[5] += 0.01f;
  return 0;
}
FAKE_KERNEL(unwritten, metadata_of_all) {
  convolve_and_pool(arguments, 1);
  return 0;
}
FAKE_KERNEL(outside, metadata_of_all) {
  convolve_and_pool(arguments);
  output_of(arguments)[count_of(arguments)] = 1;
  return 0;
}
FAKE_KERNEL(before, metadata_of_all) {
  convolve_and_pool(arguments);
  output_of(arguments)[-1] = 1;
  return 0;
}
FAKE_KERNEL(far_outside, metadata_of_all) {
  output_of(arguments)[count_of(arguments) + 100'000] = 1;
  return 0;
}
FAKE_KERNEL(into_input, metadata_of_all) {
  element(*static_cast<halide_buffer_t*>(arguments[0]), 0) = 1;
  return 0;
}
FAKE_KERNEL(reads_outside, metadata_of_all) {
  convolve_and_pool(arguments);
  const auto& x = *static_cast<halide_buffer_t*>(arguments[0]);
  output_of(arguments)[0] += 0 * reinterpret_cast<const float*>(x.host)[x.number_of_elements()];
  return 0;
}
FAKE_KERNEL(returns_error, metadata_of_all) {
  error_handler(nullptr,
                "Input buffer x is accessed at 9,\nwhich is beyond the max (7) in dimension 0\n");
  return -4;
}
FAKE_KERNEL(crash, metadata_of_all) { std::abort(); }
FAKE_KERNEL(moody, metadata_of_all) {  // other bits, within the tolerance, in every run
  static int calls = 0;
  convolve_and_pool(arguments);
  if (++calls % 2 == 0) output_of(arguments)[0] = std::nextafter(output_of(arguments)[0], 100.0f);
  return 0;
}
FAKE_KERNEL(sleeps, metadata_of_all) {
  std::this_thread::sleep_for(std::chrono::hours(1));
  return 0;
}
FAKE_KERNEL(of_half, half_metadata) { return 0; }
FAKE_KERNEL(of_three, short_metadata) { return 0; }
