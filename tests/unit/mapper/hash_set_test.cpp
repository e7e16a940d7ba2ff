#include "mapper/common/hash_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <unordered_set>

namespace sluice {
namespace {

TEST(HashSet, HoldsWhatWasInserted) {
  HashSet set;
  std::unordered_set<std::uint64_t> same;
  std::mt19937_64 random(1);
  EXPECT_FALSE(set.contains(0));
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t hash = random() % 4000 << (i % 3 * 20);  // collisions, and 0 now and then
    EXPECT_EQ(set.contains(hash), same.count(hash) > 0);
    set.insert(hash);
    same.insert(hash);
    EXPECT_TRUE(set.contains(hash));
    EXPECT_EQ(set.size(), same.size());
  }
}

}  // namespace
}  // namespace sluice
