// SPDX-License-Identifier: Apache-2.0
// Kernels from the command line: generated, verified, run on files, tuned; and what happens when
// they are broken.
#include <filesystem>

#include "generators/npy.h"
#include "tests/cli/program.h"

namespace tilewright {
namespace {

class Kernels : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    const ProcessResult made =
        run(std::string("tilewright generate '") + kTinyConv + "' --device host --schedule " +
            kTinyConvSchedule + " --name tiny");
    ASSERT_TRUE(made.ok()) << made.err;
  }
  void write_inputs() {
    write("x.npy", {1, 16, 10, 14}, 0.5F);
    write("w.npy", {16, 16, 3, 3}, 0.25F);
    write("bias.npy", {16}, 1);
  }
  void write(const std::string& name, std::vector<std::int64_t> extents, float value,
             DType dtype = DType::fp32) {
    Array array(dtype, std::move(extents));
    for (std::int64_t i = 0; i < array.count(); ++i) array.set(i, value);
    ASSERT_TRUE(write_npy(path(name), array.view()));
  }
  static constexpr const char* kInputs = " --input x.npy --input w.npy --input bias.npy";
};

TEST_F(Kernels, GenerateWritesWhatItSays) {
  const Json json = json_of(std::string("generate '") + kTinyConv +
                            "' --device host --name again --schedule " + kTinyConvSchedule);
  for (const char* field : {"library", "header", "shared", "manifest", "runtime"}) {
    EXPECT_TRUE(std::filesystem::exists(path(json.text_of(field)))) << field;
  }
}

TEST_F(Kernels, VerifyPassesAndIsStored) {
  const Json verdict = json_of("verify tiny");
  EXPECT_EQ(verdict.text_of("verdict"), "ok") << verdict.dump();
  EXPECT_EQ(verdict.integer_of("failures", -1), 0);
  EXPECT_EQ(verdict.integer_of("outputs"), 16 * 4 * 6);
  EXPECT_LE(verdict.number_of("worst_ratio", 2), 1);
  EXPECT_EQ(verdict.text_of("digest").size(), 32u);
  // The same seed gives the same bits in another process.
  EXPECT_EQ(json_of("verify tiny").text_of("digest"), verdict.text_of("digest"));
  EXPECT_NE(json_of("verify tiny --seed 2").text_of("digest"), verdict.text_of("digest"));
  const Json trials = json_of("query trials");
  ASSERT_FALSE(trials.items()->empty());
  EXPECT_EQ(trials.items()->front().text_of("status"), "ok");
}

// 144 products of 0.125, bias 1: 19.
TEST_F(Kernels, RunComputesTheLayerOnFiles) {
  write_inputs();
  const Json json = json_of(std::string("run tiny --output y.npy") + kInputs);
  EXPECT_GT(json.number_of("seconds"), 0);
  const auto y = read_npy(path("y.npy"), DType::fp32, {1, 16, 4, 6});
  ASSERT_TRUE(y) << y.error().message;
  for (std::int64_t i = 0; i < y->count(); ++i) ASSERT_EQ(y->at(i), 19) << i;
  EXPECT_EQ(json_of(std::string("verify tiny") + kInputs).text_of("verdict"), "ok");
}

TEST_F(Kernels, WrongFilesAreUsageErrorsThatShowBothShapes) {
  write_inputs();
  const std::string wrong_x = "tilewright run tiny --output y.npy --input ";
  const std::string rest = " --input w.npy --input bias.npy";
  write("shape.npy", {1, 16, 10, 15}, 0);
  ProcessResult result = run(wrong_x + "shape.npy" + rest);
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("(1, 16, 10, 15)"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("(1, 16, 10, 14)"), std::string::npos) << result.err;
  write("type.npy", {1, 16, 10, 14}, 0, DType::fp16);
  result = run(wrong_x + "type.npy" + rest);
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("float16"), std::string::npos) << result.err;
  result = run(wrong_x + "none.npy" + rest);
  EXPECT_EQ(result.code, 2);
  ASSERT_TRUE(run("head -c 100 x.npy > cut.npy").ok());
  result = run(wrong_x + "cut.npy" + rest);
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("cut.npy"), std::string::npos) << result.err;
  result = run(wrong_x + "x.npy");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("1 input files given, the kernel takes 3"), std::string::npos)
      << result.err;
}

TEST_F(Kernels, AChangedKernelIsNotVerified) {
  ASSERT_TRUE(run("printf x >> out/tiny.so").ok());
  const ProcessResult result = run("tilewright verify tiny");
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("was changed: generate the kernel again"), std::string::npos)
      << result.err;
}

