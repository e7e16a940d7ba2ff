#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

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

}  // namespace sluice
