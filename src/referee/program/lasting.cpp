#include "lasting.h"

#include <algorithm>

#include "loop_schedule.h"

namespace sluice::referee {
namespace {

/// Steps every loop above the storages that may hand values on, instance by instance, and compares
/// what they hold in one step with what they held in the step before. Above a single compute
/// nothing is there beside a sliding one that is not there all the time.
class HandingOn {
 public:
  HandingOn(const Workload& workload, const Program& program)
      : workload_(workload), program_(program), roles_(tensor_roles(workload)) {}

  std::map<std::size_t, std::size_t> find() {
    mark(program_.root, false);
    if (ways_.empty()) return {};
    Lane lane;
    for (EinsumId einsum : program_.root.einsums) lane.boxes[einsum] = whole_box(workload_[einsum]);
    walk(program_.root, 0, lane);
    std::map<std::size_t, std::size_t> found;
    for (const auto& [storage, depth] : outermost_)
      found[storage->id] = loops_of_.at(storage)[depth];
    return found;
  }

 private:
  /// A tile with the steps of the temporal loops above in which it was held.
  struct Tile {
    std::vector<IndexBox> boxes;
    std::vector<std::size_t> steps;
    std::size_t run = 0;
  };

  bool is_candidate(const StorageItem& storage) const {
    const bool is_brought = storage.exchange != StorageItem::Exchange::kNone &&
                            storage.exchange != StorageItem::Exchange::kGives;
    return storage.is_backing && !storage.persistent && !workload_[storage.tensor].persistent &&
           !is_brought && roles_.is_made(storage.tensor);
  }

  static bool slides(const StorageItem& storage) {
    return storage.slides_over && !storage.is_backing && !storage.is_toll && !storage.incremental &&
           !storage.persistent;
  }

  /// Notes up to where each list must be walked. Whether there is anything in it.
  bool mark(const Body& body, bool is_below_loop) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < body.items.size(); ++i) {
      const auto* loop = std::get_if<LoopItem>(&body.items[i]);
      const bool is_step = body.steps_begin && i >= *body.steps_begin;
      is_below_loop = is_below_loop || (loop && !loop->is_spatial && !is_step);
      const auto* storage = std::get_if<StorageItem>(&body.items[i]);
      const bool may_slide =
          storage && slides(*storage) && std::holds_alternative<SplitItem>(body.items.back());
      if (storage && is_below_loop && !is_step && (may_slide || is_candidate(*storage)))
        end = i + 1;
      const auto* split = std::get_if<SplitItem>(&body.items[i]);
      if (!split) continue;
      const bool is_new = split->kind != SplitKind::kSequential;
      for (const Body& child : split->children)
        if (mark(child, is_below_loop && !is_new)) end = i + 1;
    }
    if (end > 0) ways_[&body] = end;
    return end > 0;
  }

  void walk(const Body& body, std::size_t index, const Lane& lane) {
    const auto way = ways_.find(&body);
    if (way == ways_.end() || index >= way->second || lane.boxes.empty()) return;
    const Item& item = body.items[index];
    if (const auto* loop = std::get_if<LoopItem>(&item)) {
      walk_loop(*loop, body, index, lane);
    } else if (const auto* split = std::get_if<SplitItem>(&item)) {
      walk_split(*split, lane);
    } else {
      const auto* storage = std::get_if<StorageItem>(&item);
      const bool is_step = body.steps_begin && index >= *body.steps_begin;
      if (storage && !is_step && !loops_.empty()) hold(*storage, lane);
      walk(body, index + 1, lane);
    }
  }

  void walk_loop(const LoopItem& loop, const Body& body, std::size_t index, const Lane& lane) {
    const auto schedule = loop_schedule(workload_, loop, lane);
    if (!loop.is_spatial) {
      loops_.push_back(loop.id);
      steps_.push_back(0);
    }
    Lane inside = lane;
    for (std::size_t step = 0; step < step_count(schedule); ++step) {
      inside.boxes = boxes_in_step(lane, schedule, step);
      if (loop.is_spatial)
        inside.turns.push_back(static_cast<std::int64_t>(step));
      else
        steps_.back() = step;
      walk(body, index + 1, inside);
      inside.turns = lane.turns;
    }
    if (!loop.is_spatial) {
      loops_.pop_back();
      steps_.pop_back();
    }
  }

  void walk_split(const SplitItem& split, const Lane& lane) {
    const auto loops = loops_;
    const auto steps = steps_;
    if (split.kind != SplitKind::kSequential) {  // the loops around do not count
      loops_.clear();
      steps_.clear();
      ++run_;
    }
    for (const Body& child : split.children) {
      Lane inside = lane;
      std::erase_if(inside.boxes,
                    [&](const auto& box) { return child.einsums.count(box.first) == 0; });
      walk(child, 0, inside);
    }
    loops_ = loops;
    steps_ = steps;
  }

