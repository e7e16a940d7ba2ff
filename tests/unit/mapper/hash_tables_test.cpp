#include "mapper/common/hash_tables.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <unordered_map>
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

TEST(HashIndex, KnowsTheNumbersThatWereAdded) {
  HashIndex index;
  std::unordered_map<std::uint64_t, std::uint32_t> same;
  std::mt19937_64 random(2);
  EXPECT_EQ(index.find(0), HashIndex::kNone);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const std::uint64_t hash = random() % 4000 << (i % 3 * 20);
    const auto known = same.find(hash);
    EXPECT_EQ(index.find(hash), known == same.end() ? HashIndex::kNone : known->second);
    const auto [number, is_new] = index.try_emplace(hash, i);
    EXPECT_EQ(is_new, known == same.end());
    EXPECT_EQ(number, same.try_emplace(hash, i).first->second);
    EXPECT_EQ(index.size(), same.size());
  }
}

}  // namespace
}  // namespace sluice
