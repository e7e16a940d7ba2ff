#include "join_plan.h"

#include "sluice/support/error.h"

namespace sluice::fused {

SpineJoiner::Case* JoinPlanner::match(const SpineView& prefix, const SpineView& next,
                                      std::size_t einsum) {
  SpineJoiner::Case* const found = joiner_.match(prefix, next, einsum);
  SLUICE_CHECK(found != nullptr, "an edge of the exchange graph joins what does not match");
  return found;
}

const JoinPlan& JoinPlanner::plan(const SpineView& prefix, const SpineView& next,
                                  std::size_t einsum) {
  const SpineJoiner::Case& found = *match(prefix, next, einsum);
  plan_.left_depth = prefix.extents.size();
  plan_.next_depth = next.extents.size();
  plan_.depth = found.loops.size();
  const std::size_t levels = plan_.levels();
  for (std::vector<double>* numbers : {&plan_.during, &plan_.after, &plan_.alone})
    numbers->assign(tracked_.size() * levels, 0);
  plan_.persistent.assign(tracked_.size(), 0);
  plan_.apart.clear();
  plan_.n_apart = 0;
  std::int32_t n_before = 0;
  for (const AliveTensor& tensor : found.alive) {
    for (std::size_t m = 0; m < tracked_.size(); ++m) {
      if (tracked_[m].component != tensor.component) continue;
      const double bits = own_bits(found, tensor, false, prefix, next);
      if (tensor.apart_before || tensor.apart_after)
        plan_.apart.push_back(
            {m, tensor.level, bits, tensor.apart_before ? n_before++ : -1,
             tensor.apart_after ? static_cast<std::int32_t>(plan_.n_apart++) : -1});
      if (tensor.persistent) {
        if (!tensor.before) plan_.persistent[m] += bits;
        continue;
      }
      const std::size_t at = m * levels + tensor.level;
      plan_.during[at] += bits;
      if (tensor.stays == Stay::kNo) continue;
      plan_.after[at] += own_bits(found, tensor, true, prefix, next);
      if (tensor.alone && uses_.last_copied[tensor.id.index()] <= einsum)
        plan_.alone[at] += bits_of(tensor, prefix, next);
    }
  }
  return plan_;
}

CompactSpine JoinPlanner::joined(const SpineView& prefix, const SpineView& next,
                                 std::size_t einsum) {
  SpineJoiner::Case* const found = match(prefix, next, einsum);
  CompactSpine spine;
  SpineJoiner::join(*found, prefix, next, &spine);
  joiner_.settle(found, &spine);
  return spine;
}

}  // namespace sluice::fused
