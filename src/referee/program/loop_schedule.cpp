#include "loop_schedule.h"

#include <algorithm>
#include <optional>

namespace sluice::referee {
namespace {

/// Cuts a range into tiles; the last one may be smaller, the first one larger where stated.
std::vector<Range> tiles_of(const Range& range, std::int64_t tile, std::int64_t first) {
  std::vector<Range> tiles;
  for (std::int64_t begin = range.begin; begin < range.end();) {
    const std::int64_t size = std::min(tiles.empty() ? first : tile, range.end() - begin);
    tiles.push_back({begin, size});
    begin += size;
  }
  return tiles;
}

/// A consumer that reads a window of what a maker makes along the loop, or value by value what it
/// needs for those who read windows of its own output.
struct Window {
  EinsumId consumer;
  const AffineExpression* index;  ///< `s*q + r`, in the consumer's variables
};

using Windows = std::map<EinsumId, std::vector<Window>>;

/// Whether another Einsum makes the rest of the same tensor: such tiles follow no reader.
bool makes_a_part(const Workload& workload, EinsumId maker) {
  const TensorId tensor = workload[maker].output().tensor;
  return std::count_if(workload.einsums.begin(), workload.einsums.end(),
                       [&](const Einsum& einsum) { return einsum.output().tensor == tensor; }) > 1;
}

/// `known`: of the Einsums after the maker.
std::vector<Window> windows_on(const Workload& workload, const LoopItem& loop, EinsumId maker,
                               RankVariableId made, const Lane& lane, const Windows& known) {
  std::vector<Window> windows;
  const TensorAccess& output = workload[maker].output();
  if (makes_a_part(workload, maker)) return windows;
  for (const auto& [consumer, box] : lane.boxes) {
    const auto variable = walked(loop, workload[consumer]);
    if (consumer == maker || !variable) continue;
    const auto own = known.find(consumer);
    const bool follows = own != known.end() && !own->second.empty();
    for (const TensorAccess& access : workload[consumer].accesses)
      for (std::size_t r = 0; r < access.projection.size(); ++r)
        if (access.tensor == output.tensor && !access.is_output &&
            output.projection[r].is_plain_variable() &&
            output.projection[r].terms[0].variable == made &&
            access.projection[r].coefficient_of(*variable) != 0 &&
            (follows || access.projection[r].is_window()))
          windows.push_back({consumer, &access.projection[r]});
  }
  return windows;
}

/// One past the largest index that an expression takes in a box.
std::int64_t end_of(const AffineExpression& index, const Einsum& einsum, const Box& box) {
  std::int64_t largest = index.constant;
  for (const AffineTerm& term : index.terms) {
    const Range& range = box[place_of(einsum, term.variable)];
    largest += std::max(term.coefficient * range.begin, term.coefficient * (range.end() - 1));
  }
  return largest + 1;
}

class Scheduler {
 public:
  Scheduler(const Workload& workload, const LoopItem& loop, const Lane& lane)
      : workload_(workload), loop_(loop), lane_(lane) {}

  std::map<EinsumId, Walk> make() {
    bool has_windows = false;
    for (auto at = lane_.boxes.rbegin(); at != lane_.boxes.rend(); ++at) {  // consumers first
      const auto variable = walked(loop_, workload_[at->first]);
      if (!variable) continue;
      windows_[at->first] = windows_on(workload_, loop_, at->first, *variable, lane_, windows_);
      has_windows = has_windows || !windows_[at->first].empty();
    }
    // With windows a stated first tile is the maker's, which follows from the consumer's anyway.
    first_ =
        loop_.initial_tile_shape && !has_windows ? *loop_.initial_tile_shape : loop_.tile_shape;
    for (auto at = lane_.boxes.rbegin(); at != lane_.boxes.rend(); ++at)
      if (const auto variable = walked(loop_, workload_[at->first]))
        schedule_[at->first] =
            walk(at->first, place_of(workload_[at->first], *variable), at->second);
    return std::move(schedule_);
  }

 private:
  Walk walk(EinsumId einsum, std::size_t variable, const Box& box) {
    if (windows_[einsum].empty())
      return {variable, tiles_of(box[variable], loop_.tile_shape, first_), false};
    Walk walk{variable, {}, true};
    std::int64_t made = box[variable].begin;
    for (std::size_t step = 0; step < steps_of_consumers(einsum); ++step) {
      const std::int64_t needed =
          std::max(made, std::min(rows_needed(einsum, step), box[variable].end()));
      walk.steps.push_back({made, needed - made});
      made = needed;
    }
    return walk;
  }

  std::size_t steps_of_consumers(EinsumId maker) {
    std::size_t steps = 0;
    for (const Window& window : windows_[maker])
      steps = std::max(steps, schedule_[window.consumer].steps.size());
    return steps;
  }

  std::int64_t rows_needed(EinsumId maker, std::size_t step) {
    std::int64_t end = 0;
    for (const Window& window : windows_[maker]) {
      const Walk& walk = schedule_[window.consumer];
      if (step >= walk.steps.size() || walk.steps[step].size == 0) continue;
      Box box = lane_.boxes.at(window.consumer);
      box[walk.variable] = walk.steps[step];
      end = std::max(end, end_of(*window.index, workload_[window.consumer], box));
    }
    return end;
  }

  const Workload& workload_;
  const LoopItem& loop_;
  const Lane& lane_;
  std::int64_t first_ = 1;
  Windows windows_;
  std::map<EinsumId, Walk> schedule_;
};

}  // namespace

std::map<EinsumId, Walk> loop_schedule(const Workload& workload, const LoopItem& loop,
                                       const Lane& lane) {
  if (lane.boxes.size() == 1) {  // nobody else to follow
    std::map<EinsumId, Walk> schedule;
    const auto& [einsum, box] = *lane.boxes.begin();
    if (const auto variable = walked(loop, workload[einsum])) {
      const std::size_t place = place_of(workload[einsum], *variable);
      const std::int64_t first = loop.initial_tile_shape.value_or(loop.tile_shape);
      schedule[einsum] = {place, tiles_of(box[place], loop.tile_shape, first), false};
    }
    return schedule;
  }
  return Scheduler(workload, loop, lane).make();
}

std::size_t step_count(const std::map<EinsumId, Walk>& schedule) {
  std::size_t steps = schedule.empty() ? 1 : 0;
  for (const auto& [einsum, walk] : schedule) steps = std::max(steps, walk.steps.size());
  return steps;
}

std::map<EinsumId, Box> boxes_in_step(const Lane& lane, const std::map<EinsumId, Walk>& schedule,
                                      std::size_t step) {
  std::map<EinsumId, Box> boxes;
  for (const auto& [einsum, box] : lane.boxes) {
    const auto walk = schedule.find(einsum);
    if (walk == schedule.end()) {  // repeats its work in every step
      boxes[einsum] = box;
      continue;
    }
    if (step >= walk->second.steps.size() || walk->second.steps[step].size == 0) continue;
    Box& inside = boxes[einsum] = box;
    inside[walk->second.variable] = walk->second.steps[step];
  }
  return boxes;
}

}  // namespace sluice::referee
