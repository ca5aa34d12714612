// SPDX-License-Identifier: Apache-2.0
// A user's own database over a shipped one that is only read. New rows go to the user's; answers
// come from both.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/store.h"
#include "schedules/records.h"
#include "schedules/result.h"

namespace tilewright {

struct LayeredBest {
  BestRecord best;
  bool from_base = false;
};

class Layers {
 public:
  // Without a base path there is the user's database only. `host` is this machine's CPU model:
  // figures measured on it come before others (empty: any machine's).
  static Result<Layers> open(const std::string& user_path, OpenMode mode,
                             const std::optional<std::string>& base_path, const std::string& host);

  Store& user() { return user_; }
  Store* base() { return base_ ? &*base_ : nullptr; }

  // The same question is in every field equal, in both layers. If both have an answer:
  // is_better_answer() of answers.h; the user's if they are equal by it.
  Result<std::optional<LayeredBest>> find_best(const Question& question);
  // Newest first; of two answers to one question only the one that find_best() gives.
  Result<std::vector<LayeredBest>> list_best(std::span<const Store::Current> current,
                                             const BestFilter& filter);

 private:
  Layers(Store user, std::optional<Store> base, std::string host);
  bool base_wins(const BestRecord& user, const BestRecord& base) const;
  Store user_;
  std::optional<Store> base_;
  std::string host_;
};

}  // namespace tilewright