// Puts a kernel of C in the place of the generated one.
std::string replace_kernel(const std::string& body) {
  return "cat > bad.c <<'EOF'\n"
         "struct halide_buffer_t;\n"
         "extern const void* tiny_metadata(void);\n" +
         body +
         "EOF\n"
         "mkdir part && cd part && ar x ../out/tiny.a && cd .. && for o in part/*.o; do objcopy "
         "--weaken $o; done\n"
         "cc -shared -fPIC -O1 -o out/tiny.so bad.c part/*.o -Wl,--whole-archive "
         "out/halide_runtime*.a "
         "-Wl,--no-whole-archive -lpthread -ldl -lm\n";
}

TEST_F(Kernels, AKernelThatHangsIsTimedOut) {
  write_inputs();
  const ProcessResult made = run(replace_kernel(
      "int tiny(void* x, void* w, void* b, void* y) { for (volatile int i = 0;; i = 0) {} }\n"
      "int tiny_argv(void** a) { for (volatile int i = 0;; i = 0) {} }\n"));
  ASSERT_TRUE(made.ok()) << made.err;
  const ProcessResult result =
      run(std::string("tilewright run tiny --output y.npy --time-limit 1") + kInputs);
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("timed_out"), std::string::npos) << result.err;
  EXPECT_LT(result.seconds, 10);
  EXPECT_FALSE(std::filesystem::exists(path("y.npy")));
}

TEST_F(Kernels, AKernelThatCrashesIsARunFailure) {
  write_inputs();
  const ProcessResult made = run(
      replace_kernel("int tiny(void* x, void* w, void* b, void* y) { return *(volatile int*)0; }\n"
                     "int tiny_argv(void** a) { return *(volatile int*)0; }\n"));
  ASSERT_TRUE(made.ok()) << made.err;
  const ProcessResult result = run(std::string("tilewright run tiny --output y.npy") + kInputs);
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("run_failed"), std::string::npos) << result.err;
}

TEST_F(Kernels, TuneOnTheHostMeasuresAndIsServedAfterwards) {
  const std::string tune = std::string("tune '") + kTinyConv + "' --device host";
  const Json first = json_of(tune);
  EXPECT_EQ(first.find("served_from_db")->boolean(), false);
  EXPECT_GT(first.number_of("measured_us"), 0);
  EXPECT_TRUE(first.find("us")->is_null()) << "the host is measured, not simulated";
  EXPECT_GT(first.integer_of("compilations"), 0);
  EXPECT_EQ(first.find("verdict")->text_of("verdict"), "ok");
  const Json second = json_of(tune);
  EXPECT_EQ(second.find("served_from_db")->boolean(), true);
  EXPECT_EQ(second.integer_of("compilations", -1), 0);
  EXPECT_EQ(second.number_of("measured_us"), first.number_of("measured_us"));
  // Other threads are another question.
  EXPECT_EQ(json_of(tune + " --threads 1").find("served_from_db")->boolean(), false);
  // The fastest of the stored schedules becomes a kernel, whichever question it answered.
  const Json kernel =
      json_of(std::string("generate '") + kTinyConv + "' --device host --name best");
  const Json stored = json_of("query best");
  ASSERT_EQ(stored.items()->size(), 2U);
  const auto median = [](const Json& row) { return row.find("measured")->number_of("median_us"); };
  const Json& newer = stored.items()->front();
  const Json& older = stored.items()->back();
  EXPECT_EQ(kernel.text_of("schedule"),
            (median(newer) <= median(older) ? newer : older).text_of("schedule"));
  EXPECT_EQ(json_of("verify best").text_of("verdict"), "ok");
}

TEST_F(Kernels, TheTwinOfAnNpuScheduleIsCheckedToo) {
  const ProcessResult made = run(
      "tilewright generate 'conv2d_pool/n:1,cin:32,h:10,w:18,cout:32,kh:3,kw:3,pool:2,dtype:fp16' "
      "--device ascend_910b4 "
      "--schedule im2col/base_m:32,base_n:32,base_k:32,rows:4 --name twin");
  ASSERT_TRUE(made.ok()) << made.err;
  EXPECT_EQ(json_of("verify twin").text_of("verdict"), "ok");
}

TEST_F(Kernels, MissingCompilerOnTheHostFailsEveryTrialAndSaysSo) {
  const ProcessResult result = run(std::string("CXX=no-such-compiler tilewright tune '") +
                                   kTinyConv + "' --device host --budget 2");
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("no-such-compiler"), std::string::npos) << result.err;
  const Json trials = json_of("query trials");
  ASSERT_FALSE(trials.items()->empty());
  for (const Json& trial : *trials.items()) EXPECT_EQ(trial.text_of("status"), "build_failed");
}

}  // namespace
}  // namespace tilewright
