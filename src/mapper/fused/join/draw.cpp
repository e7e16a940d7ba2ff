// Where templates are many: good mappings of some of them, drawn at random.
#include <algorithm>
#include <chrono>

#include "search.h"
#include "sluice/mapper/incumbent.h"

namespace sluice::fused {

/// Searches some templates of every Einsum, more of them each time: 64, then up to 1,024. Whether
/// that found something better than what was known.
bool Search::draw(std::size_t round) const {
  constexpr std::size_t kFirst = 64, kDoublings = 4;
  const double before = control_.incumbent->objective();
  Search drawn(problem_, options_, control_);
  drawn.make_shapes({.cancel = control_.cancel,
                     .most = kFirst << std::min(round, kDoublings),
                     .seed = options_.seed + round + 1});
  drawn.find_isomorphic();
  drawn.find_tracked();
  drawn.compile_templates();
  if (cancelled()) return false;
  drawn.scout();
  drawn.explore(drawn.bounds(), 0);
  const JoinResult join = drawn.join(0);
  if (!join.mappings.empty()) drawn.offer(drawn.finish(drawn.select(join.mappings).front()));
  return control_.incumbent->objective() < before;
}

/// Draws until that was in vain so often, at most so many times.
void Search::draw_some(std::size_t most_rounds, std::size_t most_in_vain) const {
  for (std::size_t round = 0, in_vain = 0;
       round < most_rounds && in_vain < most_in_vain && !cancelled(); ++round)
    in_vain = draw(round) ? 0 : in_vain + 1;
}

/// What some templates have is what the others have to beat.
void Search::draw_before() const {
  constexpr std::size_t kFew = 512, kPerRound = 2048, kMostRounds = 32, kInVain = 4;
  if (!uses_incumbent() || !is_whole() || templates_[0].size() <= kFew) return;
  draw_some(std::clamp(templates_[0].size() / kPerRound, std::size_t{1}, kMostRounds), kInVain);
}

std::size_t Search::most_templates() const {
  const bool is_limited = uses_incumbent() && options_.max_templates != kUnlimitedLoops;
  return is_limited ? static_cast<std::size_t>(options_.max_templates) + 1 : TemplateLimits{}.cap;
}

/// Whether an Einsum has more templates than are to be tried.
bool Search::is_too_many() const {
  const auto& lists = templates_.lists();
  return std::any_of(lists.begin(), lists.end(), [&](const std::vector<Template>& templates) {
    return templates.size() >= most_templates();
  });
}

/// The best mapping of templates that are drawn, until it was often in vain. None: there is none.
std::optional<MapperResult> Search::draw_only() {
  constexpr std::size_t kInVain = 32;
  const auto start = std::chrono::steady_clock::now();
  templates_ = {};  // large
  draw_some(TemplateLimits{}.most, kInVain);
  MapperResult result =
      nothing_yet(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  result.cancelled = cancelled();
  keep_incumbent(&result);
  if (result.cancelled) return result;
  if (result.mappings.empty()) return std::nullopt;
  result.search.ended_by = "templates";
  return result;
}

}  // namespace sluice::fused
