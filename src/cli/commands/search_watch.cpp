#include "search_watch.h"

#include <cmath>
#include <limits>
#include <utility>

#include "publish.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/support/error.h"
#include "sluice/support/human_units.h"

namespace sluice::cli {

namespace {

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

}  // namespace

SearchWatch::SearchWatch(const RunResult& result, const OutputArguments& output,
                         std::optional<double> earlier, ProgressLine* progress)
    : snapshot_(result),
      folder_(output.folder),
      progress_(progress),
      best_(earlier.value_or(std::numeric_limits<double>::infinity())),
      incumbent_(
          [this](double objective, const MappedResult& mapped) { take(objective, mapped); }) {
  snapshot_.status = RunStatus::kInterrupted;
  const double bound =
      objective_bound(snapshot_.options->objectives.front(), result.problem->bounds);
  Guarantee guarantee;
  guarantee.kind = bound > 0 ? GuaranteeKind::kGap : GuaranteeKind::kNone;
  guarantee.bound = bound;
  snapshot_.guarantee = guarantee;
  if (!folder_.empty()) thread_ = std::thread([this] { write_on(); });
}

SearchWatch::~SearchWatch() { stop(); }

void SearchWatch::show(const std::string& phase, double fraction) {
  const double best = best_;
  progress_->show(phase, fraction,
                  std::isinf(best)
                      ? ""
                      : "best " + human_si(best, unit_of(snapshot_.options->objectives.front(),
                                                         progress_->is_ascii())));
}

void SearchWatch::take(double objective, const MappedResult& mapped) {
  if (objective >= best_) return;  // an earlier search found a better one
  best_ = objective;
  if (folder_.empty()) return;
  const std::lock_guard lock(mutex_);
  latest_ = mapped;
  wake_.notify_one();
}

void SearchWatch::write_on() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return done_ || latest_; });
    if (done_) return;
    const MappedResult mapped = std::move(*latest_);
    latest_.reset();
    lock.unlock();
    try {
      write(mapped);
    } catch (...) {
      failure_ = std::current_exception();
      return;
    }
    lock.lock();
  }
}

void SearchWatch::write(const MappedResult& mapped) {
  snapshot_.outcomes = {{mapped.mapping, mapped.cost}};
  write_result(snapshot_, folder_);
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
