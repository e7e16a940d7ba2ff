#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "oracle/enumerate_einsum.h"
#include "oracle/nest.h"

namespace sluice::oracle {

/// One spelling for nests that mean the same: non-backing nodes sunk through the fully relevant
/// temporal loops under them (the normal form), adjacent nodes of one memory in a fixed order that
/// keeps a node that cannot sink as the last, and the loops of a gap below the `n_fused` outermost
/// loops in a fixed order that keeps what is above from sinking. Sliding nodes end right below the
/// window's loop that they pass. Nothing where the result is written elsewhere in the space: a node
/// sank through an unfused loop, or a sliding node meets no window; nor where it is not in the
/// space: a node that sank through a fused loop leaves two loops over one variable in one gap.
std::optional<std::vector<NestNode>> canonical_nest(const Einsum& einsum, int n_fused,
                                                    std::vector<NestNode> nodes);

/// Whether a node would sink through a loop that stands directly under it.
bool sinks_through(const Einsum& einsum, const NestStorage& storage, const NestLoop& loop);

/// Gathers the distinct nests of one Einsum, up to a limit on those looked at.
class NestCollector {
 public:
  NestCollector(EinsumId einsum, std::int64_t limit) : einsum_(einsum), limit_(limit) {}
  void start_template(ComponentId compute, int template_id) {
    compute_ = compute;
    template_ = template_id;
  }
  void count() { ++seen_; }  ///< one more spelling looked at
  void add(std::vector<NestNode> nodes);
  bool exceeded() const { return seen_ > limit_; }
  NestList take();

 private:
  EinsumId einsum_;
  std::int64_t limit_;
  std::int64_t seen_ = 0;
  ComponentId compute_;
  int template_ = 0;
  std::unordered_map<std::string, std::size_t> index_of_;
  std::vector<Pmapping> nests_;
};

}  // namespace sluice::oracle
