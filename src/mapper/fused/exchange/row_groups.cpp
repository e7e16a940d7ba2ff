#include "row_groups.h"

#include <numeric>
#include <unordered_map>

#include "mapper/common/key_hash.h"

namespace sluice::fused {

RowGroups group_rows(const BoundProblem& problem, const EinsumShape& shape,
                     const std::vector<Template>& templates, const ExchangeSpace& space,
                     std::size_t n_tracked) {
  RowGroups result;
  std::unordered_map<std::vector<std::int64_t>, std::uint32_t, KeyHash> known;
  for (const ExchangeSpace::Skeleton& skeleton : space.skeletons) {
    std::vector<std::uint32_t>& of_row = result.of_row.emplace_back();
    of_row.reserve(skeleton.n_rows);
    for (std::size_t r = 0; r < skeleton.n_rows; ++r) {
      Compatibility compatibility =
          compatibility_of(problem, shape, templates[skeleton.templ], skeleton.row(r));
      const auto [at, is_new] = known.try_emplace(compatibility_key(compatibility),
                                                  static_cast<std::uint32_t>(result.groups.size()));
      of_row.push_back(at->second);
      if (!is_new) continue;
      PmappingGroup& group = result.groups.emplace_back();
      group.stride = 2 + n_tracked * (compatibility.loops.size() + 1) + n_tracked;
      group.compatibility = std::move(compatibility);
      group.compatibility.loops.shrink_to_fit();  // there may be hundreds of thousands of groups
      group.compatibility.backings.shrink_to_fit();
    }
  }
  const std::size_t n = result.groups.size();
  result.like.resize(n);
  std::iota(result.like.begin(), result.like.end(), 0U);
  for (std::size_t g = 0; g < n; ++g) {
    auto ways = kept_in_other_ways(shape, result.groups[g].compatibility.backings);
    result.groups[g].compatibility.backings = std::move(ways.front());
    for (std::size_t w = 1; w < ways.size(); ++w) {
      PmappingGroup kept = result.groups[g];
      kept.compatibility.backings = std::move(ways[w]);
      result.groups.push_back(std::move(kept));
      result.like.push_back(static_cast<std::uint32_t>(g));
    }
  }
  return result;
}

}  // namespace sluice::fused
