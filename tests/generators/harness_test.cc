// SPDX-License-Identifier: Apache-2.0
// The harness as a process, with hand-written kernels: what it says about good and bad ones, and
// about bad jobs.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "generators/inputs.h"
#include "generators/npy.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kWorkload =
    "conv2d_pool/n:2,cin:3,h:9,w:10,cout:4,kh:3,kw:3,pool:2,dtype:fp32";

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Answer {
  int exit_code = -1;  // 128 + signal when one ended it
  std::string out, err;
  Json json() const { return Json::parse(out); }
};

class Harness : public testing::Test {
 protected:
  // A folder with blanks in its name: paths must survive them.
  fs::path folder_ = fs::current_path() / "a folder";
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  Answer ask(const std::string& job, const std::string& prefix = "") const {
    std::ofstream(folder_ / "job") << job;
    const std::string program =
        std::string(TILEWRIGHT_BINARY_DIR) + "/libexec/tilewright/tilewright-harness";
    const std::string command =
        "cd '" + folder_.string() + "' && " + prefix + " '" + program + "' <job >out 2>err";
    const int status = std::system(command.c_str());
    Answer answer;
    answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    answer.out = slurp(folder_ / "out");
    answer.err = slurp(folder_ / "err");
    return answer;
  }

  static Json job(const std::vector<std::string>& functions) {
    Json job{{"workload", kWorkload}, {"repeat", 2}, {"kernels", Json::array()}};
    for (const std::string& function : functions) {
      job["kernels"].push_back({{"so", TILEWRIGHT_FAKE_KERNELS}, {"function", function}});
    }
    return job;
  }
  Json run(const Json& job, const std::string& prefix = "") const {
    const Answer answer = ask(job.dump(), prefix);
    EXPECT_EQ(answer.exit_code, 0) << answer.err << answer.out;
    EXPECT_EQ(answer.err, "");
    return Json::parse(answer.out, nullptr, false);
  }
};

TEST_F(Harness, RightKernelIsOk) {
  const Json result = run(job({"right"}));
  EXPECT_EQ(result["status"], "ok");
  const Json& kernel = result["kernels"][0];
  EXPECT_EQ(kernel["failures"], 0);
  EXPECT_EQ(kernel["published_gate_failures"], 0);
  EXPECT_EQ(kernel["outputs"], 2 * 4 * 3 * 4);
  EXPECT_GT(kernel["worst_ratio"], 0);  // it does round
  EXPECT_LT(kernel["worst_ratio"], 1);
  EXPECT_EQ(kernel["guards_ok"], true);
  EXPECT_EQ(kernel["repeatable"], true);
  EXPECT_EQ(kernel["times_us"].size(), 2u);
  EXPECT_LE(kernel["min_us"], kernel["median_us"]);
  EXPECT_EQ(kernel["digest"].get<std::string>().size(), 32u);
  EXPECT_GT(result["peak_memory_bytes"], 1 << 20);
  EXPECT_FALSE(result.contains("fma_peak_gmacs"));
}

TEST_F(Harness, WrongElementIsAMismatchWithItsIndex) {
  const Json result = run(job({"wrong"}));
  EXPECT_EQ(result["status"], "mismatch");
  const Json& kernel = result["kernels"][0];
  EXPECT_EQ(kernel["failures"], 1);
  EXPECT_GT(kernel["worst_ratio"], 1);
  EXPECT_EQ(kernel["first_failure"]["index"], Json({0, 0, 1, 1}));  // flat 5 of rows of 4
  EXPECT_NEAR(kernel["first_failure"]["got"].get<double>() -
                  kernel["first_failure"]["expected"].get<double>(),
              0.01, 1e-5);
  EXPECT_NE(result["message"].get<std::string>().find("1 of 96 outputs"), std::string::npos);
}

TEST_F(Harness, UnwrittenOutputFails) {
  const Json result = run(job({"unwritten"}));
  EXPECT_EQ(result["status"], "mismatch");
  EXPECT_EQ(result["kernels"][0]["failures"], 48);
  EXPECT_EQ(result["kernels"][0]["unrated_failures"], 48);
  EXPECT_EQ(result["kernels"][0]["first_failure"]["got"], "nan");
  EXPECT_EQ(result["kernels"][0]["first_failure"]["index"], Json({1, 0, 0, 0}));
}

TEST_F(Harness, WritingOutsideIsSeen) {
  for (const char* function : {"outside", "before", "far_outside"}) {
    const Json result = run(job({function}));
    EXPECT_EQ(result["status"], "run_failed") << function;
    EXPECT_EQ(result["kernels"][0]["guards_ok"], false) << function;
    EXPECT_NE(result["message"].get<std::string>().find("wrote outside its output y"),
              std::string::npos)
        << function;
  }
}

