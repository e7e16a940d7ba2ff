#include "prefix.h"

#include <algorithm>

#include "sluice/support/error.h"

namespace sluice::fused {

PrefixGroup PrefixGroup::empty(std::size_t n_tracked) {
  PrefixGroup group;
  group.stride = 2 + 2 * n_tracked;
  group.values.assign(group.stride, 0);
  group.history = {0};
  return group;
}

/// Everything about a join that does not depend on the entries: levels and tensors.
struct PrefixBuilder::Plan {
  Spine spine;                 // after the join, closed loops dropped
  std::size_t left_depth = 0;  // open loops of the prefix
  std::size_t next_depth = 0;  // fused loops of the next Einsum
  std::size_t depth = 0;       // open loops after the join
  // Per memory and level 0 … next_depth, in bits:
  std::vector<std::vector<double>> during;  // shared tensors alive while the next Einsum runs
  std::vector<std::vector<double>> after;   // of these, the ones that stay alive
  std::vector<double> persistent;           // newly held for the whole run
};

PrefixBuilder::Plan PrefixBuilder::make_plan(const PrefixGroup& prefix, const NextGroup& next,
                                             const Match& match) const {
  Plan plan;
  plan.left_depth = prefix.depth();
  plan.next_depth = next.spine.loops.size();
  plan.persistent.assign(tracked_.size(), 0);
  const std::vector<double> levels(plan.next_depth + 1, 0);
  plan.during.assign(tracked_.size(), levels);
  plan.after.assign(tracked_.size(), levels);
  const std::vector<LiveTensor> alive = alive_during(prefix.spine, next.spine);
  std::vector<LiveTensor> staying = alive;
  std::erase_if(staying, [&](const LiveTensor& t) { return last_use_[t.id.index()] <= einsum_; });
  for (const LiveTensor& tensor : alive) {
    const bool stays = last_use_[tensor.id.index()] > einsum_;
    const bool is_new = find_live(prefix.spine, tensor.id) == nullptr;
    for (std::size_t m = 0; m < tracked_.size(); ++m)
      if (is_new && tensor.persistent && tracked_[m].component == tensor.component)
        plan.persistent[m] += tensor.bits;
    for (std::size_t m = 0; m < tracked_.size(); ++m) {
      if (tensor.persistent || tracked_[m].component != tensor.component) continue;
      if (!is_alias(alive, tensor)) plan.during[m][tensor.level] += tensor.bits;
      if (stays && !is_alias(staying, tensor)) plan.after[m][tensor.level] += tensor.bits;
    }
  }
  JoinedSpine joined = join_spines(prefix.spine, next.spine, match, last_use_, einsum_);
  plan.spine = std::move(joined.spine);
  plan.depth = plan.spine.loops.size();
  return plan;
}

/// Combines the reservation trees of a prefix entry and a pmapping; false if a memory overflows.
bool PrefixBuilder::reserve(const Plan& plan, const PrefixGroup& prefix, std::size_t i,
                            const double* pmapping, double* value) {
  const std::size_t n = tracked_.size(), left = plan.left_depth, depth = plan.depth;
  for (std::size_t m = 0; m < n; ++m) {
    const double* old_closed = prefix.closed(i, m);
    const double* old_open = prefix.open(i, m);
    const double* own = pmapping + 2 + m * (plan.next_depth + 1);  // per level
    double* closed = value + 2 + m * (2 * depth + 1);
    double* open = closed + depth + 1;
    const std::vector<double>& during = plan.during[m];
    const std::vector<double>& after = plan.after[m];
    const auto open_before = [&](std::size_t l) { return l < left ? old_open[l] : 0.0; };
    const auto closed_before = [&](std::size_t l) { return l <= left ? old_closed[l] : 0.0; };
    // The next Einsum's own branch, from its innermost level up to where it leaves the prefix.
    std::size_t level = plan.next_depth;
    double usage = own[level] + during[level];
    const std::size_t leaves = std::max(left, depth);
    while (level > leaves) {
      --level;
      usage += own[level] + during[level];
    }
    usage = std::max(usage, level <= left ? old_closed[level] : 0.0);
    // Levels whose loops close now: the branch counts with everything that was open around it.
    while (level > depth) {
      --level;
      usage =
          std::max(closed_before(level), open_before(level) + own[level] + during[level] + usage);
    }
    closed[depth] = usage;
    for (std::size_t l = 0; l < depth; ++l) {
      closed[l] = closed_before(l);
      open[l] = open_before(l) + own[l] + (during[l] - after[l]);
      if (open[l] < 0) open[l] = 0;  // an alias that outlives its source
    }
    const double persistent = prefix.persistent(i, m, n) +
                              pmapping[2 + n * (plan.next_depth + 1) + m] + plan.persistent[m];
    value[2 + n * (2 * depth + 1) + m] = persistent;
    double around = persistent;
    for (std::size_t l = 0; l <= depth; ++l) {
      const double excess = around + closed[l] - tracked_[m].size_bits;
      if (excess > 0) {
        if (!closest_memory_ || excess < closest_excess_) {
          closest_memory_ = tracked_[m].component;
          closest_excess_ = excess;
        }
        return false;
      }
      if (l < depth) around += open[l] + after[l];
    }
  }
  return true;
}

PrefixBuilder::Group& PrefixBuilder::group_of(std::uint32_t node, const Spine& spine) {
  if (group_of_node_[node] < 0) {
    group_of_node_[node] = static_cast<std::int64_t>(groups_.size());
    PrefixGroup& group = groups_.emplace_back().group;
    group.node = node;
    group.spine = spine;
    group.stride = 2 + tracked_.size() * (2 * spine.loops.size() + 1) + tracked_.size();
  }
  return groups_[static_cast<std::size_t>(group_of_node_[node])];
}

void PrefixBuilder::join(const PrefixGroup& prefix, const NextGroup& next, std::uint32_t next_index,
                         std::uint32_t node, const SearchBound& bound) {
  const std::optional<Match> match = match_spines(prefix.spine, next.spine);
  SLUICE_CHECK(match.has_value(), "an edge of the exchange graph joins what does not match");
  const Plan plan = make_plan(prefix, next, *match);
  Group* target = nullptr;
  std::vector<double> value(2 + tracked_.size() * (2 * plan.depth + 1) + tracked_.size());
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    for (std::size_t j = 0; j < next.group->size(); ++j) {
      ++pairs_;
      const double* pmapping = next.group->value(j);
      value[0] = prefix.value(i)[0] + pmapping[0];
      value[1] = prefix.value(i)[1] + pmapping[1];
      if (bound.hopeless(value[0], value[1])) continue;
      if (!reserve(plan, prefix, i, pmapping, value.data())) continue;
      if (target == nullptr) target = &group_of(node, plan.spine);
      target->group.values.insert(target->group.values.end(), value.begin(), value.end());
      target->group.history.push_back(static_cast<std::uint32_t>(target->steps.size()));
      target->steps.push_back({prefix.history[i], {next_index, static_cast<std::uint32_t>(j)}});
    }
    if (target != nullptr && target->group.size() > 2 * target->pruned_size + 512) prune(target);
  }
}

