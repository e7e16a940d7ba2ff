#include "search_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mapper/common/criteria.h"
#include "mapper/common/dominance.h"
#include "mapper/request/refusal.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/support/error.h"
#include "support/seconds_since.h"

namespace sluice::sampling {

SearchRecord::SearchRecord(const MapSpace& space, const MapperControl& control,
                           std::chrono::steady_clock::time_point start)
    : space_(space), control_(control), start_(start) {
  const MapperOptions& options = space.options();
  const bool timed = options.budget_seconds.has_value();
  budget_ =
      std::max(1.0, std::floor(options.budget_evaluations.value_or(
                        timed ? std::numeric_limits<double>::infinity() : kDefaultEvaluations)));
  const Arch& arch = space.problem().arch;
  for (std::size_t c = 0; c < arch.components.size(); ++c)
    if (arch[ComponentId(c)].is_memory() &&
        std::isfinite(smallest_size_bits(space.problem(), ComponentId(c))))
      limited_.emplace_back(c);
}

bool SearchRecord::cancelled() const { return is_cancelled(control_.cancel); }

double SearchRecord::seconds() const { return seconds_since(start_); }

double SearchRecord::progress() const {
  double share = static_cast<double>(evaluations_) / budget_;
  // The clock steers a search only where nothing else is to end it: results would depend on it.
  if (const auto limit = space_.options().budget_seconds;
      limit && !space_.options().budget_evaluations)
    share = std::max(share, seconds() / *limit);
  return std::min(share, 1.0);
}

void SearchRecord::report(const char* phase) const {
  if (control_.progress) control_.progress(phase, progress());
}

std::optional<double> SearchRecord::objective(const std::optional<CostTotals>& totals) const {
  if (!totals) return std::nullopt;
  return objective_value(space_.options().objectives.front(), totals->energy_j, totals->latency_s);
}

bool SearchRecord::is_front() const {
  return space_.options().objectives.size() > 1 || space_.options().resource_usage;
}

std::vector<Genome> SearchRecord::elite() const {
  std::vector<Genome> result;
  for (const Found& found : found_) result.push_back(found.genome);
  return result;
}

/// What decides: of a front the objectives and peaks, else the objective, then energy and latency.
std::vector<double> SearchRecord::criteria(const CostTotals& totals) const {
  std::vector<double> result;
  for (const Objective objective : space_.options().objectives)
    result.push_back(objective_value(objective, totals.energy_j, totals.latency_s));
  if (!is_front()) {
    result.push_back(totals.energy_j);
    result.push_back(totals.latency_s);
  } else if (space_.options().resource_usage) {
    for (const ComponentId memory : limited_) result.push_back(totals.peak_bits[memory.index()]);
  }
  return result;
}

/// True: it is the best so far by the first objective.
bool SearchRecord::keep(Found found) {
  const std::vector<double> own = criteria(found.totals);
  const bool is_best = found_.empty() || own.front() < criteria(found_.front().totals).front();
  if (is_front()) {
    for (const Found& other : found_)
      if (dominates(criteria(other.totals), own)) return false;
    std::erase_if(found_,
                  [&](const Found& other) { return dominates(own, criteria(other.totals)); });
  }
  const auto at = std::find_if(found_.begin(), found_.end(),
                               [&](const Found& other) { return own <= criteria(other.totals); });
  // Mappings that cost the same are most often one mapping drawn twice.
  if (at != found_.end() && own == criteria(at->totals)) return false;
  found_.insert(at, std::move(found));
  const auto most = static_cast<std::size_t>(space_.options().top);
  if (!is_front() && found_.size() > most) found_.resize(most);
  return is_best;
}

void SearchRecord::add(const Genome& genome, const std::optional<CostTotals>& totals) {
  ++evaluations_;
  if (!totals) return;
  if (!keep({genome, *totals})) return;
  const double value = *objective(totals);
  convergence_.push_back({static_cast<double>(evaluations_), seconds(), value});
  if (control_.incumbent != nullptr && value < control_.incumbent->objective())
    control_.incumbent->offer(value, price({genome, *totals}));
}

MappedResult SearchRecord::price(const Found& found) const {
  MappedResult mapped;
  mapped.mapping = space_.build(found.genome);
  auto cost = evaluate(space_.problem(), mapped.mapping, space_.options().policy);
  SLUICE_CHECK(cost.has_value() && cost->energy_j == found.totals.energy_j &&
                   cost->latency_s == found.totals.latency_s,
               "a mapping is priced twice in different ways");
  mapped.cost = std::move(*cost);
  return mapped;
}

tl::expected<MapperResult, NoMapping> SearchRecord::finish(const std::string& space,
                                                           bool optimal) const {
  MapperResult result;
  result.cancelled = cancelled();
  if (found_.empty() && !result.cancelled) {
    NoMapping no;
    no.proven = optimal;
    no.reason = optimal ? "no mapping of the whole space is legal"
                : evaluations_ == 0
                    ? "the budget ended before a mapping was tried"
                    : fmt::format("none of {} mappings that were tried is legal", evaluations_);
    const bool fused_prices = !not_compiled(space_.problem(), space_.options());
    no.nearest_relaxation = optimal ? "larger memories, or fewer constraints"
                            : fused_prices
                                ? "a larger --budget, or --mapper fused, which proves its no"
                                : "a larger --budget";
    return tl::make_unexpected(std::move(no));
  }
  for (const Found& found : found_) result.mappings.push_back(price(found));
  result.guarantee.kind =
      optimal && !result.cancelled ? GuaranteeKind::kOptimal : GuaranteeKind::kNone;
  result.guarantee.space = space;
  result.search.seconds = seconds();
  result.search.threads = space_.options().threads;
  result.search.mappings_evaluated = static_cast<double>(evaluations_);
  result.search.mappings_considered = std::max(considered_, static_cast<double>(evaluations_));
  const bool has_budget = space_.options().budget_seconds || space_.options().budget_evaluations;
  if (!optimal && !result.cancelled && has_budget && progress() >= 1)
    result.search.ended_by = "budget";
  result.search.convergence = convergence_;
  if (!convergence_.empty())
    result.search.convergence.push_back(
        {static_cast<double>(evaluations_), result.search.seconds, convergence_.back().objective});
  return result;
}

}  // namespace sluice::sampling
