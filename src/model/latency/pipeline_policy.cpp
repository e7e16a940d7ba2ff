#include <algorithm>
#include <optional>

#include "model/latency/counted_nests.h"
#include "model/latency/tile_pipeline.h"
#include "model/latency/transfer_times.h"
#include "model/price/nest_pricer.h"
#include "sluice/model/latency_policy.h"

namespace sluice {
namespace {

/// Steps that are walked one by one. In longer pipelines loops go on as they do once their steps
/// take equally long.
constexpr double kMostSteps = 1 << 14;
/// Where that takes too many, they go on as they did last.
constexpr std::int64_t kMostUneven = 1 << 22;

/// A storage node in the tile buffer: refilled (and written back) whenever a loop above it steps.
struct TileNode {
  std::size_t loops_above = 0;  ///< of the nest's step loops
  bool is_output = false;
  std::vector<char> repeats;  ///< per loop above: its later steps see the tile again
  double fill_s = 0, drain_s = 0;
};

/// One Einsum's part in a pipeline. The tile buffer is its outermost memory inside the backing
/// ones; a step is one iteration of the temporal loops above the innermost node there.
struct Stage {
  const Nest* nest = nullptr;
  std::vector<const NestLoop*> loops;  ///< outermost first
  std::vector<TileNode> nodes;
  double compute_s = 0;        ///< one step: the slowest component at and below the tile buffer
  std::vector<double> busy_s;  ///< per component, all steps of all repetitions
  TileBuffers buffers{0, true, false};
};

class StageBuilder {
 public:
  StageBuilder(const BoundProblem& problem, const FlatTree& tree, const Nest& nest,
               const NestTraffic& traffic)
      : problem_(problem),
        tree_(tree),
        nest_(nest),
        einsum_(problem[nest.einsum]),
        inner_(traffic),
        times_(problem, tree, nest) {}

  Stage build() {
    Stage stage;
    stage.nest = &nest_;
    NestPricer whole(problem_, tree_, nullptr);
    whole.add(nest_, inner_);
    stage.busy_s = whole.busy_s();
    find_tile_buffer();
    collect_loops(stage);
    for (std::uint32_t s = 0; tile_buffer_ && s < n_storages(); ++s)
      if (storage(s).component == *tile_buffer_ && !is_backing(s)) add_node(s, stage);
    describe_buffers(stage);
    double n_steps = 1;
    for (const NestLoop* loop : stage.loops) n_steps *= static_cast<double>(loop->trips);
    NestPricer pricer(problem_, tree_, nullptr);
    pricer.add(nest_, inner_);
    stage.compute_s = pricer.latency_s() / instances() / n_steps + compute_setup_s(problem_, nest_);
    return stage;
  }

  /// Repetitions of the Einsum, each a pipeline of its own.
  double instances() const { return repetitions(problem_, nest_); }

 private:
  std::uint32_t n_storages() const { return nest_.storages_end - nest_.storages_begin; }
  const NestStorage& storage(std::uint32_t s) const {
    return tree_.storages[nest_.storages_begin + s];
  }
  bool is_backing(std::uint32_t s) const { return tree_.entries[storage(s).entry].backing; }
  const Component& component_of(std::uint32_t s) const {
    return problem_.arch[storage(s).component];
  }

  void find_tile_buffer() {
    for (std::uint32_t s = 0; s < n_storages(); ++s) {
      if (is_backing(s) || !component_of(s).is_memory()) continue;
      const int depth = nest_.compute->depth[storage(s).component.index()];
      if (tile_buffer_ && nest_.compute->depth[tile_buffer_->index()] <= depth) continue;
      tile_buffer_ = storage(s).component;
    }
  }

  void collect_loops(Stage& stage) {
    int deepest = 0;
    for (std::uint32_t s = 0; s < n_storages(); ++s)
      if (tile_buffer_ && storage(s).component == *tile_buffer_ && !is_backing(s))
        deepest = std::max(deepest, storage(s).loops_above);
    steps_before_.assign(1, 0);
    for (int l = 0; l < deepest; ++l) {
      const NestLoop& loop = tree_.loops[nest_.loops_begin + static_cast<std::uint32_t>(l)];
      if (!loop.spatial && loop.trips > 1) stage.loops.push_back(&loop);
      steps_before_.push_back(stage.loops.size());
    }
  }

