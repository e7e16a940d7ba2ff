#include "mapper/compound/cut.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sluice::compound
