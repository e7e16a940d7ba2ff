#include "prefix.h"

#include <algorithm>

#include "mapper/common/rounding.h"

namespace sluice::fused {

PrefixGroup PrefixGroup::empty(CompactSpine spine, std::size_t n_tracked) {
  PrefixGroup group;
  group.spine = std::move(spine);
  group.stride = 2 + 2 * n_tracked;
  group.values.assign(group.stride, 0);
  group.history = {0};
  return group;
}

PrefixBuilder::PrefixBuilder(const JoinStage& stage, std::uint32_t node, SearchBound bound,
                             JoinPlanner* planner)
    : stage_(stage), bound_(std::move(bound)), planner_(planner) {
  group_.node = node;
}

/// While loops are open, another Einsum runs below all of them, and with it what is held for them
/// and what is alive: a finished branch that needed less than that together says nothing.
void PrefixBuilder::raise_to_later(const JoinPlan& plan, std::size_t memory, double* closed,
                                   const double* open) {
  const double* alive = plan.alone.data() + memory * plan.levels();
  double later = 0;
  for (std::size_t l = plan.depth + 1; l-- > 0;) {
    later += alive[l] + (l < plan.depth ? open[l] : 0);
    closed[l] = std::max(closed[l], surely_below(later));
  }
}

/// Combines the reservation trees of a prefix entry and a pmapping; false if a memory overflows.
bool PrefixBuilder::reserve(const JoinPlan& plan, const PrefixGroup& prefix, std::size_t i,
                            const double* pmapping, double* value) {
  const std::size_t n = stage_.tracked.size(), left = plan.left_depth, depth = plan.depth;
  for (std::size_t m = 0; m < n; ++m) {
    const double* old_closed = prefix.closed(i, m);
    const double* old_open = prefix.open(i, m);
    const double* own = pmapping + 2 + m * (plan.next_depth + 1);  // per level
    double* closed = value + 2 + m * (2 * depth + 1);
    double* open = closed + depth + 1;
    const double* during = plan.during.data() + m * plan.levels();
    const double* after = plan.after.data() + m * plan.levels();
    const auto open_before = [&](std::size_t l) { return l < left ? old_open[l] : 0.0; };
    const auto closed_before = [&](std::size_t l) {
      double peak = l <= left ? old_closed[l] : 0.0;
      for (const TensorApart& tensor : plan.apart)
        if (tensor.memory == m && tensor.level == l && tensor.before >= 0)
          peak = std::min(peak, prefix.apart(i, n, tensor.before) + tensor.bits);
      return peak;
    };
    // The next Einsum's own branch, from its innermost level up to where it leaves the prefix.
    std::size_t level = plan.next_depth;
    double usage = own[level] + during[level];
    const std::size_t leaves = std::max(left, depth);
    while (level > leaves) {
      --level;
      usage += own[level] + during[level];
    }
    double branch = usage;
    usage = std::max(usage, closed_before(level));
    // Levels whose loops close now: the branch counts with everything that was open around it.
    while (level > depth) {
      --level;
      branch = open_before(level) + own[level] + during[level] + usage;
      usage = std::max(closed_before(level), branch);
    }
    closed[depth] = usage;
    for (const TensorApart& tensor : plan.apart) {
      if (tensor.memory != m || tensor.after < 0) continue;
      double peak =
          tensor.before < 0 ? closed_before(tensor.level) : prefix.apart(i, n, tensor.before);
      if (tensor.level == depth) peak = std::max(peak, branch - tensor.bits);
      value[PrefixGroup::apart_at(depth, n) + static_cast<std::size_t>(tensor.after)] = peak;
    }
    for (std::size_t l = 0; l < depth; ++l) {
      closed[l] = closed_before(l);
      open[l] = open_before(l) + own[l] + (during[l] - after[l]);
      if (open[l] < 0) open[l] = 0;  // an alias that outlives its source
    }
    if (stage_.front.drop_settled) raise_to_later(plan, m, closed, open);
    const double persistent = prefix.persistent(i, m, n) +
                              pmapping[2 + n * (plan.next_depth + 1) + m] + plan.persistent[m];
    value[2 + n * (2 * depth + 1) + m] = persistent;
    double around = persistent;
    for (std::size_t l = 0; l <= depth; ++l) {
      const double excess = around + closed[l] - stage_.tracked[m].size_bits;
      if (excess > 0) {
        if (!closest_memory_ || excess < closest_excess_) {
          closest_memory_ = stage_.tracked[m].component;
          closest_excess_ = excess;
        }
        return false;
      }
      if (l < depth) around += open[l] + after[l];
    }
  }
  return true;
}

void PrefixBuilder::join(const PrefixGroup& prefix, const NextGroup& next,
                         std::uint32_t next_index) {
  const JoinPlan& plan = planner_->plan(prefix.spine, next.spine, stage_.einsum);
  const PmappingGroup& pmappings = *next.group;
  EnergyLatency least{pmappings.value(0)[0], pmappings.value(0)[1]};
  for (std::size_t j = 1; j < pmappings.size(); ++j) {
    least.energy = std::min(least.energy, pmappings.value(j)[0]);
    least.latency = std::min(least.latency, pmappings.value(j)[1]);
  }
  std::vector<double> value(PrefixGroup::apart_at(plan.depth, stage_.tracked.size()) +
                            plan.n_apart);
  for (std::size_t i = 0; i < prefix.size() && !is_cancelled(stage_.cancel); ++i) {
    const double energy = prefix.value(i)[0], latency = prefix.value(i)[1];
    pairs_ += static_cast<double>(pmappings.size());
    if (bound_.hopeless(energy + least.energy, latency + least.latency)) continue;
    for (std::size_t j = 0; j < pmappings.size(); ++j) {
      const double* pmapping = pmappings.value(j);
      value[0] = energy + pmapping[0];
      value[1] = latency + pmapping[1];
      if (bound_.hopeless(value[0], value[1])) continue;
      if (!reserve(plan, prefix, i, pmapping, value.data())) continue;
      if (stage_.held != nullptr && stage_.held->is_hopeless(stage_.einsum + 1, group_.node,
                                                             value.data(), plan.depth, bound_))
        continue;
      if (empty()) {
        group_.spine = planner_->joined(prefix.spine, next.spine, stage_.einsum);
        group_.stride = value.size();
      }
      group_.values.insert(group_.values.end(), value.begin(), value.end());
      group_.history.push_back(static_cast<std::uint32_t>(steps_.size()));
      steps_.push_back({prefix.history[i], {next_index, static_cast<std::uint32_t>(j)}});
    }
    if (group_.size() > 2 * pruned_size_ + 512) prune();
  }
}

/// Peaks of finished branches outside all open loops fit, and nothing is added to them any more,
/// unless a later Einsum holds something for the whole run.
std::vector<char> PrefixBuilder::ignored_numbers() const {
  std::vector<char> ignored(group_.stride, 0);
  for (std::size_t m = 0; m < stage_.tracked.size(); ++m)
    ignored[2 + m * (2 * group_.depth() + 1)] = stage_.persistent_later[m] == 0;
  return ignored;
}

void PrefixBuilder::prune() {
  FrontOptions front = stage_.front;
  if (front.drop_settled) front.ignored = ignored_numbers();
  const PointSet points{group_.stride, std::move(group_.values)};
  group_.values.clear();
  std::vector<std::uint32_t> kept_history;
  std::vector<JoinStep> kept_steps;
  for (std::uint32_t i : worth_keeping(points, front)) {
    group_.values.insert(group_.values.end(), points.point(i), points.point(i) + group_.stride);
    kept_history.push_back(static_cast<std::uint32_t>(kept_steps.size()));
    kept_steps.push_back(steps_[group_.history[i]]);
  }
  group_.history = std::move(kept_history);
  steps_ = std::move(kept_steps);
  pruned_size_ = group_.size();
}

PrefixGroup PrefixBuilder::take(std::vector<JoinStep>* steps) {
  prune();
  *steps = std::move(steps_);
  return std::move(group_);
}

}  // namespace sluice::fused
