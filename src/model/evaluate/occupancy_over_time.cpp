#include "sluice/model/occupancy_over_time.h"

#include <algorithm>
#include <utility>

#include "model/evaluate/take_apart.h"
#include "model/occupancy/occupancy.h"

namespace sluice {
namespace {

/// The fullest moment of one memory in one step.
struct FullestMoment {
  double bits = -1;
  std::vector<HeldPart> parts;
};

/// Joins what is held in step after step to intervals.
class IntervalJoiner {
 public:
  IntervalJoiner(std::vector<HeldInterval> whole_run, std::size_t n_components)
      : open_(n_components), held_(std::move(whole_run)) {}

  /// Steps come in order.
  void add(std::size_t step, std::size_t memory, const std::vector<HeldPart>& parts) {
    std::vector<Open> still_open;
    for (const HeldPart& part : parts) {
      const auto before =
          std::find_if(open_[memory].begin(), open_[memory].end(), [&](const Open& open) {
            return open.reservation == part.reservation && held_[open.interval].bits == part.bits &&
                   held_[open.interval].until + 1 == step;
          });
      if (before != open_[memory].end()) {
        held_[before->interval].until = step;
        still_open.push_back(*before);
        continue;
      }
      still_open.push_back({part.reservation, held_.size()});
      held_.push_back({ComponentId(memory), part.tensor, step, step, part.bits});
    }
    open_[memory] = std::move(still_open);
  }

  std::vector<HeldInterval> take() {
    std::stable_sort(held_.begin(), held_.end(), [](const HeldInterval& a, const HeldInterval& b) {
      return std::pair(a.memory, a.from) < std::pair(b.memory, b.from);
    });
    return std::move(held_);
  }

 private:
  struct Open {
    std::uint32_t reservation = 0;
    std::size_t interval = 0;
  };
  std::vector<std::vector<Open>> open_;  ///< per component
  std::vector<HeldInterval> held_;
};

/// Hears of steps and puts the collectives behind the Einsums that they follow.
class Recorder {
 public:
  Recorder(const BoundProblem& problem, const FlatTree& tree) : tree_(tree) {
    for (std::size_t n = 0; n < tree.nests.size(); ++n) {
      places_.push_back(steps_.size());
      steps_.push_back({tree.nests[n].einsum, std::nullopt});
      for (const FlatCollective& flat : tree.collectives)
        if (flat.moves && flat.place == static_cast<int>(n) + 1)
          steps_.push_back({tree.nests[n].einsum, flat.collective->tensor});
    }
    fullest_.assign(steps_.size(), std::vector<FullestMoment>(problem.arch.components.size()));
  }

  void hear(const HeldStep& step) {
    if (step.is_whole_run) {
      for (const HeldPart& part : step.parts)
        whole_run_.push_back({step.memory, part.tensor, 0, steps_.size() - 1, part.bits});
      return;
    }
    for (std::size_t s : steps_of(step)) {
      FullestMoment& moment = fullest_[s][step.memory.index()];
      if (step.bits <= moment.bits) continue;
      moment = {step.bits, {step.parts.begin(), step.parts.end()}};
    }
  }

  OccupancyOverTime take() {
    IntervalJoiner joiner(std::move(whole_run_), fullest_.empty() ? 0 : fullest_.front().size());
    for (std::size_t s = 0; s < fullest_.size(); ++s)
      for (std::size_t c = 0; c < fullest_[s].size(); ++c) joiner.add(s, c, fullest_[s][c].parts);
    return {std::move(steps_), joiner.take()};
  }

 private:
  std::vector<std::size_t> steps_of(const HeldStep& step) const {
    std::vector<std::size_t> steps;
    if (!step.collective) {
      for (int n = step.begin; n < step.end; ++n)
        steps.push_back(places_[static_cast<std::size_t>(n)]);
      return steps;
    }
    std::size_t place = places_[static_cast<std::size_t>(step.begin)];
    for (const FlatCollective& flat : tree_.collectives) {
      if (flat.moves && flat.place == step.end) ++place;
      if (&flat == step.collective) return {place};
    }
    return steps;
  }

  const FlatTree& tree_;
  std::vector<HeldInterval> whole_run_;
  std::vector<ScheduleStep> steps_;
  std::vector<std::size_t> places_;                  ///< per nest: its step
  std::vector<std::vector<FullestMoment>> fullest_;  ///< per step and component
};

}  // namespace

OccupancyOverTime occupancy_over_time(const BoundProblem& problem, const Mapping& mapping) {
  ViolationReport report(problem, mapping);
  FlatTree tree = take_apart(problem, mapping, report);
  Recorder recorder(problem, tree);
  check_capacities(problem, tree, report, [&](const HeldStep& step) { recorder.hear(step); });
  return recorder.take();
}

}  // namespace sluice
