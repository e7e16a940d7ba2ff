#include "usage_filter.h"

#include <algorithm>

namespace sluice::fused {
namespace {

using Usage = StateLists::Usage;

bool reaches(const Usage& usage, const std::vector<double>& wanted) {
  for (std::size_t d = 0; d < wanted.size(); ++d)
    if (static_cast<double>(usage[d]) < wanted[d]) return false;
  return true;
}

/// Adds the uses of one template that fit, among those that reach what is wanted or the others.
void add_fitting(UsageTable& table, const StateLists& lists, bool full,
                 PlacementUsages::Usages* usages) {
  for (std::uint32_t usage : table.possible())
    if (reaches(lists.usage(usage), lists.wanted_usage()) == full &&
        usages->count(lists.usage(usage)) == 0 && table.fits(usage))
      usages->insert(lists.usage(usage));
}

void keep_most_used(const std::vector<double>& wanted, PlacementUsages::Usages* usages) {
  for (std::size_t d = 0; d < wanted.size() && !usages->empty(); ++d) {
    std::int64_t most = 0;
    for (const Usage& usage : *usages) most = std::max(most, usage[d]);
    const double threshold = std::min(wanted[d], static_cast<double>(most));
    std::erase_if(*usages,
                  [&](const Usage& usage) { return static_cast<double>(usage[d]) < threshold; });
  }
}

}  // namespace

UsageTable::UsageTable(const TileSearchContext& context, StateLists& lists)
    : context_(context), lists_(lists), n_classes_(lists.order().size()) {
  possible_.assign(n_classes_ + 1, {});
  possible_.back() = {lists_.no_usage()};
  usage_lists_.resize(n_classes_);
  for (std::size_t depth = n_classes_; depth-- > 0;) {
    const std::size_t cls = lists_.order()[depth];
    for (std::uint32_t l = 0; l < lists_.lists(cls).size(); ++l)
      usage_lists_[cls][lists_.lists(cls)[l].usage].push_back(l);
    for (std::uint32_t rest : possible_[depth + 1])
      for (const auto& [mine, unused] : usage_lists_[cls])
        if (const std::int64_t both = lists_.combine_usage(rest, mine); both >= 0)
          possible_[depth].insert(static_cast<std::uint32_t>(both));
  }
}

bool UsageTable::reachable(std::uint32_t used, std::uint32_t target, std::size_t depth) {
  return std::any_of(possible_[depth].begin(), possible_[depth].end(), [&](std::uint32_t rest) {
    return lists_.combine_usage(used, rest) == static_cast<std::int64_t>(target);
  });
}

bool UsageTable::fits(std::uint32_t target) {
  tried_.clear();
  return fits(target, lists_.no_usage(), 0, 0, lists_.stage(0).initial);
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
  std::vector<double> extended(lists_.stage(depth + 1).width);
  const std::size_t cls = lists_.order()[depth];
  for (const auto& [usage, lists] : usage_lists_[cls]) {
    const std::int64_t both = lists_.combine_usage(used, usage);
    if (both < 0 || !reachable(static_cast<std::uint32_t>(both), target, depth + 1)) continue;
    // Small tiles first: many fused loops leave the least to hold.
    for (auto l = lists.rbegin(); l != lists.rend(); ++l) {
      const int fused = fused_loops + lists_.lists(cls)[*l].fused_loops;
      if (fused > context_.options->max_fused_loops) continue;
      lists_.extend(depth + 1, point.data(), lists_.roomy(cls, *l), &extensions);
      for (std::size_t s = 0; s < extensions.n; ++s) {
        if (extensions.fits[s] == 0) continue;
        lists_.gather(depth + 1, extensions, s, extended.data());
        if (fits(target, static_cast<std::uint32_t>(both), depth + 1, fused, extended)) return true;
      }
    }
  }
  return false;
}

const PlacementUsages::Usages& PlacementUsages::allowed(
    const TileSearchContext& context, const std::vector<Template>& templates,
    const std::vector<CompiledTemplate>& compiled, StateLists& lists) {
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
    for (const bool full : {true, false}) {
      for (auto& [mine, table] : tables) add_fitting(table, *mine, full, &allowed_);
      if (full && !allowed_.empty()) return;
    }
    keep_most_used(lists.wanted_usage(), &allowed_);
  });
  return allowed_;
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
