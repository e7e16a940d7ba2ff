#include "mapper/request/einsum_orders.h"

#include <algorithm>

namespace sluice {
namespace {

/// For each Einsum, those that must run before it.
std::vector<std::vector<std::size_t>> predecessors(const TensorRoles& roles,
                                                   std::size_t n_einsums) {
  std::vector<std::vector<std::size_t>> before(n_einsums);
  for (std::size_t t = 0; t < roles.makers.size(); ++t)
    for (const EinsumId consumer : roles.consumers[t])
      for (const EinsumId maker : roles.makers[t])
        before[consumer.index()].push_back(maker.index());
  return before;
}

/// All topological orders in lexicographic order, depth first.
class OrderWalk {
 public:
  OrderWalk(const std::vector<std::vector<std::size_t>>& before, std::size_t most)
      : before_(before), most_(most), placed_(before.size(), false) {}

  std::vector<std::vector<EinsumId>> run() {
    extend();
    return std::move(found_);
  }

 private:
  void extend() {
    if (order_.size() == before_.size()) {
      found_.push_back(order_);
      return;
    }
    for (std::size_t e = 0; e < before_.size() && found_.size() < most_; ++e) {
      if (placed_[e] || !is_ready(e)) continue;
      placed_[e] = true;
      order_.emplace_back(e);
      extend();
      order_.pop_back();
      placed_[e] = false;
    }
  }

  bool is_ready(std::size_t einsum) const {
    return std::all_of(before_[einsum].begin(), before_[einsum].end(),
                       [this](std::size_t other) { return placed_[other]; });
  }

  const std::vector<std::vector<std::size_t>>& before_;
  std::size_t most_;
  std::vector<bool> placed_;
  std::vector<EinsumId> order_;
  std::vector<std::vector<EinsumId>> found_;
};

}  // namespace

bool has_recurrence(const TensorRoles& roles) {
  for (std::size_t t = 0; t < roles.makers.size(); ++t)
    for (const EinsumId consumer : roles.consumers[t])
      if (roles.is_made(TensorId(t)) && consumer <= roles.makers[t].back()) return true;
  return false;
}

std::vector<std::vector<EinsumId>> einsum_orders(const Workload& workload, std::size_t most) {
  const TensorRoles roles = tensor_roles(workload);
  if (!has_recurrence(roles))
    return OrderWalk(predecessors(roles, workload.einsums.size()), most).run();
  std::vector<EinsumId> as_written;
  for (std::size_t e = 0; e < workload.einsums.size(); ++e) as_written.emplace_back(e);
  return {as_written};
}

}  // namespace sluice
