#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// The whole numbers from `begin` on, before `end`.
struct IndexRun {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const IndexRun&, const IndexRun&) = default;
};
/// A set of whole numbers: runs apart from each other, ascending.
using IndexRuns = std::vector<IndexRun>;

/// Sorts runs and joins those that touch or overlap.
IndexRuns joined(IndexRuns runs);

/// All sums of a number of one set and a number of the other.
IndexRuns sums_of(const IndexRuns& a, const IndexRuns& b);

/// What of a set lies from 0 on, before `end`.
IndexRuns within(IndexRuns runs, std::int64_t end);

std::int64_t size_of(const IndexRuns& runs);

/// A box of indices: a run per rank.
using RunBox = std::vector<IndexRun>;

/// Points that lie in some of the boxes.
std::int64_t united_volume(const std::vector<RunBox>& boxes);

}  // namespace sluice
