#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Calls `body(i)` once for each i in [0, count), on up to `threads` threads (at least one; it may
/// be more than the machine has). Returns when all calls are done. Calls may run in any order and
/// at the same time: each should write only to its own slot of a result, which is then read in the
/// order of i, so that the outcome does not depend on the number of threads.
/// An exception from a body ends the loop early and is thrown again here.
void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t)>& body);

/// The same with `body(first, last)` for every `size` items of [0, count), where one is soon done.
template <class Body>
void parallel_chunks(int threads, std::size_t count, std::size_t size, const Body& body) {
  parallel_for(threads, (count + size - 1) / size,
               [&](std::size_t chunk) { body(chunk * size, std::min(count, (chunk + 1) * size)); });
}

/// std::sort of very many: false, and any order, once `cancel` (may be null) is set.
template <class Iterator, class Less>
bool sort_unless_cancelled(Iterator begin, Iterator end, const Less& less,
                           const std::atomic<bool>* cancel) {
  using Difference = typename std::iterator_traits<Iterator>::difference_type;
  constexpr Difference kAtOnce = Difference{1} << 15;
  const Difference n = end - begin;
  const auto up_to = [&](Difference i) { return begin + std::min(i, n); };
  for (Difference i = 0; i < n; i += kAtOnce) {
    if (is_cancelled(cancel)) return false;
    std::sort(up_to(i), up_to(i + kAtOnce), less);
  }
  for (Difference sorted = kAtOnce; sorted < n; sorted *= 2)
    for (Difference i = 0; i + sorted < n; i += 2 * sorted) {
      if (is_cancelled(cancel)) return false;
      std::inplace_merge(up_to(i), up_to(i + sorted), up_to(i + 2 * sorted), less);
    }
  return true;
}

}  // namespace sluice
