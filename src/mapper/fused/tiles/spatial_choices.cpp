#include "spatial_choices.h"

#include "mapper/shape/trip_choices.h"

namespace sluice::fused {
namespace {

constexpr std::size_t kMostChoices = 1'000'000;

/// Choices with what they use of every fanout; `width` nodes each.
struct Choices {
  std::size_t width = 0, n_fanouts = 0, n = 0;
  std::vector<std::uint32_t> nodes;
  std::vector<std::int64_t> use;
};

Choices choices_of(const SpatialLoops& cls, std::size_t n_fanouts) {
  Choices result{1, n_fanouts, 0, {0}, {}};
  for (std::size_t depth = 0; depth < cls.loops.size(); ++depth) {
    std::vector<std::uint32_t> below;
    for (const std::uint32_t node : result.nodes)
      for (std::uint32_t c = 0; c < cls.trie->nodes()[node].n; ++c)
        below.push_back(cls.trie->nodes()[node].first + c);
    result.nodes = std::move(below);
  }
  result.n = result.nodes.size();
  result.use.assign(result.n * n_fanouts, 1);
  for (std::size_t i = 0; i < result.n; ++i) {
    const std::int64_t* trips = cls.states->state(cls.trie->nodes()[result.nodes[i]].state);
    for (const SpatialLoops::Loop& loop : cls.loops)
      if (loop.fanout < n_fanouts) result.use[i * n_fanouts + loop.fanout] *= trip_count(trips[loop.index]);
  }
  return result;
}

/// Both sets of choices side by side.
Choices combined(const Choices& a, const Choices& b, const std::vector<FanoutDimension>& fanouts) {
  const std::size_t n_fanouts = fanouts.size();
  Choices result{a.width + b.width, n_fanouts, 0, {}, {}};
  std::vector<std::int64_t> use(n_fanouts);
  for (std::size_t i = 0; i < a.n && result.n <= kMostChoices; ++i) {
    for (std::size_t j = 0; j < b.n; ++j) {
      bool fits = true;
      for (std::size_t f = 0; f < n_fanouts && fits; ++f) {
        use[f] = a.use[i * n_fanouts + f] * b.use[j * n_fanouts + f];
        fits = use[f] <= fanouts[f].instances;
      }
      if (!fits) continue;
      ++result.n;
      const auto first = [](const auto& values, std::size_t at) {
        return values.begin() + static_cast<std::ptrdiff_t>(at);
      };
      result.nodes.insert(result.nodes.end(), first(a.nodes, i * a.width), first(a.nodes, (i + 1) * a.width));
      result.nodes.insert(result.nodes.end(), first(b.nodes, j * b.width), first(b.nodes, (j + 1) * b.width));
      result.use.insert(result.use.end(), use.begin(), use.end());
    }
  }
  return result;
}

std::shared_ptr<const SpatialChoices> make_choices(const std::vector<SpatialLoops>& classes,
                                                   const std::vector<FanoutDimension>& fanouts) {
  Choices all{0, fanouts.size(), 1, {}, std::vector<std::int64_t>(fanouts.size(), 1)};
  for (const SpatialLoops& cls : classes) {
    all = combined(all, choices_of(cls, fanouts.size()), fanouts);
    if (all.n > kMostChoices) return nullptr;
  }
  const auto result = std::make_shared<SpatialChoices>();
  result->nodes = std::move(all.nodes);
  std::map<std::vector<std::int64_t>, std::uint32_t> numbers;
  for (std::size_t i = 0; i < all.n; ++i) {
    const auto use = all.use.begin() + static_cast<std::ptrdiff_t>(i * fanouts.size());
    const auto [at, is_new] = numbers.try_emplace({use, use + static_cast<std::ptrdiff_t>(fanouts.size())},
                            static_cast<std::uint32_t>(numbers.size()));
    if (is_new) result->uses.push_back(at->first);
    result->use.push_back(at->second);
  }
  return result;
}

}  // namespace

std::shared_ptr<const SpatialChoices> SpatialMemo::choices(
    const std::vector<SpatialLoops>& classes, const std::vector<FanoutDimension>& fanouts) {
  std::vector<std::uintptr_t> key;
  for (const SpatialLoops& cls : classes) {
    key.push_back(reinterpret_cast<std::uintptr_t>(cls.trie));
    for (const SpatialLoops::Loop& loop : cls.loops) key.insert(key.end(), {loop.index, loop.fanout});
  }
  for (const FanoutDimension& fanout : fanouts)
    key.push_back(static_cast<std::uintptr_t>(fanout.instances));
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = known_.try_emplace(std::move(key));
  if (is_new) at->second = make_choices(classes, fanouts);
  return at->second;
}

}  // namespace sluice::fused
