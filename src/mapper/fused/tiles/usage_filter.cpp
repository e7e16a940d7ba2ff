#include "usage_filter.h"

#include <algorithm>
#include <functional>

namespace sluice::fused {
namespace {

using Usage = StateLists::Usage;

/// The possible uses of several templates, those worth most first.
using UsesByWorth = std::map<std::vector<double>,
                             std::vector<std::pair<std::size_t, std::uint32_t>>, std::greater<>>;

}  // namespace

std::vector<double> worth(const Usage& usage, const std::vector<double>& wanted) {
  std::vector<double> result(wanted);
  for (std::size_t d = 0; d < wanted.size(); ++d)
    result[d] = std::min(result[d], static_cast<double>(usage[d]));
  return result;
}

UsageTable::UsageTable(const TileSearchContext& context, StateLists& lists)
    : context_(context), lists_(lists), n_classes_(lists.order().size()) {
  possible_.assign(n_classes_ + 1, {});
  possible_.back() = {lists_.no_usage()};
  for (std::size_t depth = n_classes_; depth-- > 0;) {
    const std::size_t cls = lists_.order()[depth];
    std::vector<std::uint32_t>& possible = possible_[depth];
    for (std::uint32_t rest : possible_[depth + 1])
      for (const std::uint32_t mine : lists_.usages_of(cls))
        if (const std::int64_t both = lists_.combine_usage(rest, mine); both >= 0)
          possible.push_back(static_cast<std::uint32_t>(both));
    std::sort(possible.begin(), possible.end());
    possible.erase(std::unique(possible.begin(), possible.end()), possible.end());
  }
}

bool UsageTable::reachable(std::uint32_t used, std::uint32_t target, std::size_t depth) const {
  const std::int64_t rest = lists_.usage_left(used, target);
  return rest >= 0 && std::binary_search(possible_[depth].begin(), possible_[depth].end(),
                                         static_cast<std::uint32_t>(rest));
}

void UsageTable::find_lists() {
  usage_lists_.resize(n_classes_);
  for (std::size_t cls = 0; cls < n_classes_; ++cls)
    for (std::uint32_t l = 0; l < lists_.lists(cls).size(); ++l)
      usage_lists_[cls][lists_.lists(cls)[l].usage].push_back(l);
}

bool UsageTable::fits(std::uint32_t target) {
  tried_.clear();
  if (usage_lists_.empty()) find_lists();
  return fits(target, lists_.no_usage(), 0, 0, lists_.sums().stage(0).initial);
}

bool UsageTable::fits(std::uint32_t target, std::uint32_t used, std::size_t depth, int fused_loops,
                      const std::vector<double>& point) {
  if (depth == n_classes_) return used == target;
  // Nothing but the partial sums, the use and the fused loops left decides what is below.
  std::vector<double> key{point};
  key.push_back(used);
  key.push_back(fused_loops);
  if (!tried_.insert({depth, std::move(key)}).second) return false;
  Extensions extensions;
  std::vector<double> extended(lists_.sums().stage(depth + 1).width);
  const std::size_t cls = lists_.order()[depth];
  for (const auto& [usage, lists] : usage_lists_[cls]) {
    const std::int64_t both = lists_.combine_usage(used, usage);
    if (both < 0 || !reachable(static_cast<std::uint32_t>(both), target, depth + 1)) continue;
    // Small tiles first: many fused loops leave the least to hold.
    for (auto l = lists.rbegin(); l != lists.rend(); ++l) {
      const int fused = fused_loops + lists_.fused_loops(cls, *l);
      if (fused > context_.options->max_fused_loops) continue;
      lists_.extend_roomy(depth + 1, point.data(), *l, &extensions);
      for (std::size_t s = 0; s < extensions.n; ++s) {
        if (extensions.exceeds[s] != 0) continue;
        lists_.sums().gather(depth + 1, extensions, s, extended.data());
        if (fits(target, static_cast<std::uint32_t>(both), depth + 1, fused, extended)) return true;
      }
    }
  }
  return false;
}

const std::vector<double>& PlacementUsages::demanded(const TileSearchContext& context,
                                                     const std::vector<Template>& templates,
                                                     const std::vector<CompiledTemplate>& compiled,
                                                     StateLists& lists) {
  std::call_once(once_, [&] {
    std::vector<std::unique_ptr<StateLists>> own;
    std::vector<std::pair<StateLists*, UsageTable>> tables;
    for (std::uint32_t t : members_) {
      if (compiled[t].considered == 0 || !compiled[t].program.feasible) continue;
      if (members_.size() > 1)
        own.push_back(std::make_unique<StateLists>(context, templates[t], compiled[t],
                                                   std::vector<std::uint32_t>{}));
      StateLists& mine = own.empty() ? lists : *own.back();
      tables.emplace_back(&mine, UsageTable(context, mine));
    }
    UsesByWorth uses;
    for (std::size_t i = 0; i < tables.size(); ++i)
      for (std::uint32_t use : tables[i].second.possible())
        uses[worth(tables[i].first->usage(use), lists.wanted_usage())].emplace_back(i, use);
    for (const auto& [worth, equal] : uses)
      for (const auto& [i, use] : equal) {
        if (!tables[i].second.fits(use)) continue;
        demanded_ = worth;
        return;
      }
  });
  return demanded_;
}

void share_usages(const std::vector<Template>& templates, std::vector<CompiledTemplate>* compiled) {
  for (std::uint32_t first = 0; first < compiled->size();) {
    std::vector<std::uint32_t> members{first};
    while (first + members.size() < compiled->size() &&
           templates[first + members.size()].placement == templates[first].placement)
      members.push_back(first + static_cast<std::uint32_t>(members.size()));
    first += static_cast<std::uint32_t>(members.size());
    const auto usages = std::make_shared<PlacementUsages>(members);
    for (std::uint32_t t : members) (*compiled)[t].usages = usages;
  }
}

}  // namespace sluice::fused