TEST_F(Harness, WritingToAnInputIsSeen) {
  const Json result = run(job({"into_input"}));
  EXPECT_EQ(result["status"], "run_failed");
  EXPECT_NE(result["message"].get<std::string>().find("into_input wrote to its input x"),
            std::string::npos);
}

TEST_F(Harness, ReadingBeyondAnInputGivesNaN) {
  const Json result = run(job({"reads_outside"}));
  EXPECT_EQ(result["status"], "mismatch");
  EXPECT_EQ(result["kernels"][0]["failures"], 1);
  EXPECT_EQ(result["kernels"][0]["first_failure"]["got"], "nan");
}

TEST_F(Harness, ErrorCodeAndMessageAreReported) {
  const Json result = run(job({"returns_error"}));
  EXPECT_EQ(result["status"], "run_failed");
  EXPECT_EQ(result["message"],
            "returns_error returned error code -4: Input buffer x is accessed at 9, which is "
            "beyond the max (7) in dimension 0");
  EXPECT_FALSE(result["kernels"][0].contains("min_us"));
}

TEST_F(Harness, OtherBitsInALaterRunAreAMismatch) {
  Json moody = job({"moody"});
  moody["warmup"] = 0;
  moody["repeat"] = 3;  // calls 2, 3, 4 after the checked one
  const Json result = run(moody);
  EXPECT_EQ(result["status"], "mismatch");
  EXPECT_EQ(result["kernels"][0]["failures"], 0);
  EXPECT_EQ(result["kernels"][0]["repeatable"], false);
}

TEST_F(Harness, CrashAndEndlessKernelAreLeftToTheParent) {
  EXPECT_EQ(ask(job({"crash"}).dump()).exit_code, 128 + SIGABRT);
  const Answer answer = ask(job({"sleeps"}).dump(), "timeout 1");
  EXPECT_EQ(answer.exit_code, 124);
  EXPECT_EQ(answer.out, "");
}

TEST_F(Harness, OneBadKernelDoesNotStopTheOthers) {
  const Json result = run(job({"right", "returns_error", "wrong", "slow"}));
  EXPECT_EQ(result["status"], "run_failed");
  const std::vector<std::string> expected{"ok", "run_failed", "mismatch", "ok"};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(result["kernels"][i]["status"], expected[i]) << i;
  EXPECT_EQ(result["kernels"][0]["digest"], result["kernels"][3]["digest"]);
}

