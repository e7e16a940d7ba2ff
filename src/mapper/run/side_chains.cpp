#include "side_chains.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "chain_bound.h"
#include "mapper/request/constrained_problem.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

/// So long in all, at a time after the search began (s).
double share_until(double elapsed, bool has_budget) {
  constexpr double kFirst = 0.1;  // s
  constexpr double kShare = 0.1;  // of the time
  if (has_budget && elapsed >= kWalksFirst) return std::numeric_limits<double>::infinity();
  return std::max(kFirst, kShare * elapsed);
}

}  // namespace

SideChains::SideChains(const BoundProblem& problem, const MapperOptions& options,
                       const Incumbent& incumbent, const ToldBound& told,
                       const std::atomic<bool>* cancel, std::function<void(double)> tell)
    : problem_(problem),
      options_(options),
      incumbent_(incumbent),
      bound_(told, std::move(tell)),
      thread_(cancel, [this](SideThread& thread) { refine(&thread); }) {}

void SideChains::refine(SideThread* thread) {
  constexpr double kStep = 0.1, kLook = 0.25;  // s: how often to look whether they are of use
  const bool has_budget = options_.budget_seconds.has_value();
  const auto began = std::chrono::steady_clock::now();
  thread->set_at_work(false);
  if (!thread->pause(bounds_begin_s(options_.budget_seconds))) return;  // it has ended at once
  thread->set_at_work(true);
  if (!has_budget) SideThread::stand_back();
  const BoundProblem bounded = constrained(problem_, options_.constraints);
  auto chains = ChainBound::of(problem_, bounded, options_, nullptr, 1, thread->flag());
  double spent = 0;
  for (bool is_open = chains.has_value(); is_open;) {
    const auto start = std::chrono::steady_clock::now();
    const double left =
        bound_.is_idle(incumbent_) ? 0 : share_until(seconds_since(began), has_budget) - spent;
    if (left > 0)
      is_open = chains->refine(std::min(left, kLook), incumbent_, thread->flag(),
                               [this](double bound) { bound_.tell(bound); });
    spent += seconds_since(start);
    if (!thread->pause(left > kLook ? 0 : kStep)) return;
  }
}

}  // namespace sluice
