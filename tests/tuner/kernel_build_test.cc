// SPDX-License-Identifier: Apache-2.0
// Building and running kernels with stand-in helpers: shell scripts that fail in all the ways a
// real helper can.
#include "tuner/kernel_build.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "schedules/schedule.h"
#include "tuner/evaluate.h"
#include "tuner/files.h"
#include "tuner/kernel_run.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKey = "conv2d_pool/n:1,cin:16,h:6,w:8,cout:16,kh:3,kw:3,pool:2,dtype:fp32";

// An emitter that writes an empty archive and a header, and a runtime.
constexpr const char* kGoodEmitter = R"(#!/bin/sh
name= runtime= out=
while [ $# -gt 0 ]; do
  case $1 in
    --versions) echo '{"halide_version":"h","generator_version":"g"}'; exit 0 ;;
    --runtime) runtime=1 ;;
    --name) name=$2; shift ;;
    -o) out=$2; shift ;;
  esac
  shift
done
printf '!<arch>\n' > "$out/${name:-halide_runtime}.a"
[ -n "$name" ] && echo '/* header */' > "$out/$name.h"
echo '{"target":"test-target","halide_version":"h","generator_version":"g"}'
)";

class KernelBuild : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TemporaryFolder>(std::move(*made));
    installation_.libexec_dir = folder_->path();
    installation_.compiler = "c++";
    const auto workload = parse_workload_key(kKey);
    ASSERT_TRUE(workload);
    spec_.workload = *workload;
    const auto schedule =
        parse_schedule("direct/base_m:16,base_n:2,base_k:16,rows:2", *workload, DeviceKind::host);
    ASSERT_TRUE(schedule) << schedule.error().message;
    spec_.schedule = *schedule;
    spec_.name = "k";
  }

  void helper(const std::string& name, const std::string& script) {
    const std::string path = folder_->path() + "/" + name;
    ASSERT_TRUE(write_file(path, script));
    fs::permissions(path, fs::perms::owner_all);
  }
  void emitter(const std::string& script) { helper("tilewright-emit-conv2d_pool", script); }
  std::string out() const { return folder_->path() + "/out"; }
  BuildOutcome build() { return KernelBuilder(installation_, out(), {}).build(spec_); }

  std::unique_ptr<TemporaryFolder> folder_;
  Installation installation_;
  KernelSpec spec_;
};

TEST_F(KernelBuild, WritesLibraryHeaderAndManifestWithDigests) {
  emitter(kGoodEmitter);
  const BuildOutcome outcome = build();
  ASSERT_EQ(outcome.status, TrialStatus::ok) << outcome.message;
  ASSERT_TRUE(outcome.kernel);
  EXPECT_EQ(outcome.kernel->target, "test-target");
  const auto manifest = read_manifest(out() + "/k.json");
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->workload, kKey);
  for (const char* file : {"k.a", "k.h", "k.so"})
    EXPECT_EQ(manifest->artefacts.count(file), 1u) << file;
  EXPECT_EQ(damage(out(), manifest->artefacts), "");
  EXPECT_EQ(manifest->link.find(folder_->path()), std::string::npos)
      << "no absolute path in a manifest";
}

TEST_F(KernelBuild, MissingCompilerIsAClearFailure) {
  emitter(kGoodEmitter);
  installation_.compiler = "no-such-compiler";
  const BuildOutcome outcome = build();
  EXPECT_EQ(outcome.status, TrialStatus::build_failed);
  EXPECT_NE(outcome.message.find("'no-such-compiler' could not be started"), std::string::npos)
      << outcome.message;
  EXPECT_NE(outcome.message.find("install g++ or set CXX"), std::string::npos);
}

TEST_F(KernelBuild, CompilerThatFailsIsNamedWithItsError) {
  emitter(kGoodEmitter);
  installation_.compiler = folder_->path() + "/cc";
  helper("cc", "#!/bin/sh\necho warning >&2\necho 'error: bad archive' >&2\nexit 1\n");
  const BuildOutcome outcome = build();
  EXPECT_EQ(outcome.status, TrialStatus::build_failed);
  EXPECT_NE(outcome.message.find("error: bad archive"), std::string::npos) << outcome.message;
}

