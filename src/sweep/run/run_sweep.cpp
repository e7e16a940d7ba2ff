#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "sluice/sweep/sweep_database.h"
#include "support/seconds_since.h"

namespace sluice {
namespace {

class SweepWork {
 public:
  SweepWork(const SweepPlan& plan, SweepDatabase& database, const LoadOptions& options,
            const SweepControl& control)
      : plan_(plan),
        database_(database),
        options_(options),
        control_(control),
        jobs_(std::max<std::size_t>(1, control.jobs)),
        states_(plan.points.size(), State::kWaiting) {
    for (std::size_t p = 0; p < plan.points.size(); ++p)
      first_with_key_.try_emplace(plan.points[p].key, p);
  }

  Result<SweepOutcome> run() {
    if (auto known = find_known(); !known) return tl::unexpected(std::move(known.error()));
    show();
    std::vector<std::thread> threads;
    for (std::size_t j = 1; j < jobs_; ++j) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    if (!mistakes_.empty()) return tl::unexpected(std::move(mistakes_));
    outcome_.is_cancelled = is_cancelled(control_.cancel);
    return outcome_;
  }

 private:
  enum class State { kWaiting, kRunning, kDone };

  Result<void> find_known() {
    for (std::size_t p = 0; p < plan_.points.size(); ++p) {
      const auto has = database_.has(plan_.points[p].key);
      if (!has) return tl::unexpected(has.error());
      if (!*has) continue;
      states_[p] = State::kDone;
      ++outcome_.n_done;
      ++outcome_.n_known;
    }
    return {};
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      // Cancelled by a signal handler, which wakes nobody.
      constexpr std::chrono::milliseconds kTick(100);
      std::optional<std::size_t> point;
      while (!is_over() && !(point = next_point())) wake_.wait_for(lock, kTick);
      if (!point) break;
      states_[*point] = State::kRunning;
      running_.insert(*point);
      show_locked();
      lock.unlock();
      try {
        search(*point);
      } catch (...) {
        const std::lock_guard again(mutex_);
        failure_ = std::current_exception();
        is_stopped_ = true;
      }
      lock.lock();
      running_.erase(*point);
      if (states_[*point] == State::kDone) show_locked();
      wake_.notify_all();
    }
    wake_.notify_all();
  }

  bool is_over() const {
    return is_stopped_ || is_cancelled(control_.cancel) || outcome_.n_done == states_.size();
  }

  /// The first point that needs no other's result; none for now.
  std::optional<std::size_t> next_point() const {
    for (std::size_t p = 0; p < states_.size(); ++p) {
      if (states_[p] != State::kWaiting || first_of(p) != p) continue;
      const auto& donor = plan_.points[p].donor;
      if (!donor || states_[*donor] == State::kDone) return p;
    }
    return std::nullopt;
  }

  std::size_t first_of(std::size_t point) const {
    return first_with_key_.at(plan_.points[point].key);
  }

  void search(std::size_t p) {
    const SweepPoint& point = plan_.points[p];
    auto inputs = sweep_inputs(plan_.request, point, options_);
    if (!inputs) return stop(std::move(inputs.error()));  // a file was changed meanwhile
    inputs->options.threads = std::max(1, inputs->options.threads / static_cast<int>(jobs_));
    std::string donor;
    if (point.donor) {
      const auto found = database_.find(plan_.points[*point.donor].key);
      if (!found) return stop(found.error());
      if (*found && !(*found)->mappings.empty()) donor = (*found)->mappings.front().mapping;
    }
    auto run = search_point(*inputs, donor, control_.cancel, control_.leftovers);
    if (!run) return;
    run->key = point.key;
    if (auto saved = database_.save(*run, inputs->problem); !saved)
      return stop(std::move(saved.error()));
    take_in(*run);
  }

  void take_in(const SweepRun& run) {
    const std::lock_guard lock(mutex_);
    for (std::size_t p = 0; p < states_.size(); ++p)
      if (plan_.points[p].key == run.key && states_[p] != State::kDone) {
        states_[p] = State::kDone;
        ++outcome_.n_done;
      }
  }

  void stop(Diagnostics mistakes) {
    const std::lock_guard lock(mutex_);
    if (mistakes_.empty()) mistakes_ = std::move(mistakes);
    is_stopped_ = true;
  }

  void show() {
    const std::lock_guard lock(mutex_);
    show_locked();
  }

  void show_locked() {
    if (!control_.progress) return;
    SweepProgress progress;
    progress.n_points = states_.size();
    progress.n_done = outcome_.n_done;
    progress.n_known = outcome_.n_known;
    progress.running.assign(running_.begin(), running_.end());
    const std::size_t n_new = outcome_.n_done - outcome_.n_known;
    const double seconds = seconds_since(start_);
    if (n_new > 0)
      progress.seconds_left = seconds / static_cast<double>(n_new) *
                              static_cast<double>(states_.size() - outcome_.n_done);
    control_.progress(progress);
  }

  using Clock = std::chrono::steady_clock;

  const SweepPlan& plan_;
  SweepDatabase& database_;
  const LoadOptions& options_;
  const SweepControl& control_;
  const std::size_t jobs_;
  std::map<std::string, std::size_t> first_with_key_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<State> states_;
  std::set<std::size_t> running_;
  SweepOutcome outcome_;
  bool is_stopped_ = false;
  Diagnostics mistakes_;
  std::exception_ptr failure_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

Result<SweepOutcome> run_sweep(const SweepPlan& plan, SweepDatabase& database,
                               const LoadOptions& options, const SweepControl& control) {
  if (auto saved = database.save(plan); !saved) return tl::unexpected(std::move(saved.error()));
  return SweepWork(plan, database, options, control).run();
}

}  // namespace sluice
