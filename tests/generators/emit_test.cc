// SPDX-License-Identifier: Apache-2.0
// What Halide complains about becomes one line, and a warning is an error. The pipelines here are
// wrong on purpose.
#include "generators/emit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "generators/kernel.h"

namespace tilewright {
namespace {

using Halide::Func;
using Halide::Var;

Kernel identity(const Workload&, const Schedule&, const KernelContext&) {
  Var i("i");
  Func y("y");
  y(i) = Halide::cast<float>(i);
  return {{}, y};
}

// Halide only warns that this fails whenever it runs.
Kernel too_small_a_bound(const Workload&, const Schedule&, const KernelContext&) {
  Var i("i");
  Func a("a"), y("y");
  a(i) = Halide::cast<float>(i);
  y(i) = a(i) + a(i + 5);
  y.bound(i, 0, 8);
  a.compute_root().bound(i, 0, 4);
  return {{}, y};
}

Kernel unknown_loop(const Workload&, const Schedule&, const KernelContext&) {
  Var i("i"), j("j");
  Func y("y");
  y(i) = Halide::cast<float>(i);
  y.vectorize(j, 8);
  return {{}, y};
}

// Without f16c Halide warns that half is emulated: slow, but right.
Kernel half(const Workload&, const Schedule&, const KernelContext&) {
  Var i("i");
  Func y("y");
  y(i) = Halide::cast<Halide::float16_t>(Halide::cast<float>(i) * 0.5f);
  return {{}, y};
}

EmitRequest request(const std::string& target = "x86-64-linux-sse41") {
  std::filesystem::create_directories("emitted");
  EmitRequest request;
  request.target = target;
  request.name = "f";
  request.folder = "emitted";
  return request;
}

void expect_one_line(const Result<EmitReport>& result, const std::string& says) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::failed);
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << result.error().message;
  EXPECT_NE(result.error().message.find(says), std::string::npos) << result.error().message;
}

TEST(Emit, WritesLibraryAndHeader) {
  const auto report = emit_kernel(request(), identity);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(std::filesystem::exists("emitted/f.a"));
  EXPECT_TRUE(std::filesystem::exists("emitted/f.h"));
}

TEST(Emit, AWarningIsAnError) {
  expect_one_line(emit_kernel(request(), too_small_a_bound), "guaranteed to fail");
}
TEST(Emit, AnIllegalScheduleIsAnError) {
  expect_one_line(emit_kernel(request(), unknown_loop), "j");
}

TEST(Emit, TheWarningAboutEmulatedHalfIsNone) {
  const auto report = emit_kernel(request(), half);
  EXPECT_TRUE(report) << report.error().message;
}

TEST(Emit, AFolderThatIsNotThereIsAnError) {
  EmitRequest nowhere = request();
  nowhere.folder = "no/such/folder";
  expect_one_line(emit_kernel(nowhere, identity), "no/such/folder");
}

TEST(Emit, TargetsAreResolved) {
  const auto host = resolve_target("host");
  ASSERT_TRUE(host);
  EXPECT_NE(*host, "host");
  EXPECT_EQ(natural_vector("x86-64-linux-avx-avx2"), 8);
  EXPECT_EQ(natural_vector("x86-64-linux-avx-avx2-avx512-avx512_skylake"), 16);
  const auto none = resolve_target("z80");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace tilewright
