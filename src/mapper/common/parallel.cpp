#include "mapper/common/parallel.h"

#include <algorithm>

#ifdef __SANITIZE_THREAD__
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#else
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace sluice {
namespace {

#ifdef __SANITIZE_THREAD__

// The sanitizer cannot see the synchronisation inside the system's TBB and would report every
// result that crosses it. With plain threads it sees all of it, and still watches what the bodies
// do.
void run_on_threads(int threads, std::size_t count, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int i = 1; i < threads; ++i) pool.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

#else

void run_on_threads(int threads, std::size_t count, const std::function<void(std::size_t)>& body) {
  const tbb::global_control allow_more_than_cores(tbb::global_control::max_allowed_parallelism,
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
  run_on_threads(static_cast<int>(useful), count, body);
}

}  // namespace sluice
