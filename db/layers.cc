// SPDX-License-Identifier: Apache-2.0
#include "db/layers.h"

#include <algorithm>
#include <utility>

#include "db/answers.h"

namespace tilewright {

Layers::Layers(Store user, std::optional<Store> base, std::string host)
    : user_(std::move(user)), base_(std::move(base)), host_(std::move(host)) {}

Result<Layers> Layers::open(const std::string& user_path, OpenMode mode,
                            const std::optional<std::string>& base_path, const std::string& host) {
  Result<Store> user = Store::open(user_path, mode);
  if (!user) return pass_error(user);
  std::optional<Store> base;
  if (base_path) {
    Result<Store> opened = Store::open(*base_path, OpenMode::read_only);
    if (!opened) return pass_error(opened);
    base = std::move(*opened);
  }
  return Layers(std::move(*user), std::move(base), host);
}

bool Layers::base_wins(const BestRecord& user, const BestRecord& base) const {
  return is_better_answer(base.trial, base.stored_utc, user.trial, user.stored_utc, host_);
}

Result<std::optional<LayeredBest>> Layers::find_best(const Question& question) {
  Result<std::optional<BestRecord>> user = user_.find_best(question);
  if (!user) return pass_error(user);
  std::optional<BestRecord> base;
  if (base_) {
    Result<std::optional<BestRecord>> found = base_->find_best(question);
    if (!found) return pass_error(found);
    base = std::move(*found);
  }
  if (base && (!*user || base_wins(**user, *base))) return LayeredBest{std::move(*base), true};
  if (*user) return LayeredBest{std::move(**user), false};
  return std::optional<LayeredBest>();
}

Result<std::vector<LayeredBest>> Layers::list_best(std::span<const Store::Current> current,
                                                   const BestFilter& filter) {
  std::vector<LayeredBest> bests;
  Result<std::vector<BestRecord>> user = user_.list_best(current, filter);
  if (!user) return pass_error(user);
  for (BestRecord& best : *user) bests.push_back({std::move(best), false});
  if (!base_) return bests;

  Result<std::vector<BestRecord>> base = base_->list_best(current, filter);
  if (!base) return pass_error(base);
  for (BestRecord& best : *base) {
    // The user's answer to the same question may be beyond the limit, so it is asked for.
    const Result<std::optional<BestRecord>> rival = user_.find_best(best.question);
    if (!rival) return pass_error(rival);
    if (*rival && !base_wins(**rival, best)) continue;
    std::erase_if(bests,
                  [&](const LayeredBest& other) { return other.best.question == best.question; });
    bests.push_back({std::move(best), true});
  }
  std::stable_sort(bests.begin(), bests.end(), [](const LayeredBest& a, const LayeredBest& b) {
    return a.best.stored_utc > b.best.stored_utc;
  });
  if (static_cast<std::int64_t>(bests.size()) > filter.limit) {
    bests.resize(static_cast<std::size_t>(std::max<std::int64_t>(filter.limit, 0)));
  }
  return bests;
}

}  // namespace tilewright
