#include "search_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "mapper/request/overridden_rules.h"
#include "publish.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/mapper/space_bounds.h"
#include "sluice/support/error.h"
#include "sluice/support/human_units.h"
#include "support/atomic_extremes.h"

namespace sluice::cli {

const char* unit_of(Objective objective, bool ascii) {
  switch (objective) {
    case Objective::kEnergy:
      return "J";
    case Objective::kLatency:
      return "s";
    case Objective::kEdp:
      return ascii ? "J*s" : "J·s";
  }
  fail_internal_check("Objective", __FILE__, __LINE__, "an objective without a unit");
}

SearchWatch::SearchWatch(const Mapper& mapper, const RunResult& result,
                         const OutputArguments& output, std::optional<double> earlier,
                         ProgressLine* progress)
    : snapshot_(result),
      folder_(output.folder),
      progress_(progress),
      best_(earlier.value_or(std::numeric_limits<double>::infinity())),
      incumbent_(
          [this](double objective, const MappedResult& mapped) { take(objective, mapped); }) {
  snapshot_.status = RunStatus::kInterrupted;
  const MapperOptions& options = *snapshot_.options;
  const bool is_bounded = !may_override_keep(*result.problem, options.constraints);
  const Objective objective = options.objectives.front();
  Guarantee guarantee;
  if (is_bounded)
    guarantee.bound = objective_bound(objective, space_bounds(mapper, *result.problem, options));
  if (guarantee.bound > best_)  // a mapping from another space
    guarantee.bound = objective_bound(objective, concurrent_bounds(*result.problem));
  guarantee.kind = guarantee.bound > 0 ? GuaranteeKind::kGap : GuaranteeKind::kNone;
  snapshot_.guarantee = guarantee;
  bound_ = written_bound_ = guarantee.bound;
  show_again();
  thread_ = std::thread([this] { run(); });
}

SearchWatch::~SearchWatch() { stop(); }

void SearchWatch::show(const std::string& phase, double fraction) {
  const std::lock_guard lock(showing_);
  progress_->show(phase, fraction, detail());
}

void SearchWatch::show_again() {
  const std::lock_guard lock(showing_);
  progress_->show_again(detail());
}

/// The best so far, and how far that may be from what there is.
ProgressDetail SearchWatch::detail() const {
  const double best = best_, bound = bound_;
  ProgressDetail detail;
  if (bound > 0) detail.bound = bound;
  detail.text = "no mapping yet";
  if (std::isinf(best)) return detail;
  detail.objective = best;
  detail.text =
      "best " +
      human_si(best, unit_of(snapshot_.options->objectives.front(), progress_->is_ascii()),
               progress_->is_ascii()) +
      (bound > 0 ? fmt::format(", {:.3g} times the lower bound", best / bound) : "");
  return detail;
}

void SearchWatch::take_bound(double bound) {
  raise_to(bound_, bound);
  show_again();
}

void SearchWatch::take(double objective, const MappedResult& mapped) {
  if (objective >= best_) return;  // an earlier search found a better one
  best_ = objective;
  show_again();
  if (folder_.empty()) return;
  const std::lock_guard lock(mutex_);
  latest_ = mapped;
  wake_.notify_one();
}

void SearchWatch::go_on_from(double objective, MappedResult mapped) {
  {
    const std::lock_guard lock(mutex_);
    if (!folder_.empty()) written_ = mapped;
  }
  incumbent_.offer(objective, std::move(mapped));
}

/// A better bound alone is worth writing where it is one percent better.
void SearchWatch::run() {
  constexpr std::chrono::milliseconds kTick(250);
  constexpr double kWorthIt = 1.01;
  std::unique_lock lock(mutex_);
  while (!done_) {
    wake_.wait_for(lock, kTick, [this] { return done_ || latest_; });
    std::optional<MappedResult> news = done_ ? std::nullopt : std::exchange(latest_, {});
    if (news) written_ = news;
    if (!done_ && bound_ > kWorthIt * written_bound_) news = written_;
    lock.unlock();
    show_again();
    if (news) write(*news);
    lock.lock();
  }
}

void SearchWatch::write(const MappedResult& mapped) {
  if (failure_) return;  // told at the end
  const double bound = bound_;
  written_bound_ = bound;
  if (bound > snapshot_.guarantee->bound &&
      bound <= objective_value(snapshot_.options->objectives.front(), mapped.cost)) {
    snapshot_.guarantee->bound = bound;
    snapshot_.guarantee->kind = GuaranteeKind::kGap;
  }
  try {
    snapshot_.outcomes = {{mapped.mapping, mapped.cost}};
    write_result(snapshot_, folder_);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void SearchWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void SearchWatch::finish() {
  stop();
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace sluice::cli