TEST_F(Harness, TimesAreInterleavedAndReal) {
  Json two = job({"right", "slow"});
  two["repeat"] = 3;
  two["threads"] = 2;
  const Json result = run(two, "FAKE_KERNEL_LOG=calls");
  // Threads first; the checked run of each; the warm-up round; three timed rounds.
  EXPECT_EQ(slurp(folder_ / "calls"),
            "threads 2\nthreads 2\nab"
            "ab"
            "ababab");
  EXPECT_LT(result["kernels"][0]["min_us"], 20'000);
  EXPECT_GE(result["kernels"][1]["min_us"], 20'000);
  EXPECT_EQ(result["threads"], 2);
}

TEST_F(Harness, WithoutCheckThereIsNoReference) {
  Json unchecked = job({"wrong"});
  unchecked["check"] = false;
  unchecked["repeat"] = 0;
  const Json result = run(unchecked);
  EXPECT_EQ(result["status"], "ok");
  EXPECT_FALSE(result.contains("reference"));
  EXPECT_FALSE(result["kernels"][0].contains("failures"));
  EXPECT_EQ(result["kernels"][0]["times_us"], Json::array());
}

TEST_F(Harness, IntegerCheckAddsARunWithToleranceZero) {
  Json integers = job({"right", "wrong"});
  integers["integer_check"] = true;
  const Json result = run(integers);
  EXPECT_EQ(result["kernels"][0]["status"], "ok");
  EXPECT_EQ(result["kernels"][0]["integers"]["failures"], 0);
  EXPECT_EQ(result["kernels"][0]["integers"]["outputs"], 96);
  EXPECT_EQ(result["kernels"][1]["integers"]["failures"], 1);
}

TEST_F(Harness, IntegerInputsAreCheckedExactly) {
  Json exact = job({"right", "moody"});
  for (const char* name : {"x", "w", "bias"})
    exact["inputs"][name] = {{"class", "integers"}, {"seed", 5}};
  const Json result = run(exact);
  EXPECT_EQ(result["kernels"][0]["failures"], 0);
  EXPECT_NE(result["gate"].get<std::string>().find("exact"), std::string::npos);
}

TEST_F(Harness, FilesInAndOut) {
  const auto workload = parse_workload_key(kWorkload);
  ASSERT_TRUE(workload.has_value()) << workload.error().message;
  Json with_files = job({"right"});
  for (const ArrayShape& shape : input_shapes(*workload)) {
    const auto array = make_input(*workload, shape, SignalClass::normal, 1);
    ASSERT_TRUE(write_npy((folder_ / (shape.name + " 1.npy")).string(), array->view()).has_value());
    with_files["inputs"][shape.name]["npy"] = shape.name + " 1.npy";
  }
  with_files["output_npy"] = "y 1.npy";
  const Json from_files = run(with_files);
  const Json from_seed = run(job({"right"}));
  EXPECT_EQ(from_files["status"], "ok");
  EXPECT_EQ(from_files["inputs_digest"], from_seed["inputs_digest"]);
  EXPECT_EQ(from_files["kernels"][0]["digest"], from_seed["kernels"][0]["digest"]);
  const auto output =
      read_npy((folder_ / "y 1.npy").string(), DType::fp32, output_shape(*workload).extents);
  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_TRUE(std::isfinite(output->at(0)));
}

TEST_F(Harness, FileOfAnotherShapeIsAUsageError) {
  const Array array(DType::fp32, {2, 3, 9, 11});
  ASSERT_TRUE(write_npy((folder_ / "x.npy").string(), array.view()).has_value());
  Json bad = job({"right"});
  bad["inputs"]["x"]["npy"] = "x.npy";
  const Answer answer = ask(bad.dump());
  EXPECT_EQ(answer.exit_code, 2);
  EXPECT_EQ(answer.json()["status"], "usage");
  EXPECT_EQ(answer.json()["message"],
            "x.npy: expected float32 (2, 3, 9, 10), found float32 (2, 3, 9, 11)");
}

TEST_F(Harness, ReferenceIsCached) {
  Json cached = job({"right"});
  cached["reference_cache"] = "cache of references";
  EXPECT_EQ(run(cached)["reference"]["cached"], false);
  const Json second = run(cached);
  EXPECT_EQ(second["reference"]["cached"], true);
  EXPECT_EQ(second["status"], "ok");
  cached["inputs"]["x"] = {{"class", "normal"}, {"seed", 2}};
  EXPECT_EQ(run(cached)["reference"]["cached"], false);
}

TEST_F(Harness, PeakAndFp32Reference) {
  Json extra = job({"right"});
  extra["peak"] = true;
  extra["threads"] = 2;
  extra["fp32_reference"] = true;
  const Json result = run(extra);
  EXPECT_GT(result["fma_peak_gmacs"]["threads_1"], 0.1);
  EXPECT_GT(result["fma_peak_gmacs"]["threads_T"], 0.1);
  EXPECT_EQ(result["reference"]["fp32_sequential_failures"], 0);
}

TEST_F(Harness, LibrariesThatAreNoKernelsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"nowhere", "no symbol nowhere"},
      {"of_half",
       "argument 0 should be input x float32 (2, 3, 9, 10), found input 'x' of 16 bits, 4 "
       "dimensions"},
      {"of_three", "of_three takes 3 arguments, but " + std::string(kWorkload) + " has 4 arrays"}};
  for (const auto& [function, message] : cases) {
    const Json result = run(job({function}));
    EXPECT_EQ(result["status"], "run_failed");
    EXPECT_NE(result["message"].get<std::string>().find(message), std::string::npos)
        << result["message"];
  }
  Json missing = job({"right"});
  missing["kernels"][0]["so"] = "missing.so";
  EXPECT_NE(run(missing)["message"].get<std::string>().find("can not be loaded"),
            std::string::npos);
}

TEST_F(Harness, MalformedJobsAreUsageErrorsInOneLine) {
  Json field = job({"right"});
  field["repeats"] = 1;
  Json range = job({"right"});
  range["threads"] = 0;
  Json type = job({"right"});
  type["check"] = "yes";
  Json workload = job({"right"});
  workload["workload"] = "conv2d_pool/n:1,cin:0,h:1,w:1,cout:1,kh:1,kw:1,pool:1,dtype:fp32";
  Json dtype = job({"right"});
  dtype["workload"] = "conv2d_pool/n:2,cin:3,h:9,w:10,cout:4,kh:3,kw:3,pool:2,dtype:int8";
  Json signal = job({"right"});
  signal["inputs"]["x"]["class"] = "nromal";
  Json input = job({"right"});
  input["inputs"]["z"]["class"] = "normal";
  Json both = job({"right"});
  both["inputs"]["x"] = {{"class", "normal"}, {"npy", "x.npy"}};
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
        std::string("\xff\xfe"), std::string(R"({"workload": 1, "kernels": []})"), job({}).dump(),
        field.dump(), range.dump(), type.dump(), workload.dump(), dtype.dump(), signal.dump(),
        input.dump(), both.dump()}) {
    const Answer answer = ask(text);
    EXPECT_EQ(answer.exit_code, 2) << text;
    EXPECT_EQ(answer.json()["status"], "usage") << text;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  }
  EXPECT_NE(ask(field.dump()).err.find("'repeats': did you mean 'repeat'?"), std::string::npos);
  EXPECT_NE(ask(signal.dump()).err.find("did you mean 'normal'?"), std::string::npos);
}

}  // namespace
}  // namespace tilewright
