#include "side_walks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "mapper/strategies/best_of_walks.h"
#include "mapper/strategies/walks.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

constexpr double kFirstWalk = 0.15;  // s
constexpr double kGrowth = 1.3;      // of walks, each to the next
constexpr SideWalks::Pace kToTheEnd{0.45, 0.1, 0.03};
constexpr SideWalks::Pace kOnABudget{0.1, 1.0, 0.5};
constexpr SideWalks::Pace kOfOneOnABudget{0.1, 0.3, 0.25};  // chains find more
constexpr SideWalks::Pace kOfManyOnABudget{0.1, 1.5, 0.5};
constexpr double kShareOfLittle = 0.25;
constexpr double kLong = 3;  // s: whoever has no budget still wants an answer by now
constexpr double kShareOfLong = 0.25;
constexpr std::size_t kMany = 8;    // Einsums
constexpr unsigned kSeedBits = 20;  // of what a user asks for, at most

SideWalks::Pace pace_for_one(const BoundProblem& problem, const MapperOptions& options) {
  if (!options.budget_seconds) return kToTheEnd;
  if (problem.einsums.size() == 1) return kOfOneOnABudget;
  return problem.einsums.size() < kMany ? kOnABudget : kOfManyOnABudget;
}

SideWalks::Pace pace_of(const BoundProblem& problem, const MapperOptions& options) {
  SideWalks::Pace pace = pace_for_one(problem, options);
  if (options.objectives.size() == 1) return pace;
  constexpr double kPart = 0.4;  // others walk for the other objectives
  return {pace.head_start, kPart * pace.free, kPart * pace.share};
}

using Clock = std::chrono::steady_clock;

/// Of a core that this thread had: where threads outnumber cores, what passes is more.
double thread_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

SideWalks::SideWalks(const BoundProblem& problem, const MapperOptions& options,
                     Incumbent* incumbent, Leftovers* leftovers, std::shared_ptr<BestOfWalks> best,
                     std::function<bool()> leaves_it)
    : problem_(problem),
      options_(options_of_walks(options)),
      incumbent_(incumbent),
      leftovers_(leftovers),
      best_(best ? std::move(best) : std::make_shared<BestOfWalks>()),
      leaves_it_(std::move(leaves_it)),
      pace_(pace_of(problem, options)),
      has_budget_(options.budget_seconds.has_value()),
      n_others_(options.threads - 1),
      thread_(nullptr, [this](SideThread& thread) { walk_on(&thread); }) {}

double SideWalks::seconds_until_next(double walked, double elapsed) const {
  const auto from = [&](double share) { return (walked - pace_.free) / share - elapsed; };
  const double wait = from(pace_.share);
  if (pace_.share >= kShareOfLong || (leaves_it_ && leaves_it_())) return wait;
  return std::min(wait, std::max(from(kShareOfLong), kLong - elapsed));
}

void SideWalks::walk_on(SideThread* thread) {
  const Clock::time_point start = Clock::now();
  if (problem_.einsums.empty()) return;  // there is one mapping
  if (!thread->pause(pace_.head_start)) return;
  MapperControl control;
  control.cancel = thread->flag();
  control.incumbent = incumbent_;
  const auto kept = std::make_shared<Walks>(problem_, options_, control, true, best_);
  if (leftovers_ != nullptr) walks_ = kept;
  Walks& walks = *kept;
  double walked = 0;
  double length = kFirstWalk;
  for (std::size_t round = 0; !is_cancelled(thread->flag()); ++round, length *= kGrowth) {
    const double begin = thread_seconds();
    walks.walk(round, length);
    const double took = thread_seconds() - begin;
    walked += took;
    evaluations_ = walks.evaluations();
    if (!has_budget_ && walked > pace_.free) SideThread::stand_back();
    if (leaves_it_ && leaves_it_() && !thread->pause(took / kShareOfLittle - took)) return;
    while (!thread->is_awake()) {
      const double wait = seconds_until_next(walked, seconds_since(start));
      if (wait <= 0) break;
      if (!thread->pause(wait)) return;
    }
  }
}

/// The others go the same way from other random numbers.
void SideWalks::take_over(const std::atomic<bool>* cancel, double seconds,
                          const std::function<int()>& n_taken) {
  if (is_cancelled(cancel)) return;
  std::vector<std::unique_ptr<SideWalks>> others;
  const auto end_last = [&] {
    others.back()->finish();
    evaluations_of_others_ += others.back()->evaluations();
    others.pop_back();
  };
  const auto goes_on = [&] {
    const int n_free = std::max(0, n_others_ - (n_taken ? n_taken() : 0));
    while (static_cast<int>(others.size()) > n_free) end_last();
    while (static_cast<int>(others.size()) < n_free) {
      MapperOptions options = options_;
      options.seed += (others.size() + 1) << kSeedBits;
      others.push_back(
          std::make_unique<SideWalks>(problem_, options, incumbent_, leftovers_, best_));
      others.back()->thread_.wake();
    }
    return !is_cancelled(cancel);
  };
  wait_while(goes_on, seconds);
  for (const auto& other : others) other->thread_.ask_to_end();  // all at once
  while (!others.empty()) end_last();
}

template <class Condition>
void SideWalks::wait_while(const Condition& condition, double seconds) {
  const Clock::time_point start = Clock::now();
  thread_.wake();
  while (condition() && thread_.is_at_work() && seconds_since(start) < seconds)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void SideWalks::wait_for_a_mapping(double seconds) {
  const auto has_none = [this] { return std::isinf(incumbent_->objective()); };
  if (has_none()) wait_while(has_none, seconds);
}

CornerWalks::CornerWalks(const BoundProblem& problem, const MapperOptions& options,
                         Leftovers* leftovers) {
  const auto has = [&](Objective objective) {
    return std::find(options.objectives.begin(), options.objectives.end(), objective) !=
           options.objectives.end();
  };
  std::vector<Objective> others(options.objectives.begin() + 1, options.objectives.end());
  if (has(Objective::kEnergy) && has(Objective::kLatency) && !has(Objective::kEdp))
    others.push_back(Objective::kEdp);
  for (const Objective objective : others) {
    MapperOptions own = options;
    own.objectives.insert(own.objectives.begin(), objective);
    Corner& corner = *corners_.emplace_back(std::make_unique<Corner>());
    corner.walks.emplace(problem, own, &corner.incumbent, leftovers);
  }
}

void CornerWalks::finish() {
  for (const auto& corner : corners_) corner->walks->finish();
}

std::vector<MappedResult> CornerWalks::found() const {
  std::vector<MappedResult> found;
  for (const auto& corner : corners_)
    if (auto best = corner->incumbent.best()) found.push_back(*std::move(best));
  return found;
}

double CornerWalks::evaluations() const {
  double all = 0;
  for (const auto& corner : corners_) all += corner->walks->evaluations();
  return all;
}

void SideWalks::finish() {
  thread_.stop();
  if (walks_) leftovers_->add(std::move(walks_));
  thread_.finish();
}

}  // namespace sluice
