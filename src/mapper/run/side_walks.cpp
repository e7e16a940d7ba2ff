#include "side_walks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "mapper/sampling/chains.h"
#include "mapper/sampling/population.h"

namespace sluice {
namespace {

constexpr double kHeadStart = 0.1;      // s
constexpr double kFirstWalk = 0.15;     // s
constexpr double kGrowth = 1.3;         // of walks, each to the next
constexpr double kFreeTime = 1.0;       // s of walking that no share limits
constexpr double kShare = 0.15;         // of the time passed, beyond that
constexpr double kShareOfBudget = 0.5;  // where the search is to end soon

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Populations and annealing in turn, from random mappings and from the best so far.
void walk(std::size_t round, double seconds, sampling::SamplingRun* run) {
  constexpr double kCool = 0.03;
  const Clock::time_point begin = Clock::now();
  const auto progress = [=] { return std::min(1.0, seconds_since(begin) / seconds); };
  const char* phase = "walking";
  switch (round % 4) {
    case 0:
      return sampling::breed(run, progress);
    case 1:
      return sampling::walk_chains(run, sampling::annealing(), 0, progress, phase);
    case 2:
      return sampling::walk_chains(run, sampling::annealing(kCool), 0, progress, phase,
                                   run->record().elite());
    default:
      return sampling::breed(run, progress, run->record().elite());
  }
}

}  // namespace

MapperOptions options_of_walks(MapperOptions options) {
  options.objectives.resize(1);
  options.resource_usage = false;
  options.top = 4;  // the best so far, to go on from
  options.imperfect_factors = ImperfectFactors::kNone;
  options.row_fusion = false;
  options.explore_einsum_orders = false;
  options.budget_evaluations.reset();
  options.budget_seconds = std::numeric_limits<double>::infinity();  // until they are stopped
  options.threads = 1;
  return options;
}

SideWalks::SideWalks(const BoundProblem& problem, const MapperOptions& options,
                     Incumbent* incumbent)
    : problem_(problem),
      options_(options_of_walks(options)),
      incumbent_(incumbent),
      share_(options.budget_seconds ? kShareOfBudget : kShare),
      thread_([this] { run(); }) {}

void SideWalks::run() {
  try {
    walk_on();
  } catch (...) {
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake_.notify_all();
}

void SideWalks::walk_on() {
  const Clock::time_point start = Clock::now();
  wait_for_head_start();
  if (stop_) return;
  MapperControl control;
  control.cancel = &stop_;
  control.incumbent = incumbent_;
  sampling::SamplingRun run(problem_, options_, control);
  double walked = 0;
  double length = kFirstWalk;
  for (std::size_t round = 0; !stop_; ++round, length *= kGrowth) {
    const Clock::time_point begin = Clock::now();
    walk(round, length, &run);
    walked += seconds_since(begin);
    while (walked > kFreeTime + share_ * seconds_since(start))
      if (!pause((walked - kFreeTime) / share_ - seconds_since(start))) return;
  }
}

void SideWalks::wait_for_head_start() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::duration<double>(kHeadStart),
                 [this] { return stop_ || is_urgent_; });
}

bool SideWalks::pause(double seconds) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, std::chrono::duration<double>(seconds),
                         [this] { return stop_.load(); });
}

void SideWalks::wait_for_a_mapping(double seconds) {
  const Clock::time_point start = Clock::now();
  constexpr std::chrono::milliseconds kStep(2);
  std::unique_lock lock(mutex_);
  is_urgent_ = true;
  wake_.notify_all();
  while (std::isinf(incumbent_->objective()) && !ended_ && seconds_since(start) < seconds)
    wake_.wait_for(lock, kStep);
}

void SideWalks::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SideWalks::finish() {
  stop();
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace sluice
