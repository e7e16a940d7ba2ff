// Where templates are many: good mappings of some of them, drawn at random.
#include <algorithm>

#include "mapper/common/spatial_wishes.h"
#include "search.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "support/seconds_since.h"

namespace sluice::fused {

/// Searches some templates of every Einsum, more of them each time: 64, then up to 1,024. Whether
/// that found something better than earlier draws. Walks have no say in it: else the clock would
/// tell what a draw finds, and whether it was in vain.
bool Search::draw() {
  constexpr std::size_t kFirst = 64, kDoublings = 4;
  Incumbent drawn_best([this](double objective, const MappedResult& mapped) {
    control_.incumbent->offer(objective, mapped);
  });
  if (best_so_far_)
    drawn_best.offer(objective_value(options_.objectives.front(), best_so_far_->cost),
                     *best_so_far_);
  const double before = drawn_best.objective();
  MapperControl control = control_;
  control.incumbent = &drawn_best;
  control.bound = {};  // it would bound what is drawn alone
  const std::size_t round = rounds_drawn_++;
  Search drawn(problem_, options_, control);
  drawn.make_shapes({.cancel = control_.cancel,
                     .most = kFirst << std::min(round, kDoublings),
                     .seed = options_.seed + round + 1});
  drawn.find_isomorphic();
  drawn.find_tracked();
  drawn.state_tables_ = state_tables_;  // what earlier draws tabulated
  if (!drawn.compile_templates() || cancelled()) return false;
  drawn.scout();
  const JoinResult join = drawn.search_exactly();
  for (StateTables& tables : *state_tables_) tables.forget_tries();
  statistics_.mappings_evaluated += drawn.statistics_.mappings_evaluated;
  if (!join.mappings.empty()) drawn.offer(drawn.finish(drawn.select(join.mappings).front()));
  if (!(drawn_best.objective() < before)) return false;
  best_so_far_ = drawn_best.best();
  return true;
}

/// Draws until that was in vain so often, at most so many times.
void Search::draw_some(std::size_t most_rounds, std::size_t most_in_vain) {
  for (std::size_t i = 0, in_vain = 0; i < most_rounds && in_vain < most_in_vain && !cancelled();
       ++i)
    in_vain = draw() ? 0 : in_vain + 1;
}

/// Whether what some templates have bounds the others: of few Einsums (of many a draw takes long),
/// and where all that they have belongs to the space. What `min_usage` asks for depends on all
/// templates of a placement.
bool Search::may_draw() const {
  constexpr std::size_t kFewEinsums = 4;
  const auto asks = [](const BoundEinsum& einsum) {
    return std::any_of(einsum.components.begin(), einsum.components.end(), asks_for_usage);
  };
  return uses_incumbent() && problem_.einsums.size() <= kFewEinsums &&
         std::none_of(problem_.einsums.begin(), problem_.einsums.end(), asks);
}

bool Search::has_more_than(std::size_t n) const {
  const auto& lists = templates_.lists();
  return std::any_of(lists.begin(), lists.end(),
                     [n](const std::vector<Template>& templates) { return templates.size() > n; });
}

/// What some templates have is what the others have to beat: before those are even listed.
void Search::draw_first() {
  constexpr std::size_t kFew = 512;
  if (!may_draw()) return;
  make_shapes({.cancel = control_.cancel, .cap = kFew + 1});
  if (has_more_than(kFew)) draw();
}

/// The same where they are listed, and still very many.
void Search::draw_more() {
  constexpr std::size_t kPerRound = 4096, kMostRounds = 32, kInVain = 4;
  if (!may_draw() || shapes_.size() > 1) return;
  draw_some(std::min(templates_[0].size() / kPerRound, kMostRounds), kInVain);
}

std::size_t Search::most_templates() const {
  const bool is_limited = uses_incumbent() && options_.max_templates != kUnlimitedLoops;
  return is_limited ? static_cast<std::size_t>(options_.max_templates) + 1 : TemplateLimits{}.cap;
}

/// Whether walks go on where it ends with nothing.
bool Search::may_leave_it() const {
  return control_.has_walks && uses_incumbent() && options_.budget_seconds && !may_draw();
}

/// Whether to leave the rest of the budget to walks where a share of the templates is compiled
/// after so long (s): all that comes then takes at least as long again.
bool Search::takes_too_long(double seconds, double share) const {
  constexpr double kMost = 0.3;                                // of the budget
  constexpr double kFirstLook = 0.04, kMostExpectedFirst = 1;  // less is known then
  constexpr double kLook = 0.1, kMostExpected = 0.6;
  if (!may_leave_it()) return false;
  const double taken = seconds / *options_.budget_seconds;
  return taken > kMost || (taken > kLook && taken > kMostExpected * share) ||
         (taken > kFirstLook && taken > kMostExpectedFirst * share);
}

/// Templates of many Einsums that can be compiled and joined within the budget of time, about: with
/// more of them, walks make better use of it. Draws do where may_draw().
std::size_t Search::most_in_time() const {
  constexpr double kPerSecond = 10'000, kMost = 1e9;
  if (!may_leave_it()) return TemplateLimits{}.cap;
  return static_cast<std::size_t>(std::min(kMost, kPerSecond * *options_.budget_seconds)) + 1;
}

bool Search::are_too_many_in_time() const {
  std::size_t n = 0;
  for (const std::vector<Template>& templates : templates_.lists()) n += templates.size();
  return n >= most_in_time();
}

/// Whether an Einsum has more templates than are to be tried.
bool Search::is_too_many() const { return has_more_than(most_templates() - 1); }

/// The best mapping of templates that are drawn, until it was often in vain. None: there is none.
/// It proves nothing, so that `min_usage` may ask for what those that are drawn can do.
std::optional<MapperResult> Search::draw_only(Clock::time_point start) {
  constexpr std::size_t kInVain = 32;
  templates_ = {};  // large
  draw_some(TemplateLimits{}.most, kInVain);
  MapperResult result = nothing_yet(seconds_since(start));
  result.search.mappings_evaluated = statistics_.mappings_evaluated;
  result.cancelled = cancelled();
  keep_incumbent(&result);
  if (result.cancelled) return result;
  if (result.mappings.empty()) return std::nullopt;
  result.search.ended_by = "templates";
  return result;
}

}  // namespace sluice::fused
