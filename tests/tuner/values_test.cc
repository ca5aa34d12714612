// SPDX-License-Identifier: Apache-2.0
// The small values: JSON, options, tables, progress, manifests, conditions, a child's answers.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tuner/evaluate.h"
#include "tuner/files.h"
#include "tuner/json.h"
#include "tuner/kernel_run.h"
#include "tuner/manifest.h"
#include "tuner/options.h"
#include "tuner/progress.h"
#include "tuner/table.h"

namespace tilewright {
namespace {

TEST(Json, KeepsOrderAndParsesBack) {
  Json json = Json::object()
                  .set("z", 1)
                  .set("a", Json::array().push(true).push(2.5).push("x"))
                  .set("n", Json());
  EXPECT_EQ(json.dump(-1), R"({"z":1,"a":[true,2.5,"x"],"n":null})");
  const auto back = parse_json(json.dump(), "test");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->dump(-1), json.dump(-1));
}

TEST(Json, ReadsDefensively) {
  const auto json = parse_json(R"({"text": 3, "whole": 7, "half": 0.5})", "test");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->text_of("text", "other"), "other");
  EXPECT_EQ(json->integer_of("half", -1), -1);
  EXPECT_EQ(json->number_of("whole"), 7);
  EXPECT_EQ(json->find("whole")->find("below"), nullptr);
  EXPECT_EQ(json->find("whole")->items(), nullptr);
}

TEST(Json, GarbageIsAnErrorOfOneLine) {
  for (const char* text : {"", "{", "nonsense", "{\"a\":}", "[1,2", "\x01\xff"}) {
    const auto json = parse_json(text, "output of a child");
    ASSERT_FALSE(json) << text;
    EXPECT_NE(json.error().message.find("output of a child"), std::string::npos);
    EXPECT_EQ(json.error().message.find('\n'), std::string::npos);
  }
}

TEST(Json, BrokenUtf8AndNanAreWritten) {
  EXPECT_NE(Json(std::string("a\xff")).dump(), "");
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
}

CommandLine sample() {
  return {"verb",
          "Does something.",
          {{"FIRST", "needed"}, {"SECOND", "optional", false}},
          {{"--number", "N", "a number"},
           {"-o,--output", "F", "a file"},
           {"--many", "X", "several", true},
           {"--flag", nullptr, "a flag"}},
          "tilewright verb x"};
}

Result<Arguments> parse(const std::vector<std::string>& words) {
  return parse_command_line(sample(), words);
}

TEST(Options, TakesWhatTheTableSays) {
  const auto arguments =
      parse({"a", "--number", "-5", "-o", "file", "--many", "1", "b", "--many", "2", "--flag"});
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->text("FIRST"), "a");
  EXPECT_EQ(arguments->text("SECOND"), "b");
  EXPECT_EQ(arguments->text("--output"), "file");
  EXPECT_EQ(arguments->texts("--many"), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(arguments->flag("--flag"));
  EXPECT_FALSE(arguments->flag("--json"));
  EXPECT_EQ(arguments->integer("--number", -10)->value(), -5);
  EXPECT_EQ(arguments->integer("--number", 1).error().message,
            "--number must be at least 1, not -5");
}

TEST(Options, ErrorsAreUsageErrorsThatNameTheWord) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"a", "--nmber", "3"}, "unknown option '--nmber'; nearest: --number"},
      {{"a", "--flg=1"}, "unknown option '--flg'; nearest: --flag"},
      {{}, "FIRST is missing"},
      {{"a", "b", "c"}, "unexpected argument 'c'"},
      {{"a", "--number"}, "--number"},
      {{"a", "--number", "1", "--number", "2"}, "--number"},
  };
  for (const auto& [words, message] : cases) {
    const auto arguments = parse(words);
    ASSERT_FALSE(arguments) << message;
    EXPECT_EQ(arguments.error().kind, ErrorKind::usage);
    EXPECT_NE(arguments.error().message.find(message), std::string::npos)
        << arguments.error().message;
  }
}

TEST(Options, NumbersAreWholeWords) {
  for (const char* word : {"1x", "", "nan", "inf", "1e", "0x10"}) {
    const auto arguments = parse({"a", "--number", word});
    ASSERT_TRUE(arguments) << word;
    EXPECT_FALSE(arguments->integer("--number", 0)) << word;
    EXPECT_FALSE(arguments->number("--number", 0)) << word;
  }
  EXPECT_EQ(parse({"a", "--number", "0.5"})->number("--number", 0)->value(), 0.5);
}

