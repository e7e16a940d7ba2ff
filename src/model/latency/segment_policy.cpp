#include <algorithm>
#include <vector>

#include "model/latency/counted_nests.h"
#include "model/price/overlap.h"
#include "sluice/model/latency_policy.h"

namespace sluice {
namespace {

/// Seconds by what they are spent on.
struct SegmentTimes {
  double sequential_s = 0;      ///< Einsums with a barrier behind each
  double steady_s = 0;          ///< the slowest child of a pipeline, in all of its steps
  double fill_and_drain_s = 0;  ///< while not all of its children work
  double total() const { return sequential_s + steady_s + fill_and_drain_s; }
  void add(const SegmentTimes& other) {
    sequential_s += other.sequential_s;
    steady_s += other.steady_s;
    fill_and_drain_s += other.fill_and_drain_s;
  }
};

/// KAPLA's times of segments (nn_dataflow): a layer starts when those that it reads have ended
/// their step; with B steps, node = (td_last + crit · (B − 1)) / B, where td_last is the longest
/// way through all layers and crit the slowest one.
class SegmentTree {
 public:
  SegmentTree(const BoundProblem& problem, const FlatTree& tree, const NestPricer& overlapped)
      : problem_(problem), tree_(tree), times_(overlapped.times()) {}

  /// The nests [begin, end), which stand below `depth` splits whose children run at the same time.
  SegmentTimes run(int begin, int end, int depth) const {
    SegmentTimes all;
    for (int n = begin; n < end;) {
      const ConcurrentSplit* split = tree_.concurrent_split_at(n, depth);
      if (split) {
        all.add(segment(*split, depth));
        n = split->end;
      } else {
        all.sequential_s += times_[static_cast<std::size_t>(n++)].latency_s;
      }
    }
    return all;
  }

 private:
  SegmentTimes segment(const ConcurrentSplit& split, int depth) const {
    const std::size_t n_children = split.stages.size();
    std::vector<double> child_s, end_s;  // of the whole run, as if all steps were one
    SegmentTimes one_by_one;
    double critical_s = 0, last_s = 0;
    for (std::size_t c = 0; c < n_children; ++c) {
      const SegmentTimes child = run(split.stages[c], split.stage_end(c), depth + 1);
      one_by_one.add(child);
      double start_s = 0;
      for (std::size_t before = 0; before < c; ++before)
        if (reads(split, c, before)) start_s = std::max(start_s, end_s[before]);
      child_s.push_back(child.total());
      end_s.push_back(start_s + child.total());
      critical_s = std::max(critical_s, child.total());
      last_s = std::max(last_s, end_s.back());
    }
    if (!split.runs_side_by_side()) return one_by_one;
    return {0, critical_s, (last_s - critical_s) / static_cast<double>(split.n_steps)};
  }

  /// Whether an Einsum of one child reads what one of another child makes.
  bool reads(const ConcurrentSplit& split, std::size_t reader, std::size_t maker) const {
    for (int n = split.stages[reader]; n < split.stage_end(reader); ++n)
      for (const TensorAccess& access :
           problem_.workload[tree_.nests[static_cast<std::size_t>(n)].einsum].accesses)
        for (int m = split.stages[maker]; !access.is_output && m < split.stage_end(maker); ++m)
          if (problem_.workload[tree_.nests[static_cast<std::size_t>(m)].einsum].output().tensor ==
              access.tensor)
            return true;
    return false;
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  const std::vector<NestTime>& times_;
};

class Segment final : public LatencyMethod {
 public:
  std::string name() const override { return "segment"; }

  LatencyBreakdown latency(const CountedMapping& counted) const override {
    const CountedNests& nests = counted.nests();
    const double overlap_s = counted.overlap_s();
    if (nests.tree.concurrent.empty()) return {{"sequential", overlap_s}};
    const SegmentTimes times = SegmentTree(counted.problem(), nests.tree, nests.overlapped)
                                   .run(0, static_cast<int>(nests.tree.nests.size()), 0);
    return {{"sequential", times.sequential_s},
            {"steady", times.steady_s},
            {"fill_and_drain", times.fill_and_drain_s},
            {"shared_components", std::max(0.0, overlap_s - times.total())}};
  }
};

}  // namespace

const LatencyMethod& segment_policy() {
  static constinit const Segment policy;
  return policy;
}

}  // namespace sluice