TEST_F(KernelBuild, MissingEmitterNamesTheTarget) {
  const BuildOutcome outcome = build();
  EXPECT_EQ(outcome.status, TrialStatus::build_failed);
  EXPECT_NE(outcome.message.find("build the target tilewright-emit-conv2d_pool"), std::string::npos)
      << outcome.message;
}

TEST_F(KernelBuild, EmitterThatFailsHangsOrLiesCostsItsKernelOnly) {
  const std::vector<std::tuple<std::string, TrialStatus, std::string>> cases = {
      {"echo 'Halide: error: no such bound' >&2; exit 1", TrialStatus::build_failed,
       "no such bound"},
      {"kill -11 $$", TrialStatus::build_failed, "signal 11"},
      {"echo nonsense", TrialStatus::build_failed, "no JSON"},
      {"echo '{}'", TrialStatus::build_failed, "no target"},
      {"sleep 30", TrialStatus::timed_out, "stopped after"},
  };
  for (const auto& [script, status, message] : cases) {
    emitter("#!/bin/sh\n" + script + "\n");
    KernelBuilder builder(installation_, out(), {});
    builder.emit_limits.seconds = 0.5;
    const BuildOutcome outcome = builder.build(spec_);
    EXPECT_EQ(outcome.status, status) << script;
    EXPECT_NE(outcome.message.find(message), std::string::npos) << outcome.message;
    EXPECT_FALSE(outcome.kernel);
  }
}

TEST_F(KernelBuild, SeveralAtOnceKeepTheirOrder) {
  emitter(kGoodEmitter);
  std::vector<KernelSpec> specs;
  for (int i = 0; i < 6; ++i) {
    specs.push_back(spec_);
    specs.back().name = fmt::format("k{}", i);
  }
  KernelBuilder builder(installation_, out(), {});
  std::int64_t last = 0;
  const auto outcomes = builder.build_all(specs, 3, [&](std::int64_t done) { last = done; });
  EXPECT_EQ(last, 6);
  EXPECT_EQ(builder.built(), 6);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    ASSERT_TRUE(outcomes[i].kernel) << outcomes[i].message;
    EXPECT_EQ(outcomes[i].kernel->name, specs[i].name);
  }
}

TEST_F(KernelBuild, FolderThatCanNotBeMadeIsAnError) {
  emitter(kGoodEmitter);
  ASSERT_TRUE(write_file(folder_->path() + "/file", ""));
  const BuildOutcome outcome =
      KernelBuilder(installation_, folder_->path() + "/file/below", {}).build(spec_);
  EXPECT_EQ(outcome.status, TrialStatus::build_failed);
}

TEST_F(KernelBuild, VersionsComeFromTheEmitter) {
  emitter(kGoodEmitter);
  const auto versions = emitter_versions(installation_, spec_.workload);
  ASSERT_TRUE(versions);
  EXPECT_EQ(versions->halide, "h");
  EXPECT_EQ(versions->generator, "g");
}

TEST(CIdentifier, IsOne) {
  EXPECT_EQ(c_identifier("large-fp32-p2_host"), "large_fp32_p2_host");
  EXPECT_EQ(c_identifier("3d"), "k_3d");
  EXPECT_EQ(c_identifier(""), "k_");
}

// ------------------------------------------------------------------------------------------------
// The measuring evaluator with a stand-in harness.