/// Peaks of finished branches outside all open loops fit, and nothing is added to them any more,
/// unless a later Einsum holds something for the whole run.
std::vector<char> PrefixBuilder::ignored_numbers(const PrefixGroup& group) const {
  std::vector<char> ignored(group.stride, 0);
  for (std::size_t m = 0; m < tracked_.size(); ++m)
    ignored[2 + m * (2 * group.depth() + 1)] = persistent_later_[m] == 0;
  return ignored;
}

void PrefixBuilder::prune(Group* group) const {
  PrefixGroup& g = group->group;
  FrontOptions front = front_;
  if (front.drop_settled) front.ignored = ignored_numbers(g);
  PointSet points{g.stride, std::move(g.values)};
  PrefixGroup kept;
  std::vector<JoinStep> steps;
  kept.node = g.node;
  kept.spine = std::move(g.spine);
  kept.stride = g.stride;
  for (std::uint32_t i : worth_keeping(points, front)) {
    kept.values.insert(kept.values.end(), points.point(i), points.point(i) + g.stride);
    kept.history.push_back(static_cast<std::uint32_t>(steps.size()));
    steps.push_back(group->steps[g.history[i]]);
  }
  g = std::move(kept);
  group->steps = std::move(steps);
  group->pruned_size = g.size();
}

std::vector<PrefixGroup> PrefixBuilder::take(std::vector<JoinStep>* history) {
  std::vector<PrefixGroup> result;
  for (Group& group : groups_) {
    prune(&group);
    for (std::uint32_t& at : group.group.history) at += static_cast<std::uint32_t>(history->size());
    history->insert(history->end(), group.steps.begin(), group.steps.end());
    result.push_back(std::move(group.group));
  }
  return result;
}

}  // namespace sluice::fused
