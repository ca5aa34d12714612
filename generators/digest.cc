// SPDX-License-Identifier: Apache-2.0
#include "generators/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace tilewright {
namespace {

std::string to_hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

struct Digest::State {
  XXH3_state_t* xxh = XXH3_createState();
};

void Digest::Free::operator()(State* state) const {
  XXH3_freeState(state->xxh);
  delete state;
}

Digest::Digest() : state_(new State) {
  if (state_->xxh == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_->xxh);
}

void Digest::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size());
}

void Digest::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  add(std::as_bytes(std::span(text)));
}

void Digest::add(std::int64_t number) { add(std::as_bytes(std::span(&number, 1))); }

std::string Digest::hex() const { return to_hex(XXH3_128bits_digest(state_->xxh)); }

std::string digest_of(std::span<const std::byte> bytes) {
  return to_hex(XXH3_128bits(bytes.data(), bytes.size()));
}

}  // namespace tilewright