  /// Turns what passes between a node and its parent into times of single transfers, and takes it
  /// off the inner traffic.
  void add_node(std::uint32_t s, Stage& stage) {
    const std::uint32_t parent = *times_.parent_of(s);
    StorageTraffic& mine = inner_.storages[s];
    StorageTraffic& outer = inner_.storages[parent];
    TileNode node;
    node.loops_above = steps_before_[static_cast<std::size_t>(storage(s).loops_above)];
    node.is_output = mine.unit_drained > 0;
    double visits = 1, first_visits = 1;
    const auto& relevance = einsum_.relevance[static_cast<std::size_t>(storage(s).tensor)];
    for (std::size_t l = 0; l < node.loops_above; ++l) {
      const NestLoop& loop = *stage.loops[l];
      const bool repeats =
          relevance[static_cast<std::size_t>(loop.variable)] != Relevance::kRelevant;
      node.repeats.push_back(repeats ? 1 : 0);
      visits *= static_cast<double>(loop.trips);
      if (!repeats) first_visits *= static_cast<double>(loop.trips);
    }
    const double fills = node.is_output ? visits - first_visits : visits;
    node.fill_s = fill_s(parent, s, fills);
    node.drain_s = node.is_output ? drain_s(parent, s, visits) : 0;
    outer.unit_reads -= mine.parent_sent;
    outer.unit_writes -= mine.parent_received;
    mine.unit_writes -= mine.unit_filled;
    mine.unit_reads -= mine.unit_drained;
    shared_port_ |= times_.has_shared_port(parent);
    stage.nodes.push_back(std::move(node));
  }

  /// One of `transfers` equal ones: at the rate of the slower end, and what both need to start.
  double fill_s(std::uint32_t parent, std::uint32_t child, double transfers) const {
    const StorageTraffic& mine = inner_.storages[child];
    if (transfers <= 0 || mine.unit_filled == 0) return 0;
    const double seconds = std::max(times_.action_s(parent, true, mine.parent_sent),
                                    times_.action_s(child, false, mine.unit_filled));
    return seconds / transfers + times_.setup_s(parent, true) + times_.setup_s(child, false);
  }

  double drain_s(std::uint32_t parent, std::uint32_t child, double transfers) const {
    const StorageTraffic& mine = inner_.storages[child];
    const double seconds = std::max(times_.action_s(parent, false, mine.parent_received),
                                    times_.action_s(child, true, mine.unit_drained));
    return seconds / transfers + times_.setup_s(parent, false) + times_.setup_s(child, true);
  }

  void describe_buffers(Stage& stage) const {
    stage.buffers.shared_port = shared_port_;
    if (!tile_buffer_) return;
    const Memory& memory = std::get<Memory>(problem_.arch[*tile_buffer_].kind);
    stage.buffers.double_output = memory.buffering == Buffering::kDouble;
    for (const TileNode& node : stage.nodes)
      if (!node.is_output) stage.buffers.slots += stage.buffers.double_output ? 2 : 1;
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  const Nest& nest_;
  const BoundEinsum& einsum_;
  NestTraffic inner_;  ///< traffic of the busiest instance without the transfers of tiles
  TransferTimes times_;
  std::optional<ComponentId> tile_buffer_;
  std::vector<std::size_t> steps_before_;  ///< per loop of the nest: step loops before it
  bool shared_port_ = false;
};

/// Walks the steps of Einsums that share loops, in the order of the program.
class Walk {
 public:
  Walk(const std::vector<Stage>& stages, TilePipeline& pipeline)
      : stages_(stages), pipeline_(pipeline), at_(stages.size()) {
    for (std::size_t s = 0; s < stages.size(); ++s) at_[s].resize(stages[s].loops.size(), 0);
    repeats_ = n_steps() > kMostSteps;
  }

  void run() { walk(0, stages_.size(), 0); }

 private:
  double n_steps() const {
    double total = 0;
    for (const Stage& stage : stages_) {
      double steps = 1;
      for (const NestLoop* loop : stage.loops) steps *= static_cast<double>(loop->trips);
      total += steps;
    }
    return total;
  }

  const Node* next_loop(std::size_t stage, std::size_t depth) const {
    const auto& loops = stages_[stage].loops;
    return depth < loops.size() ? loops[depth]->node : nullptr;
  }

  /// Stages [begin, end) are below the same `depth` loops.
  void walk(std::size_t begin, std::size_t end, std::size_t depth) {
    for (std::size_t first = begin; first < end;) {
      const Node* node = next_loop(first, depth);
      std::size_t last = first + 1;
      while (node && last < end && next_loop(last, depth) == node) ++last;
      if (!node)
        step(first);
      else
        walk_loop(first, last, depth);
      first = last;
    }
  }

  /// Stages [begin, end) are below the same loop. Its first step may differ from the others, as
  /// nothing was there before, and so may its last one.
  void walk_loop(std::size_t begin, std::size_t end, std::size_t depth) {
    const std::int64_t n = stages_[begin].loops[depth]->trips;
    std::optional<TilePipeline> before;
    for (std::int64_t i = 0; i < n; ++i) {
      const bool may_repeat = repeats_ && i > 1 && i < n - 2;
      if (repeats_) pipeline_.count_from_now();
      if (may_repeat) before = pipeline_;
      for (std::size_t s = begin; s < end; ++s) at_[s][depth] = i;
      walk(begin, end, depth + 1);
      if (!may_repeat || !goes_on_since(*before)) continue;
      pipeline_.repeat_since(*before, static_cast<double>(n - 2 - i));
      i = n - 2;
    }
  }

