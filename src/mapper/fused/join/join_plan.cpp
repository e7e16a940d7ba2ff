#include "join_plan.h"

#include <algorithm>

#include "sluice/support/error.h"

namespace sluice::fused {
namespace {

/// Whether no other tensor is in the same reservation.
bool is_alone(const LiveTensor& tensor, const std::vector<LiveTensor>& alive) {
  return std::none_of(alive.begin(), alive.end(), [&](const LiveTensor& other) {
    return other.id != tensor.id && other.origin == tensor.origin;
  });
}

}  // namespace

JoinPlan plan_join(const Spine& prefix, const Spine& next,
                   const std::vector<TrackedMemory>& tracked, const TensorUses& uses,
                   std::size_t einsum) {
  const std::optional<Match> match = match_spines(prefix, next);
  SLUICE_CHECK(match.has_value(), "an edge of the exchange graph joins what does not match");
  JoinPlan plan;
  plan.left_depth = prefix.loops.size();
  plan.next_depth = next.loops.size();
  plan.persistent.assign(tracked.size(), 0);
  const std::vector<double> levels(plan.next_depth + 1, 0);
  plan.during.assign(tracked.size(), levels);
  plan.after.assign(tracked.size(), levels);
  plan.alone.assign(tracked.size(), levels);
  const std::vector<LiveTensor> alive = alive_during(prefix, next);
  std::vector<LiveTensor> staying = alive;
  std::erase_if(staying, [&](const LiveTensor& t) { return uses.last[t.id.index()] <= einsum; });
  for (const LiveTensor& tensor : alive) {
    const bool stays = uses.last[tensor.id.index()] > einsum;
    const bool is_new = find_live(prefix, tensor.id) == nullptr;
    for (std::size_t m = 0; m < tracked.size(); ++m)
      if (is_new && tensor.persistent && tracked[m].component == tensor.component)
        plan.persistent[m] += own_bits(alive, tensor);
    for (std::size_t m = 0; m < tracked.size(); ++m) {
      if (tensor.persistent || tracked[m].component != tensor.component) continue;
      plan.during[m][tensor.level] += own_bits(alive, tensor);
      if (!stays) continue;
      plan.after[m][tensor.level] += own_bits(staying, tensor);
      if (is_alone(tensor, staying) && uses.last_copied[tensor.id.index()] <= einsum)
        plan.alone[m][tensor.level] += tensor.bits;
    }
  }
  JoinedSpine joined = join_spines(prefix, next, *match, uses.last, einsum);
  plan.spine = std::move(joined.spine);
  plan.depth = plan.spine.loops.size();
  return plan;
}

}  // namespace sluice::fused