class Measuring : public KernelBuild {
 protected:
  void SetUp() override {
    KernelBuild::SetUp();
    emitter(kGoodEmitter);
    const auto device = find_device("host", find_installation(""));
    ASSERT_TRUE(device) << device.error().message;
    device_ = *device;
  }
  std::vector<TrialRecord> evaluate(const std::vector<const char*>& texts) {
    KernelBuilder builder(installation_, out(), {});
    Progress silent(nullptr, false);
    MeasuringOptions options;
    options.kernel_seconds = 0.5;
    MeasuringEvaluator evaluator({spec_.workload, device_, ""}, installation_, builder, options,
                                 silent, {});
    Batch batch;
    for (const char* text : texts)
      batch.schedules.push_back(*parse_schedule(text, spec_.workload, DeviceKind::host));
    auto trials = evaluator.evaluate(batch);
    for (const TrialRecord& trial : trials) costs_.push_back(evaluator.cost_of(trial));
    return trials;
  }
  static constexpr const char* kOne = "direct/base_m:16,base_n:2,base_k:16,rows:2";
  static constexpr const char* kOther = "direct/base_m:16,base_n:1,base_k:16,rows:2";
  Device device_;
  std::vector<std::optional<std::int64_t>> costs_;
};

// Answers for each kernel of the job (names are k-something in order): the first ok, the others a
// mismatch.
TEST_F(Measuring, EachKernelHasItsOwnStatus) {
  helper("tilewright-harness", R"(#!/bin/sh
echo '{"status":"mismatch","kernels":[{"status":"ok","min_us":2.5,"median_us":3,"times_us":[2.5,3],"digest":"d"},
 {"status":"mismatch","failures":3,"outputs":9,"first_failure":{"index":[0,1],"got":1,"expected":2,"tolerance":0}}]}'
)");
  const auto trials = evaluate({kOne, kOther});
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].status, TrialStatus::ok);
  ASSERT_TRUE(trials[0].measured);
  EXPECT_EQ(trials[0].measured->min_us, 2.5);
  EXPECT_EQ(trials[0].measured->repetitions, 2);
  EXPECT_EQ(costs_[0], 2500);
  EXPECT_EQ(trials[1].status, TrialStatus::mismatch);
  EXPECT_FALSE(trials[1].measured);
  EXPECT_NE(trials[1].message.find("at [0,1]: got 1, expected 2"), std::string::npos)
      << trials[1].message;
  EXPECT_FALSE(costs_[1]);
}

// One kernel takes the whole process with it: the others are run again, alone.
TEST_F(Measuring, ACrashIsIsolated) {
  // Crashes when two kernels are asked at once, then on the first one alone.
  helper("tilewright-harness", R"(#!/bin/sh
job=$(cat)
count=$(printf '%s' "$job" | grep -o '"function"' | wc -l)
[ "$count" = 2 ] && kill -11 $$
if [ ! -f ")" + folder_->path() + R"(/seen" ]; then touch ")" +
                                   folder_->path() + R"(/seen"; kill -11 $$; fi
echo '{"status":"ok","kernels":[{"status":"ok","min_us":1,"times_us":[1]}]}'
)");
  const auto trials = evaluate({kOne, kOther});
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].status, TrialStatus::run_failed);
  EXPECT_NE(trials[0].message.find("signal 11"), std::string::npos) << trials[0].message;
  EXPECT_EQ(trials[1].status, TrialStatus::ok);
}

TEST_F(Measuring, AKernelThatHangsIsTimedOut) {
  helper("tilewright-harness", "#!/bin/sh\nsleep 60\n");
  const auto trials = evaluate({kOne});
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].status, TrialStatus::timed_out);
  EXPECT_FALSE(costs_[0]);
}

TEST_F(Measuring, AnAnswerForTooFewKernelsIsNotBelieved) {
  helper("tilewright-harness",
         "#!/bin/sh\necho '{\"status\":\"ok\",\"kernels\":[{\"status\":\"ok\",\"min_us\":1}]}'\n");
  const auto trials = evaluate({kOne, kOther});
  // Together they give nothing; alone each answer fits.
  for (const TrialRecord& trial : trials) EXPECT_EQ(trial.status, TrialStatus::ok);
}

}  // namespace
}  // namespace tilewright