  bool goes_on_since(const TilePipeline& before) const {
    return n_walked_ > kMostUneven || pipeline_.stands_as(before);
  }

  void step(std::size_t s) {
    const Stage& stage = stages_[s];
    step_.fills_s.clear();
    step_.drain_s = 0;
    step_.compute_s = stage.compute_s;
    for (const TileNode& node : stage.nodes) {
      bool starts = true, ends = true, seen = false;
      for (std::size_t l = node.loops_above; l < stage.loops.size(); ++l) {
        starts &= at_[s][l] == 0;
        ends &= at_[s][l] + 1 == stage.loops[l]->trips;
      }
      for (std::size_t l = 0; l < node.loops_above; ++l) seen |= node.repeats[l] && at_[s][l] > 0;
      if (starts && node.fill_s > 0 && (!node.is_output || seen))
        step_.fills_s.push_back(node.fill_s);
      if (ends) step_.drain_s += node.drain_s;
    }
    pipeline_.add(step_);
    ++n_walked_;
  }

  const std::vector<Stage>& stages_;
  TilePipeline& pipeline_;
  std::vector<std::vector<std::int64_t>> at_;  ///< per stage and loop: the current step
  bool repeats_ = false;
  std::int64_t n_walked_ = 0;
  TileStep step_;
};

/// What passes the tile buffer by takes its turn at the same ports: no pipeline ends before the
/// component that is busy longest.
double busy_seconds(const std::vector<Stage>& stages) {
  std::vector<double> busy_s(stages.front().busy_s.size(), 0);
  for (const Stage& stage : stages)
    for (std::size_t c = 0; c < busy_s.size(); ++c) busy_s[c] += stage.busy_s[c];
  return *std::max_element(busy_s.begin(), busy_s.end());
}

PipelineTimes time_of(const std::vector<Stage>& stages, double instances) {
  TileBuffers buffers{0, true, false};
  for (const Stage& stage : stages) {
    buffers.slots += stage.buffers.slots;
    if (stage.nodes.empty()) continue;
    buffers.double_output &= stage.buffers.double_output;
    buffers.shared_port |= stage.buffers.shared_port;
  }
  buffers.slots = std::max(buffers.slots, 1);
  TilePipeline pipeline(buffers);
  Walk walk(stages, pipeline);
  walk.run();
  PipelineTimes time = pipeline.times();
  time.fill_s *= instances;
  time.drain_s *= instances;
  time.compute_s *= instances;
  time.stall_s *= instances;
  const double total_s = time.fill_s + time.compute_s + time.stall_s + time.drain_s;
  time.stall_s += std::max(0.0, busy_seconds(stages) - total_s);
  return time;
}

void add(const PipelineTimes& from, PipelineTimes& to) {
  to.fill_s += from.fill_s;
  to.compute_s += from.compute_s;
  to.stall_s += from.stall_s;
  to.drain_s += from.drain_s;
}

/// Einsums that share temporal loops advance in one pipeline, the others follow each other.
class PipelinePolicy final : public LatencyMethod {
 public:
  std::string name() const override { return "pipeline"; }
  bool prices_collectives() const override { return false; }
  bool prices_concurrent_splits() const override { return false; }
  LatencyBreakdown latency(const CountedMapping& counted) const override {
    const BoundProblem& problem = counted.problem();
    const FlatTree& tree = counted.nests().tree;
    PipelineTimes total;
    std::vector<Stage> group;
    double group_instances = 1;
    const auto finish = [&] {
      if (!group.empty()) add(time_of(group, group_instances), total);
      group.clear();
    };
    for (std::size_t n = 0; n < tree.nests.size(); ++n) {
      StageBuilder builder(problem, tree, tree.nests[n], counted.nests().traffic[n]);
      Stage stage = builder.build();
      const bool joins = !group.empty() && !group.back().loops.empty() && !stage.loops.empty() &&
                         group.back().loops.front()->node == stage.loops.front()->node &&
                         group_instances == builder.instances();
      if (!joins) finish();
      group_instances = builder.instances();
      group.push_back(std::move(stage));
    }
    finish();
    return {{"fill", total.fill_s},
            {"compute", total.compute_s},
            {"stall", total.stall_s},
            {"drain", total.drain_s}};
  }
};

constinit const PipelinePolicy pipeline;

}  // namespace

constinit const LatencyPolicy LatencyPolicy::kPipeline(pipeline);

}  // namespace sluice