TEST(Options, HelpNamesEverything) {
  const std::string help = help_text(sample());
  for (const char* word : {"FIRST", "[SECOND]", "--number N", "-o, --output F", "--flag", "--json",
                           "--help", "tilewright verb x"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word;
  }
}

TEST(Table, AlignsNumbersRight) {
  Table table({{"name"}, {"time", Align::right}});
  table.row({"a", "1.0 us"});
  table.row({"longer", "10.0 us"});
  EXPECT_EQ(table.text(), "name       time\na        1.0 us\nlonger  10.0 us\n");
  EXPECT_EQ(us_text(867.13), "867.1 us");
  EXPECT_EQ(us_text(33700), "33.70 ms");
  EXPECT_EQ(us_text(std::nullopt), "-");
  EXPECT_EQ(bytes_text(172544), "172,544 B");
}

TEST(Progress, BarShowsShareAndTimeLeft) {
  EXPECT_EQ(progress_bar(0, 40, 0), "[>                   ] 0/40");
  EXPECT_EQ(progress_bar(10, 40, 30), "[=====>              ] 10/40 1:30 left");
  EXPECT_EQ(progress_bar(40, 40, 30), "[====================] 40/40");
}

TEST(Progress, PlainLinesElsewhere) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = ::open_memstream(&text, &size);
  Progress progress(stream, false);
  progress.begin("building", 3);
  for (std::int64_t i = 1; i <= 3; ++i) progress.at(i);  // too soon for another line
  progress.end();
  std::fclose(stream);
  EXPECT_EQ(std::string(text, size), "building (3)\n");
  std::free(text);
}

TEST(Conditions, ParseBack) {
  const std::string text =
      conditions_text({{"interleaved", 3}, {"peak_1_gmacs", 58.6}, {"peak_gmacs", 114.7}});
  EXPECT_EQ(text, "interleaved:3,peak_1_gmacs:58.6,peak_gmacs:114.7");
  EXPECT_EQ(condition_of(text, "peak_gmacs"), 114.7);
  EXPECT_EQ(condition_of(text, "gmacs"), std::nullopt);
  EXPECT_EQ(condition_of("", "x"), std::nullopt);
}

TEST(Manifest, ParsesBackAndNoticesDamage) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  Manifest m;
  m.name = "k";
  m.workload = "conv2d_pool/...";
  m.schedule = "direct/...";
  m.shared = "k.so";
  m.device_hash = "abc";
  ASSERT_TRUE(write_file(folder->path() + "/k.so", "content"));
  m.artefacts["k.so"] = digest_of_text("content");
  ASSERT_TRUE(write_file(folder->path() + "/k.json", to_json(m).dump()));
  const auto back = read_manifest(folder->path() + "/k.so");
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back).dump(), to_json(m).dump());
  EXPECT_EQ(damage(folder->path(), m.artefacts), "");
  ASSERT_TRUE(write_file(folder->path() + "/k.so", "changed"));
  EXPECT_NE(damage(folder->path(), m.artefacts).find("was changed"), std::string::npos);
  std::filesystem::remove(folder->path() + "/k.so");
  EXPECT_NE(damage(folder->path(), m.artefacts).find("is missing"), std::string::npos);
}

TEST(Manifest, OtherJsonIsRefused) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  for (const char* text :
       {"", "[]", "{}", R"({"manifest_version":2})", R"({"manifest_version":1,"name":"k"})"}) {
    ASSERT_TRUE(write_file(folder->path() + "/k.json", text));
    EXPECT_FALSE(read_manifest(folder->path() + "/k.json")) << text;
  }
  EXPECT_FALSE(read_manifest(folder->path() + "/none.json"));
}

// A lying or broken harness costs its trial only.
TEST(HarnessResult, GarbageIsAFailureNotACrash) {
  for (const char* text :
       {"", "nonsense", "[]", "{}", R"({"status":"ok"})", R"({"status":"ok","kernels":[]})",
        R"({"status":"ok","kernels":7})", R"({"status":"run_failed","message":"no"})"}) {
    EXPECT_FALSE(parse_harness_result(text)) << text;
  }
  const auto odd =
      parse_harness_result(R"({"status":"ok","kernels":[{"times_us":"fast","min_us":"x"}]})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->kernels[0].status, "run_failed");  // it did not say ok
}

TEST(HarnessResult, UsageIsKeptApart) {
  const auto outcome = parse_harness_result(R"({"status":"usage","message":"x.npy: wrong shape"})");
  ASSERT_FALSE(outcome);
  EXPECT_TRUE(outcome.error().usage);
  EXPECT_EQ(outcome.error().message, "x.npy: wrong shape");
}

}  // namespace
}  // namespace tilewright
