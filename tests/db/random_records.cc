// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "tests/db/support.h"

namespace tilewright::test {
namespace {

std::int64_t number(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}
bool chance(Random& random, int percent) { return number(random, 1, 100) <= percent; }

double figure(Random& random) {
  const double value =
      std::ldexp(static_cast<double>(random()), static_cast<int>(number(random, -120, 60)));
  return chance(random, 10) ? 0.0 : value;
}

std::int64_t count(Random& random) {
  return chance(random, 10) ? std::numeric_limits<std::int64_t>::max()
                            : number(random, 0, 1'000'000);
}

std::string hex(Random& random) {
  std::string text;
  for (int i = 0; i < 32; ++i) text += "0123456789abcdef"[number(random, 0, 15)];
  return text;
}

}  // namespace

std::string random_text(Random& random, bool any_bytes) {
  static const std::array<std::string, 14> pieces{
      "",    kHostile, "\"quoted\"", "x y", "\n",   "äöü",  "日本語",
      "128", "-7",     "007",        "1e3", "%s?1", "NULL", std::string("\0z", 2)};
  std::string text;
  for (std::int64_t n = number(random, 0, 3); n > 0; --n) {
    text += pieces[static_cast<std::size_t>(number(random, 0, pieces.size() - 1))];
    if (any_bytes && chance(random, 10)) text += "\xff\xc3";  // never UTF-8
  }
  return text;
}

std::string random_time(Random& random) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "20%02d-%02d-%02dT%02d:%02d:%02dZ",
                static_cast<int>(number(random, 10, 40)), static_cast<int>(number(random, 1, 12)),
                static_cast<int>(number(random, 1, 28)), static_cast<int>(number(random, 0, 23)),
                static_cast<int>(number(random, 0, 59)), static_cast<int>(number(random, 0, 59)));
  return text.data();
}

DeviceRecord random_device(Random& random) {
  return {"dev" + std::to_string(number(random, 0, 2)) + random_text(random), hex(random),
          random_text(random)};
}

RunRecord random_run(Random& random) {
  RunRecord run;
  run.versions = {random_text(random), random_text(random), random_text(random),
                  random_text(random), random_text(random)};
  run.command_line = random_text(random);
  run.seed = random();
  run.host = random_text(random);
  run.started_utc = random_time(random);
  run.uid = chance(random, 50) ? hex(random) : "";
  return run;
}

TrialRecord random_trial(Random& random, const DeviceRecord& device) {
  TrialRecord t;
  t.workload_key = "op" + std::to_string(number(random, 0, 3)) + "/a:1,b:" + random_text(random);
  t.device_name = device.name;
  t.device_hash = device.hash;
  t.model_version = random_text(random);
  t.objective = random_text(random);
  t.constraints = random_text(random);
  t.variant = random_text(random);
  t.schedule = random_text(random);
  for (std::int64_t n = number(random, 0, 4); n > 0; --n)
    t.knobs[random_text(random)] = random_text(random);
  t.status = static_cast<TrialStatus>(number(random, 0, 5));
  if (chance(random, 60)) t.bound_us = figure(random);
  if (chance(random, 60)) t.simulated_us = figure(random);
  if (chance(random, 60)) t.bound_cycles = count(random);
  if (chance(random, 60)) t.simulated_cycles = count(random);
  for (std::int64_t n = number(random, 0, 3); n > 0; --n)
    t.traffic_bytes[random_text(random)] = count(random);
  if (chance(random, 40)) {
    t.measured = Measurement{figure(random), figure(random),      count(random),
                             count(random),  random_text(random), random_text(random)};
  }
  t.message = random_text(random);
  return t;
}

ProofRecord random_proof(Random& random) {
  ProofRecord p;
  p.strategy = random_text(random);
  p.grid = random_text(random);
  p.points = count(random);
  p.feasible = count(random);
  p.cut = count(random);
  p.simulated = count(random);
  p.measured = count(random);
  for (std::int64_t n = number(random, 0, 3); n > 0; --n)
    p.by_limit[random_text(random)] = count(random);
  if (chance(random, 50)) p.best_remaining_bound_us = figure(random);
  p.proved_optimal = chance(random, 50);
  if (chance(random, 50)) p.gap = figure(random);
  p.tie_rule = random_text(random);
  p.seconds = figure(random);
  return p;
}

VerdictRecord random_verdict(Random& random) {
  VerdictRecord v;
  v.verdict = random_text(random);
  v.worst_ratio = chance(random, 10) ? std::numeric_limits<double>::infinity() : figure(random);
  v.failures = count(random);
  v.outputs = count(random);
  v.gate = random_text(random);
  v.inputs = random_text(random);
  v.output_digest = random_text(random);
  v.target = random_text(random);
  v.message = random_text(random);
  return v;
}

KernelRecord random_kernel(Random& random) {
  KernelRecord k{
      random_text(random), random_text(random), random_text(random), random_text(random), {}};
  for (std::int64_t n = number(random, 0, 3); n > 0; --n) {
    k.artefact_hashes["out/" + random_text(random)] = hex(random);
  }
  return k;
}

}  // namespace tilewright::test
