#include "mapper/compound/cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace sluice::compound {
namespace {

/// One group of one Einsum that takes 2 J at least, and for which a search has found 5 J.
std::vector<SearchedGroup> found_by(Effort effort) {
  std::vector<SearchedGroup> groups(1);
  groups[0].group.end = 1;
  groups[0].bounds.energy_floor_j = 2;
  groups[0].searched = effort;
  GroupMapping found;
  found.cost.energy_j = 5;
  groups[0].result.front = {found};
  return groups;
}

std::vector<double> energy_bounds(const std::vector<SearchedGroup>& groups, Effort effort) {
  MapperOptions options;
  options.objectives = {Objective::kEnergy};
  return bounds_with(groups, 1, options, effort);
}

TEST(CompoundCut, CountsAGroupThatASearchIsThroughWithAsWhatItFound) {
  EXPECT_EQ(energy_bounds(found_by(Effort::kLikely), Effort::kLikely), std::vector<double>{5});
}

// The complete search may not have come to its end, and the likely one also looks beyond it.
TEST(CompoundCut, TakesNoCostThatAnotherSearchFoundForABound) {
  EXPECT_EQ(energy_bounds(found_by(Effort::kAll), Effort::kLikely), std::vector<double>{2});
}

/// Einsums that are each a group of their own, or two of them, with so many mappings that no other
/// replaces.
std::vector<SearchedGroup> groups_of(std::size_t n_einsums, int n_mappings) {
  std::vector<SearchedGroup> groups;
  for (std::size_t first = 0; first < n_einsums; ++first)
    for (std::size_t end = first + 1; end <= std::min(first + 2, n_einsums); ++end) {
      SearchedGroup& searched = groups.emplace_back();
      searched.group.first = first;
      searched.group.end = end;
      for (int m = 0; m < n_mappings; ++m) {
        GroupMapping mapping;
        const double step = m + 0.1 * static_cast<double>(first % 3);
        mapping.cost.energy_j = static_cast<double>(end - first) * (10 + step);
        mapping.cost.policy_s = static_cast<double>(end - first) * (20 - step * step / 40);
        mapping.cost.overlap_s = 1;
        searched.result.front.push_back(mapping);
      }
    }
  return groups;
}

TEST(CompoundCut, FindsTheBestOfAll) {
  constexpr std::size_t kEinsums = 4;
  const auto groups = groups_of(kEinsums, 5);
  // All of them: Einsum by Einsum, what the groups up to it may cost.
  std::vector<std::vector<PartCost>> all(kEinsums + 1);
  all[0] = {PartCost()};
  for (std::size_t end = 1; end <= kEinsums; ++end)
    for (const SearchedGroup& searched : groups)
      for (const PartCost& before : all[searched.group.first])
        for (const GroupMapping& part : searched.result.front)
          if (searched.group.end == end) all[end].push_back(before + part.cost);
  for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
    MapperOptions options;
    options.objectives = {objective};
    double least = std::numeric_limits<double>::infinity();
    for (const PartCost& cost : all[kEinsums]) least = std::min(least, cost.objective(objective));
    const auto cuts = best_cuts(groups, kEinsums, options);
    ASSERT_FALSE(cuts.empty());
    EXPECT_DOUBLE_EQ(cuts.front().cost.objective(objective), least);
    std::size_t covered = 0;
    for (const SearchedGroup* searched : cuts.front().groups) {
      EXPECT_EQ(searched->group.first, covered);
      covered = searched->group.end;
    }
    EXPECT_EQ(covered, kEinsums);
  }
}

// With hundreds of Einsums the beginnings that nothing replaces outgrow any time.
TEST(CompoundCut, HasAMappingWhereThereIsNoTimeForAll) {
  constexpr std::size_t kEinsums = 300;
  const std::atomic<bool> cancel = true;
  const auto groups = groups_of(kEinsums, 20);
  const auto cuts = best_cuts(groups, kEinsums, MapperOptions(), &cancel);
  ASSERT_FALSE(cuts.empty());
  EXPECT_EQ(cuts.front().groups.back()->group.end, kEinsums);
}

}  // namespace
}  // namespace sluice::compound
