#include "row_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mapper/common/numbered.h"
#include "mapper/common/parallel.h"

namespace sluice::fused {
namespace {

PmappingGroup group_of(Compatibility compatibility, std::size_t n_tracked) {
  compatibility.loops.shrink_to_fit();  // there may be hundreds of thousands of groups
  compatibility.backings.shrink_to_fit();
  PmappingGroup group;
  group.stride = 2 + n_tracked * (compatibility.loops.size() + 1) + n_tracked;
  group.compatibility = std::make_shared<const Compatibility>(std::move(compatibility));
  return group;
}

/// The groups of some rows of a skeleton, with hashes of their compatibilities: on several threads.
class RowReader {
 public:
  RowReader(const BoundProblem& problem, const EinsumShape& shape,
            const std::vector<Template>& templates, std::size_t n_tracked, int threads)
      : problem_(problem),
        shape_(shape),
        templates_(templates),
        n_tracked_(n_tracked),
        threads_(threads) {}

  std::vector<std::pair<std::uint64_t, PmappingGroup>> read(const ExchangeSpace::Skeleton& skeleton,
                                                            std::size_t first,
                                                            std::size_t last) const {
    constexpr std::size_t kChunk = 256;
    std::vector<std::pair<std::uint64_t, PmappingGroup>> rows(last - first);
    parallel_chunks(threads_, rows.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        Compatibility own =
            compatibility_of(problem_, shape_, templates_[skeleton.templ], skeleton.row(first + i));
        const std::uint64_t hash = KeyHash{}(compatibility_key(own));
        rows[i] = {hash, group_of(std::move(own), n_tracked_)};
      }
    });
    return rows;
  }

 private:
  const BoundProblem& problem_;
  const EinsumShape& shape_;
  const std::vector<Template>& templates_;
  std::size_t n_tracked_;
  int threads_;
};

/// Groups in the order in which they were first seen.
class Groups {
 public:
  explicit Groups(std::vector<PmappingGroup>* groups) : groups_(*groups) {}

  std::uint32_t number(std::uint64_t hash, PmappingGroup group) {
    return number_in(
        &index_, hash, groups_.size(),
        [&](std::uint32_t known) { return *groups_[known].compatibility == *group.compatibility; },
        [&] { groups_.push_back(std::move(group)); });
  }

 private:
  std::vector<PmappingGroup>& groups_;
  HashIndex index_;
};

/// Adds the groups that differ from the others in whose room their tensors lie alone.
void add_kept_in_other_ways(const EinsumShape& shape, std::size_t n_tracked, RowGroups* result) {
  const auto is_kept = [](const LocalTensor& tensor) { return !tensor.kept_copies.empty(); };
  if (std::none_of(shape.tensors.begin(), shape.tensors.end(), is_kept)) return;
  const std::size_t n = result->groups.size();
  for (std::size_t g = 0; g < n; ++g) {
    Compatibility compatibility = *result->groups[g].compatibility;
    const auto ways = kept_in_other_ways(shape, compatibility.backings);
    for (std::size_t w = 0; w < ways.size(); ++w) {
      if (w == 0 && ways[w] == compatibility.backings) continue;
      compatibility.backings = ways[w];
      PmappingGroup group = group_of(compatibility, n_tracked);
      if (w == 0) {
        result->groups[g] = std::move(group);
        continue;
      }
      result->groups.push_back(std::move(group));
      result->like.push_back(static_cast<std::uint32_t>(g));
    }
  }
}

}  // namespace

RowGroups group_rows(const BoundProblem& problem, const EinsumShape& shape,
                     const std::vector<Template>& templates, const ExchangeSpace& space,
                     std::size_t n_tracked, int threads, const std::atomic<bool>* cancel) {
  constexpr std::size_t kAtOnce = 1 << 14;
  RowGroups result;
  Groups groups(&result.groups);
  const RowReader reader(problem, shape, templates, n_tracked, threads);
  for (const ExchangeSpace::Skeleton& skeleton : space.skeletons) {
    std::vector<std::uint32_t>& of_row = result.of_row.emplace_back();
    of_row.reserve(skeleton.n_rows);
    for (std::size_t first = 0; first < skeleton.n_rows; first += kAtOnce) {
      if (is_cancelled(cancel)) return result;
      for (auto& [hash, group] :
           reader.read(skeleton, first, std::min(skeleton.n_rows, first + kAtOnce)))
        of_row.push_back(groups.number(hash, std::move(group)));
    }
  }
  result.like.resize(result.groups.size());
  std::iota(result.like.begin(), result.like.end(), 0U);
  add_kept_in_other_ways(shape, n_tracked, &result);
  return result;
}

void keep_groups(const std::vector<std::uint32_t>& kept, RowGroups* rows, ExchangeSpace* space) {
  constexpr std::uint32_t kDropped = ~0U;
  std::vector<std::uint32_t> number(rows->groups.size(), kDropped);
  for (std::uint32_t k = 0; k < kept.size(); ++k) number[kept[k]] = k;
  RowGroups result;
  for (const std::uint32_t g : kept) {
    result.groups.push_back(std::move(rows->groups[g]));
    result.like.push_back(number[rows->like[g]]);
  }
  std::vector<std::vector<char>> wanted;
  for (const std::vector<std::uint32_t>& of_row : rows->of_row) {
    std::vector<char>& own = wanted.emplace_back();
    std::vector<std::uint32_t>& left = result.of_row.emplace_back();
    for (const std::uint32_t g : of_row) {
      own.push_back(number[g] != kDropped);
      if (number[g] != kDropped) left.push_back(number[g]);
    }
  }
  *rows = std::move(result);
  keep_rows(wanted, space);
}

}  // namespace sluice::fused
