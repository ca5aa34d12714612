// SPDX-License-Identifier: Apache-2.0
// The cache of references: what is a hit, and that nothing damaged ever is.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "generators/inputs.h"
#include "generators/reference.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class ReferenceCache : public testing::Test {
 protected:
  fs::path folder_ = fs::current_path() / "reference cache";
  const Workload workload_ =
      Conv2dPool{.n = 1, .cin = 2, .h = 9, .w = 9, .cout = 3, .kh = 3, .kw = 3, .pool = 2};
  std::vector<Array> arrays_;

  void SetUp() override {
    fs::remove_all(folder_);
    for (const ArrayShape& shape : input_shapes(workload_)) {
      arrays_.push_back(*make_input(workload_, shape, SignalClass::normal, 3));
    }
  }

  CachedReference get() const { return get(folder_.string()); }
  CachedReference get(const std::string& folder) const {
    std::vector<ArrayView> views;
    for (const Array& array : arrays_) views.push_back(array.view());
    auto result = cached_reference(workload_, views, inputs_digest(workload_, views), folder);
    EXPECT_TRUE(result.has_value());
    return result ? *std::move(result) : CachedReference{};
  }
  fs::path only_file() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    EXPECT_EQ(files.size(), 1u);  // no temporary file is left behind
    return files.front();
  }
};

TEST_F(ReferenceCache, SecondTimeIsAHitWithTheSameValues) {
  const CachedReference first = get();
  const CachedReference second = get();
  EXPECT_FALSE(first.reference.cached);
  EXPECT_TRUE(second.reference.cached);
  EXPECT_EQ(first.reference.exact, second.reference.exact);
  EXPECT_EQ(first.reference.absolute_sums, second.reference.absolute_sums);
  EXPECT_EQ(first.cache_error, "");
}

TEST_F(ReferenceCache, OneChangedInputBitIsAMiss) {
  get();
  arrays_[1].storage[0] ^= std::byte{1};
  EXPECT_FALSE(get().reference.cached);
}

TEST_F(ReferenceCache, DamagedFilesAreMissesAndAreReplaced) {
  const CachedReference good = get();
  const fs::path path = only_file();
  const auto size = static_cast<std::streamoff>(fs::file_size(path));
  for (std::streamoff position = 0; position < size; position += 7) {
    {
      std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
      file.seekg(position);
      const char byte = static_cast<char>(file.get());
      file.seekp(position);
      file.put(static_cast<char>(byte ^ 0x10));
    }
    const CachedReference again = get();
    ASSERT_FALSE(again.reference.cached) << position;
    ASSERT_EQ(again.reference.exact, good.reference.exact);
    ASSERT_TRUE(get().reference.cached);
  }
  for (const std::streamoff length : {size - 1, size / 2, std::streamoff{3}, std::streamoff{0}}) {
    fs::resize_file(path, static_cast<std::uintmax_t>(length));
    ASSERT_FALSE(get().reference.cached) << length;
  }
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_FALSE(get().reference.cached);
}

TEST_F(ReferenceCache, FolderThatCanNotBeMadeIsNoErrorOfTheReference) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  const CachedReference result = get((folder_ / "file" / "below").string());
  EXPECT_FALSE(result.reference.exact.empty());
  EXPECT_NE(result.cache_error, "");
}

}  // namespace
}  // namespace tilewright