  void hold(const StorageItem& storage, const Lane& lane) {
    if (is_candidate(storage)) hold_tile(storage, lane, std::nullopt, values_in(storage, lane));
    if (!slides(storage)) return;
    for (const auto& [einsum, box] : lane.boxes)  // it has a tile for each
      if (storage.served.count(einsum) > 0 && !workload_[einsum].is_copy_operation)
        hold_tile(storage, lane, einsum,
                  PointMap::touched_ranges(workload_[einsum], storage.tensor, false, box));
  }

  /// In this step an instance of a storage holds a tile. The outermost loop that has gone on since
  /// it held the last one hands on what the two have in common; a sliding storage keeps nothing
  /// but over its own loop.
  void hold_tile(const StorageItem& storage, const Lane& lane, std::optional<EinsumId> einsum,
                 std::vector<IndexBox> boxes) {
    if (boxes.empty()) return;
    Tile tile{std::move(boxes), steps_, run_};
    Tile& last = last_[{&storage, einsum, lane.turns}];
    const auto [moved, _] =
        std::mismatch(steps_.begin(), steps_.end(), last.steps.begin(), last.steps.end());
    const auto depth = static_cast<std::size_t>(moved - steps_.begin());
    if (!last.steps.empty() && last.run == run_ && depth < steps_.size() &&
        (!einsum || loops_[depth] == *storage.slides_over) && meet(last, tile)) {
      loops_of_.try_emplace(&storage, loops_);
      std::size_t& outermost = outermost_.try_emplace(&storage, depth).first->second;
      outermost = std::min(outermost, depth);
    }
    last = std::move(tile);
  }

  /// What a storage holds inside the ranks of its tensor.
  std::vector<IndexBox> values_in(const StorageItem& storage, const Lane& lane) const {
    std::vector<IndexBox> values;
    for (const auto& [einsum, box] : lane.boxes) {
      if (storage.served.count(einsum) == 0) continue;
      for (const bool outputs : {false, true})
        for (IndexBox& touched :
             PointMap::touched_ranges(workload_[einsum], storage.tensor, outputs, box))
          if (cut_to_ranks(storage.tensor, touched)) values.push_back(std::move(touched));
    }
    return values;
  }

  /// Whether anything is left.
  bool cut_to_ranks(TensorId tensor, IndexBox& box) const {
    for (std::size_t r = 0; r < box.size(); ++r)
      box[r] = overlap(box[r], {0, workload_[workload_[tensor].ranks[r]].size});
    return std::all_of(box.begin(), box.end(), [](const Range& range) { return range.size > 0; });
  }

  static Range overlap(const Range& a, const Range& b) {
    const std::int64_t begin = std::max(a.begin, b.begin);
    return {begin, std::max<std::int64_t>(0, std::min(a.end(), b.end()) - begin)};
  }

  static bool meet(const IndexBox& a, const IndexBox& b) {
    for (std::size_t r = 0; r < a.size(); ++r)
      if (overlap(a[r], b[r]).size == 0) return false;
    return true;
  }

  static bool meet(const Tile& a, const Tile& b) {
    return std::any_of(a.boxes.begin(), a.boxes.end(), [&](const IndexBox& one) {
      return std::any_of(b.boxes.begin(), b.boxes.end(),
                         [&](const IndexBox& other) { return meet(one, other); });
    });
  }

  const Workload& workload_;
  const Program& program_;
  TensorRoles roles_;
  std::map<const Body*, std::size_t> ways_;  ///< one past the last item of interest
  std::vector<std::size_t> loops_;           ///< ids of the temporal loops above
  std::vector<std::size_t> steps_;           ///< and their steps
  std::size_t run_ = 0;                      ///< of the pipelined or parallel splits around
  /// Per Einsum that a sliding storage serves, and per instance.
  std::map<std::tuple<const StorageItem*, std::optional<EinsumId>, std::vector<std::int64_t>>, Tile>
      last_;
  std::map<const StorageItem*, std::vector<std::size_t>> loops_of_;  ///< temporal loops above
  std::map<const StorageItem*, std::size_t> outermost_;  ///< that hands on: place in `loops_of_`
};

}  // namespace

std::map<std::size_t, std::size_t> lasting_storages(const Workload& workload,
                                                    const Program& program) {
  return HandingOn(workload, program).find();
}

}  // namespace sluice::referee
