#include "row_groups.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "mapper/common/key_hash.h"
#include "mapper/common/parallel.h"

namespace sluice::fused {
namespace {

using Key = std::vector<std::int64_t>;

PmappingGroup group_of(Compatibility compatibility, std::size_t n_tracked) {
  compatibility.loops.shrink_to_fit();  // there may be hundreds of thousands of groups
  compatibility.backings.shrink_to_fit();
  PmappingGroup group;
  group.stride = 2 + n_tracked * (compatibility.loops.size() + 1) + n_tracked;
  group.compatibility = std::make_shared<const Compatibility>(std::move(compatibility));
  return group;
}

/// Compatibilities of some rows of a skeleton, with their keys: on several threads.
class RowReader {
 public:
  RowReader(const BoundProblem& problem, const EinsumShape& shape,
            const std::vector<Template>& templates, int threads)
      : problem_(problem), shape_(shape), templates_(templates), threads_(threads) {}

  std::vector<std::pair<Key, Compatibility>> read(const ExchangeSpace::Skeleton& skeleton,
                                                  std::size_t first, std::size_t last) const {
    constexpr std::size_t kChunk = 256;
    std::vector<std::pair<Key, Compatibility>> rows(last - first);
    parallel_chunks(threads_, rows.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        rows[i].second =
            compatibility_of(problem_, shape_, templates_[skeleton.templ], skeleton.row(first + i));
        rows[i].first = compatibility_key(rows[i].second);
      }
    });
    return rows;
  }

 private:
  const BoundProblem& problem_;
  const EinsumShape& shape_;
  const std::vector<Template>& templates_;
  int threads_;
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
  constexpr std::size_t kAtOnce = 1 << 13;
  RowGroups result;
  std::unordered_map<Key, std::uint32_t, KeyHash> known;
  const RowReader reader(problem, shape, templates, threads);
  for (const ExchangeSpace::Skeleton& skeleton : space.skeletons) {
    std::vector<std::uint32_t>& of_row = result.of_row.emplace_back();
    of_row.reserve(skeleton.n_rows);
    for (std::size_t first = 0; first < skeleton.n_rows; first += kAtOnce) {
      if (is_cancelled(cancel)) return result;
      for (auto& [key, compatibility] :
           reader.read(skeleton, first, std::min(skeleton.n_rows, first + kAtOnce))) {
        const auto [at, is_new] =
            known.try_emplace(std::move(key), static_cast<std::uint32_t>(result.groups.size()));
        of_row.push_back(at->second);
        if (is_new) result.groups.push_back(group_of(std::move(compatibility), n_tracked));
      }
    }
  }
  result.like.resize(result.groups.size());
  std::iota(result.like.begin(), result.like.end(), 0U);
  add_kept_in_other_ways(shape, n_tracked, &result);
  return result;
}

}  // namespace sluice::fused
