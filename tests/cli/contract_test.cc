// SPDX-License-Identifier: Apache-2.0
// The JSON that scripts rely on: names and types of fields, not their values.
#include <set>

#include "tests/cli/program.h"

namespace tilewright {
namespace {

constexpr const char* kPublished =
    "large-fp16-p2 im2col/base_m:128,base_n:256,base_k:64,rows:6 --device ascend_910b4";
constexpr const char* kTooLarge =
    "large-fp16-p2 im2col/base_m:128,base_n:512,base_k:64,rows:6 --device ascend_910b4";
constexpr const char* kSmall =
    "'conv2d_pool/n:2,cin:64,h:18,w:18,cout:64,kh:3,kw:3,pool:2,dtype:fp16' --device ascend_910b4 "
    "--variant im2col";

class Contract : public Program {};

bool is_text(const Json& json, const char* field) {
  return json.find(field) && json.find(field)->text();
}
bool is_number(const Json& json, const char* field) {
  return json.find(field) && json.find(field)->number();
}
bool is_bool(const Json& json, const char* field) {
  return json.find(field) && json.find(field)->boolean();
}
bool is_null(const Json& json, const char* field) {
  return json.find(field) && json.find(field)->is_null();
}
bool is_object(const Json& json, const char* field) {
  return json.find(field) && json.find(field)->members();
}

TEST_F(Contract, Devices) {
  const Json list = json_of("devices");
  ASSERT_TRUE(list.items() && !list.items()->empty());
  for (const Json& device : *list.items()) {
    EXPECT_TRUE(is_text(device, "name") && is_text(device, "hash") && is_text(device, "kind"));
    EXPECT_EQ(device.text_of("hash").size(), 32u);
  }
  const Json one = json_of("devices show ascend_910b4");
  ASSERT_TRUE(is_object(one, "numbers"));
  for (const JsonMember& number : *one.find("numbers")->members()) {
    EXPECT_TRUE(is_number(number.value, "value") && is_text(number.value, "origin")) << number.key;
  }
}

TEST_F(Contract, Workloads) {
  const Json list = json_of("workloads");
  ASSERT_TRUE(list.items() && !list.items()->empty());
  for (const Json& workload : *list.items()) {
    EXPECT_TRUE(is_text(workload, "name") && is_text(workload, "key"));
    // What is printed is accepted as input.
    EXPECT_EQ(json_of("workloads show " + workload.text_of("key")).text_of("key"),
              workload.text_of("key"));
  }
}

TEST_F(Contract, Space) {
  const Json space = json_of("space large-fp16-p2 --device ascend_910b4 --variant im2col");
  EXPECT_TRUE(is_object(space, "by_limit"));
  std::int64_t refused = 0;
  for (const JsonMember& limit : *space.find("by_limit")->members())
    refused += *limit.value.integer();
  EXPECT_EQ(space.integer_of("points"), space.integer_of("feasible") + refused);
  EXPECT_GE(space.integer_of("feasible"), 1000);
}

TEST_F(Contract, Explain) {
  const Json fits = json_of(std::string("explain ") + kPublished);
  EXPECT_EQ(fits.find("feasible")->boolean(), true);
  EXPECT_TRUE(fits.find("reasons")->items()->empty());
  const Json refused = json_of(std::string("explain ") + kTooLarge, 1);
  EXPECT_EQ(refused.find("feasible")->boolean(), false);
  ASSERT_FALSE(refused.find("reasons")->items()->empty());
  for (const Json& reason : *refused.find("reasons")->items()) {
    EXPECT_TRUE(is_text(reason, "buffer") && is_number(reason, "needed_bytes") &&
                is_number(reason, "available_bytes"));
    EXPECT_TRUE(reason.find("terms")->items() && is_object(reason, "nearest"));
  }
}

void expect_prediction(const Json& json) {
  ASSERT_TRUE(is_object(json, "engines"));
  for (const JsonMember& engine : *json.find("engines")->members()) {
    EXPECT_TRUE(is_number(engine.value, "busy_us") && is_number(engine.value, "utilisation"))
        << engine.key;
    EXPECT_TRUE(is_object(engine.value, "stalls")) << engine.key;
    EXPECT_LE(engine.value.number_of("utilisation"), 1.0) << engine.key;
  }
  EXPECT_TRUE(is_object(json, "traffic_bytes"));
  EXPECT_TRUE(is_text(json, "bottleneck"));
}

TEST_F(Contract, EstimateAndSimulate) {
  const Json estimate = json_of(std::string("estimate ") + kPublished);
  EXPECT_TRUE(is_number(estimate, "bound_cycles") && is_number(estimate, "bound_us"));
  expect_prediction(estimate);
  const Json simulated = json_of(std::string("simulate ") + kPublished);
  EXPECT_TRUE(is_number(simulated, "cycles") && is_number(simulated, "us"));
  expect_prediction(simulated);
  EXPECT_LE(estimate.integer_of("bound_cycles"), simulated.integer_of("cycles"));
  // The printed schedule is accepted as input and means the same.
  const Json again =
      json_of("simulate large-fp16-p2 " + simulated.text_of("schedule") + " --device ascend_910b4");
  EXPECT_EQ(again.integer_of("cycles"), simulated.integer_of("cycles"));
}

TEST_F(Contract, TuneThenQuery) {
  const Json first = json_of(std::string("tune ") + kSmall);
  EXPECT_TRUE(is_text(first, "schedule") && is_number(first, "bound_us") && is_number(first, "us"));
  EXPECT_TRUE(is_null(first, "measured_us")) << "a simulated device is not measured";
  EXPECT_TRUE(is_bool(first, "proved_optimal") && is_number(first, "gap") &&
              is_number(first, "seconds"));
  ASSERT_TRUE(is_object(first, "space"));
  for (const char* field : {"points", "feasible", "cut", "simulated"})
    EXPECT_TRUE(is_number(*first.find("space"), field)) << field;
  EXPECT_EQ(first.find("served_from_db")->boolean(), false);

  const Json second = json_of(std::string("tune ") + kSmall);
  EXPECT_EQ(second.find("served_from_db")->boolean(), true);
  EXPECT_EQ(second.integer_of("evaluations", -1), 0);
  EXPECT_EQ(second.text_of("schedule"), first.text_of("schedule"));

  const Json best = json_of("query best");
  ASSERT_EQ(best.items()->size(), 1u);
  EXPECT_EQ(best.items()->front().text_of("schedule"), first.text_of("schedule"));
  EXPECT_TRUE(is_null(best.items()->front(), "stale_because"));
  const Json trials = json_of("query trials --limit 100000");
  EXPECT_EQ(std::ssize(*trials.items()), first.integer_of("evaluations"));
  for (const Json& trial : *trials.items())
    EXPECT_TRUE(is_text(trial, "status") && is_text(trial, "schedule"));
  const Json runs = json_of("query runs");
  ASSERT_EQ(runs.items()->size(), 1u);
  EXPECT_EQ(runs.items()->front().text_of("state"), "finished");
}

// A number of the device file changed: the stored answer is stale and the next tune a miss.
TEST_F(Contract, AChangedDeviceIsAMiss) {
  const std::string copy = "cp -rL " TILEWRIGHT_BINARY_DIR "/share/tilewright/devices here && ";
  ASSERT_TRUE(run(copy + "true").ok());
  json_of(std::string("tune ") + kSmall + " --devices-dir here");
  const ProcessResult edited =
      run("sed -i s/131072/65536/ here/ascend_910b4.toml && ! diff -q " TILEWRIGHT_BINARY_DIR
          "/share/tilewright/devices/ascend_910b4.toml here/ascend_910b4.toml");
  ASSERT_TRUE(edited.ok()) << edited.out << edited.err;
  const Json best = json_of("query best --devices-dir here");
  ASSERT_EQ(best.items()->size(), 1u);
  EXPECT_TRUE(is_text(best.items()->front(), "stale_because"));
  const Json again = json_of(std::string("tune ") + kSmall + " --devices-dir here");
  EXPECT_EQ(again.find("served_from_db")->boolean(), false);
}

TEST_F(Contract, ResultsOnStdoutMessagesOnStderr) {
  const ProcessResult good = run("tilewright tune " + std::string(kSmall) + " --json");
  EXPECT_TRUE(parse_json(good.out, "stdout"));
  EXPECT_NE(good.err, "");
  const ProcessResult bad = run("tilewright tune nothing --device host --json");
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(bad.err.rfind("tilewright: ", 0), 0u) << bad.err;
  EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1);
}

TEST_F(Contract, EveryVerbHasHelpWithAnExample) {
  const ProcessResult help = run("tilewright --help");
  ASSERT_TRUE(help.ok());
  for (const char* verb : {"devices", "workloads", "space", "explain", "estimate", "simulate",
                           "tune", "query", "generate", "verify", "run", "demo"}) {
    EXPECT_NE(help.out.find(std::string("\n  ") + verb + " "), std::string::npos) << verb;
    const ProcessResult own = run(std::string("tilewright ") + verb + " --help");
    EXPECT_TRUE(own.ok()) << verb;
    EXPECT_NE(own.out.find(std::string("Example: tilewright ") + verb), std::string::npos) << verb;
    EXPECT_NE(own.out.find("--json"), std::string::npos) << verb;
  }
}

// Ctrl-C: ends within a second, what was simulated is stored, the run is marked.
TEST_F(Contract, CtrlCEndsWithinASecondAndKeepsWhatWasFound) {
  // The budget is one second of searching the largest layer; SIGINT comes after 0.5 s.
  const ProcessResult result = run(
      "tilewright tune large-fp16-p2 --device ascend_910b4 --json >out.json 2>err.txt & pid=$!\n"
      "sleep 0.5; kill -INT $pid 2>/dev/null; start=$(date +%s%N); wait $pid; code=$?; end=$(date "
      "+%s%N)\n"
      "echo $code $(( (end - start) / 1000000 ))");
  int code = -1, milliseconds = -1;
  ASSERT_EQ(std::sscanf(result.out.c_str(), "%d %d", &code, &milliseconds), 2) << result.out;
  EXPECT_LT(milliseconds, 1000);
  EXPECT_TRUE(code == 0 || code == 1) << code;  // 0: it had finished before
  const Json runs = json_of("query runs");
  ASSERT_EQ(runs.items()->size(), 1u);
  EXPECT_NE(runs.items()->front().text_of("state"), "running");
}

}  // namespace
}  // namespace tilewright
