// SPDX-License-Identifier: Apache-2.0
// A reference as a file: magic, key, three counts, the three arrays, digest of all that. Native
// byte order: the files stay on the machine.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "generators/digest.h"
#include "generators/reference.h"

namespace tilewright {
namespace {

constexpr std::string_view kMagic = "tilewright-ref-1";
using Counts = std::array<std::int64_t, 3>;

std::string key_of(const Workload& workload, const std::string& inputs_digest) {
  Digest digest;
  digest.add(to_key(workload));
  digest.add(inputs_digest);
  digest.add(kReferenceVersion);
  return digest.hex();
}

std::string digest_of_parts(const std::string& key, const Counts& counts,
                            const Reference& reference) {
  Digest digest;
  digest.add(key);
  for (const std::int64_t count : counts) digest.add(count);
  digest.add(std::as_bytes(std::span(reference.rounded)));
  digest.add(std::as_bytes(std::span(reference.exact)));
  digest.add(std::as_bytes(std::span(reference.absolute_sums)));
  return digest.hex();
}

template <class T>
void write_vector(std::ofstream& file, const std::vector<T>& values) {
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}
template <class T>
void read_vector(std::ifstream& file, std::vector<T>& values, std::int64_t count) {
  values.resize(static_cast<std::size_t>(count));
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
}

bool load(const std::string& path, const std::string& key, std::int64_t outputs,
          Reference& reference) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(kMagic.size(), '\0');
  std::string stored_key(key.size(), '\0');
  Counts counts{};
  file.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  file.read(stored_key.data(), static_cast<std::streamsize>(stored_key.size()));
  file.read(reinterpret_cast<char*>(counts.data()), sizeof(counts));
  if (!file || magic != kMagic || stored_key != key) return false;
  for (const std::int64_t count : counts) {
    if (count != 0 && count != outputs) return false;
  }
  if (counts[0] + counts[1] != outputs) return false;
  read_vector(file, reference.rounded, counts[0]);
  read_vector(file, reference.exact, counts[1]);
  read_vector(file, reference.absolute_sums, counts[2]);
  std::string stored_digest(key.size(), '\0');
  file.read(stored_digest.data(), static_cast<std::streamsize>(stored_digest.size()));
  return file && file.peek() == std::ifstream::traits_type::eof() &&
         stored_digest == digest_of_parts(key, counts, reference);
}

// Empty if it worked.
std::string store(const std::string& folder, const std::string& path, const std::string& key,
                  const Reference& reference) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fmt::format("{}: can not be made: {}", folder, error.message());
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  const Counts counts{static_cast<std::int64_t>(reference.rounded.size()),
                      static_cast<std::int64_t>(reference.exact.size()),
                      static_cast<std::int64_t>(reference.absolute_sums.size())};
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << kMagic << key;
  file.write(reinterpret_cast<const char*>(counts.data()), sizeof(counts));
  write_vector(file, reference.rounded);
  write_vector(file, reference.exact);
  write_vector(file, reference.absolute_sums);
  file << digest_of_parts(key, counts, reference);
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const std::string reason = std::strerror(errno);
  std::remove(temporary.c_str());
  return fmt::format("{}: can not be written: {}", path, reason);
}

}  // namespace

Result<CachedReference> cached_reference(const Workload& workload,
                                         std::span<const ArrayView> inputs,
                                         const std::string& inputs_digest,
                                         const std::string& folder) {
  const auto start = std::chrono::steady_clock::now();
  const std::string key = key_of(workload, inputs_digest);
  const std::string path =
      (std::filesystem::path(folder) / fmt::format("reference-{}.bin", key)).string();
  CachedReference result;
  if (load(path, key, output_count(workload), result.reference)) {
    result.reference.cached = true;
    result.reference.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }
  auto computed = compute_reference(workload, inputs);
  if (!computed) return pass_error(computed);
  result.reference = *std::move(computed);
  result.cache_error = store(folder, path, key, result.reference);
  return result;
}

}  // namespace tilewright
