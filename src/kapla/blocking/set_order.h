#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sluice::kapla {

using Triple = std::array<std::int64_t, 3>;

/// The triples, each once, in the order in which CPython (3.8 and later) walks a set of them as
/// tuples. The artifact collects sizes in such a set and keeps the first of those that are equally
/// good.
std::vector<Triple> in_set_order(const std::vector<Triple>& triples);

}  // namespace sluice::kapla
