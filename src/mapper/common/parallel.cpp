#include "mapper/common/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>

#ifdef __SANITIZE_THREAD__
#include <thread>
#include <vector>
#else
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace sluice {
namespace {

/// Runs bodies until one throws, and keeps what it threw: an exception that leaves
/// `task_arena::execute` leaks the arena (oneTBB 2021.8), and every later one takes longer.
class Guarded {
 public:
  explicit Guarded(const std::function<void(std::size_t)>& body) : body_(body) {}

  void operator()(std::size_t i) {
    if (has_failed_) return;
    try {
      body_(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      has_failed_ = true;
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::function<void(std::size_t)>& body_;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

#ifdef __SANITIZE_THREAD__

// The sanitizer cannot see the synchronisation inside the system's TBB and would report every
// result that crosses it. With plain threads it sees all of it, and still watches what the bodies
// do.
void run_on_threads(int threads, std::size_t count, Guarded& body) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::jthread> pool;
  for (int i = 1; i < threads; ++i) pool.emplace_back(work);
  work();
}

#else

void run_on_threads(int threads, std::size_t count, Guarded& body) {
  // Of several at a time the least counts, so that searches side by side would share one's threads.
  std::optional<tbb::global_control> allow_more_than_cores;
  if (threads > tbb::info::default_concurrency())
    allow_more_than_cores.emplace(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  // Bodies are whole searches, of very different length: one at a time to whoever is free.
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t i = range.begin(); i != range.end(); ++i) body(i);
        },
        tbb::simple_partitioner());
  });
}

#endif

}  // namespace

void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t)>& body) {
  const std::size_t useful = std::min(static_cast<std::size_t>(std::max(threads, 1)), count);
  if (useful <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  Guarded guarded(body);
  run_on_threads(static_cast<int>(useful), count, guarded);
  guarded.rethrow();
}

}  // namespace sluice
