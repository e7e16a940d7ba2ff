#include "tile_search.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "loop_search.h"
#include "mapper/common/key_hash.h"
#include "mapper/common/network_cost.h"
#include "mapper/common/parallel.h"
#include "mapper/common/pareto.h"
#include "mapper/shape/trip_choices.h"
#include "mapper/space/compatibility.h"
#include "mapper/space/constraint_rules.h"
#include "sluice/support/error.h"
#include "state_lists.h"
#include "support/atomic_extremes.h"
#include "usage_filter.h"

namespace sluice::fused {
namespace {

/// Bounds of tiles at the nodes that constraints are about.
std::vector<ClassLimits::Tile> tile_limits(const TileSearchContext& context, const Template& templ,
                                           const VariableClass& cls) {
  std::vector<ClassLimits::Tile> limits;
  for (const TileRule& rule : tile_rules(*context.constraints, *context.shape)) {
    if (std::find(cls.variables.begin(), cls.variables.end(), rule.variable) == cls.variables.end())
      continue;
    for (const std::vector<bool>& above : above_ruled_nodes(templ, rule)) {
      ClassLimits::Tile& limit =
          limits.emplace_back(ClassLimits::Tile{rule.variable, {}, rule.minimum, rule.maximum});
      for (const ClassLoop& loop : cls.loops) limit.above.push_back(above[loop.places.front()]);
    }
  }
  return limits;
}

/// A variable of one value has no loops; its tile is 1 everywhere.
bool single_values_allowed(const TileSearchContext& context, const Template& templ) {
  for (const TileRule& rule : tile_rules(*context.constraints, *context.shape)) {
    const bool holds = !above_ruled_nodes(templ, rule).empty();
    if (holds && context.shape->sizes[rule.variable] == 1 && rule.minimum > 1) return false;
  }
  return true;
}

std::shared_ptr<StateTable> table_of(const TileSearchContext& context, const Template& templ,
                                     const VariableClass& cls, StateTables* tables) {
  ClassLimits limits{context.options->max_fused_loops,
                     context.options->max_fused_loops_per_rank,
                     std::vector<std::int64_t>(cls.loops.size(), 0),
                     tile_limits(context, templ, cls),
                     context.options->imperfect_factors,
                     context.cancel};
  for (std::size_t l = 0; l < cls.loops.size(); ++l)
    if (cls.loops[l].spatial)
      limits.fanout[l] =
          context.problem->arch[cls.loops[l].component].spatial[cls.loops[l].dimension].fanout;
  return tables->table_of(*context.shape, cls, limits);
}

std::vector<VariableClass> classes_of(const TileSearchContext& context, const Template& templ) {
  const BoundCompute& compute = (*context.problem)[context.shape->einsum].computes[templ.compute];
  const bool merge_equal = !has_routes(*context.problem, compute) &&
                           context.constraints->tiles.empty() &&
                           context.options->imperfect_factors == ImperfectFactors::kNone &&
                           context.shape->row_loops.empty();
  return make_classes(*context.shape, templ, merge_equal);
}

class TemplateSearch {
 public:
  TemplateSearch(const TileSearchContext& context, const Template& templ,
                 const CompiledTemplate& compiled, std::uint32_t index)
      : context_(context),
        bound_(context.bound),
        templ_(templ),
        compiled_(compiled),
        skeleton_(context.space->skeletons[context.space->skeleton_of[index]]),
        index_(index),
        n_classes_(compiled.classes.size()) {
    result_.considered = compiled.considered;
    tighten_bound();
  }

  std::optional<LoopStarts> starts() {
    LoopStarts result;
    if (!is_promising()) return result;
    const SimpleProgram& program = compiled_.program;
    if (is_whole()) return fused::find_starts(loop_request());
    result.bound = bound_.value(program.least_energy, program.least_latency);
    return result;
  }

  TemplateResult run() {
    if (!is_promising()) return std::move(result_);
    if (is_whole()) {
      find_best();
      return std::move(result_);
    }
    std::vector<std::uint32_t> numbers;
    for (const Row& row : rows_)
      numbers.insert(numbers.end(), row.numbers.begin(), row.numbers.end());
    lists_ = std::make_unique<StateLists>(context_, templ_, compiled_, numbers);
    order_rows();
    select_by_usage();
    nodes_.push_back(root());
    lists_taken_.assign(n_classes_, 0);
    emit_all(0, 0, rows_.size(), lists_->no_usage(), 0);
    return std::move(result_);
  }

 private:
  /// A row of the skeleton: numbers of its fused loops, in the order in which classes are combined.
  struct Row {
    std::uint32_t index = 0;
    std::vector<std::uint32_t> numbers;
  };

  /// Whether there is anything to search.
  bool is_promising() {
    const SimpleProgram& program = compiled_.program;
    if (result_.considered == 0) return false;
    if (!program.feasible) {
      result_.miss = {true, program.infeasible_component, program.smallest_excess, 0};
      return false;
    }
    if (bound_.hopeless(program.least_energy, program.least_latency)) return false;
    find_rows();
    return !rows_.empty();
  }

  void find_rows() {
    FusedBound bound(compiled_.program);
    std::vector<std::int64_t> scratch;
    std::vector<EnergyLatency> corners;
    SearchBound of_row = bound_;
    Row row;
    for (std::uint32_t r = 0; r < skeleton_.n_rows; ++r) {
      const LowerHull* others = others_of(r);
      if (others != nullptr) of_row.others = *others;
      if (of_row.others.empty() ||
          !fused_numbers_of(compiled_.fused, skeleton_.row(r), &scratch, &row.numbers) ||
          !bound.promising(row.numbers, of_row))
        continue;
      row.index = r;
      rows_.push_back(row);
      if (others != nullptr) corners.insert(corners.end(), others->begin(), others->end());
    }
    constexpr std::size_t kCorners = 3;  // each is asked of every partial tile shape
    if (!corners.empty()) bound_.others = coarser(lower_hull(std::move(corners)), kCorners);
  }

  /// What all others cost at least where this Einsum exchanges tensors as a row says; null: it is
  /// not told apart.
  const LowerHull* others_of(std::uint32_t row) const {
    if (context_.exchange_bounds == nullptr) return nullptr;
    const std::size_t skeleton = context_.space->skeleton_of[index_];
    return &context_.exchange_bounds
                ->others[(*context_.exchange_bounds->group_of_row)[skeleton][row]];
  }

  /// Rows with common beginnings stand together.
  void order_rows() {
    std::vector<std::uint32_t> ordered(n_classes_);
    for (Row& row : rows_) {
      for (std::size_t d = 0; d < n_classes_; ++d) ordered[d] = row.numbers[order(d)];
      std::swap(row.numbers, ordered);
    }
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return a.numbers != b.numbers ? a.numbers < b.numbers : a.index < b.index;
    });
  }

  // ---- whole mappings ----------------------------------------------------------------------

  /// Whether the best tile shape is all that is asked for: no exchange, nothing to hold for others.
  bool is_whole() const {
    const auto is_held = [](const SimpleProgram::SimpleRow& row) {
      return row.kind == SimpleProgram::RowKind::kSegment ||
             row.kind == SimpleProgram::RowKind::kPersistent;
    };
    const auto& rows = compiled_.program.rows;
    return context_.met_objective != nullptr && prunes() && rows_.size() == 1 &&
           std::none_of(rows.begin(), rows.end(), is_held) &&
           std::none_of(templ_.loops.begin(), templ_.loops.end(),
                        [](const LoopPlace& loop) { return loop.fused; });
  }

  LoopSearchRequest loop_request() {
    LoopSearchRequest request;
    request.classes = &compiled_.classes;
    request.tables = &compiled_.tables;
    request.program = &compiled_.program;
    request.bound = bound_;
    request.tighten = [this](SearchBound* bound) {
      tighten_bound();
      *bound = bound_;
    };
    request.cancel = context_.cancel;
    request.beam = context_.beam;
    if (context_.starts != nullptr) {
      request.starts = &(*context_.starts)[index_];
      return request;
    }
    request.fanouts = fanouts_of((*context_.problem)[context_.shape->einsum]);
    const DemandingFanouts demanding = demanding_fanouts(context_, templ_);
    if (demanding.fanouts.empty()) return request;
    lists_ =
        std::make_unique<StateLists>(context_, templ_, compiled_, std::vector<std::uint32_t>{});
    const std::vector<double>& demanded =
        compiled_.usages->demanded(context_, *context_.templates, *context_.compiled, *lists_);
    request.selected_by = demanding.fanouts;
    request.may_use = [&demanded, wanted = demanding.wanted](const StateLists::Usage& use) {
      return worth(use, wanted) >= demanded;
    };
    return request;
  }

  void find_best() {
    const LoopSearchResult best = search_loops(loop_request());
    result_.evaluated += best.made;
    if (!best.found) return;
    PricedExchange exchange;
    exchange.row = rows_.front().index;
    exchange.count = exchange.levels = 1;
    result_.values = {best.cost.energy, best.cost.latency};
    result_.states = best.states;
    result_.exchanges.push_back(exchange);
    tell_of(objective_value(bound_.objective, best.cost.energy, best.cost.latency));
  }

  // ---- use of fanouts ----------------------------------------------------------------------

  /// The uses of the demanding fanouts that the soft `min_usage` filter leaves.
  void select_by_usage() {
    usages_ = std::make_unique<UsageTable>(context_, *lists_);
    may_become_.assign(n_classes_ + 1, {});
    if (lists_->wanted_usage().empty()) {
      allowed_.insert(lists_->no_usage());
      return;
    }
    const std::vector<double>& demanded =
        compiled_.usages->demanded(context_, *context_.templates, *context_.compiled, *lists_);
    for (std::uint32_t usage : usages_->possible())
      if (worth(lists_->usage(usage), lists_->wanted_usage()) >= demanded) allowed_.insert(usage);
  }

  bool may_become_allowed(std::uint32_t used, std::size_t depth) {
    const auto [at, inserted] = may_become_[depth].try_emplace(used, false);
    if (inserted)
      at->second = std::any_of(allowed_.begin(), allowed_.end(), [&](std::uint32_t target) {
        return usages_->reachable(used, target, depth);
      });
    return at->second;
  }

  // ---- partial assignments -----------------------------------------------------------------
  /// Assignments of the classes up to some depth that are worth completing: closed sums of the rows
  /// and values of the products still open (of all classes: the pmapping's numbers), and positions
  /// in the lists, `depth` numbers each.
  struct Node {
    PointSet points;
    std::vector<std::uint32_t> at;
  };

  bool cancelled() const { return is_cancelled(context_.cancel); }

  std::size_t order(std::size_t depth) const { return lists_->order()[depth]; }

  Node root() const {
    Node node{{lists_->sums().stage(0).width, lists_->sums().stage(0).initial}, {}};
    if (n_classes_ > 0) return node;
    Node front;  // nothing is left to choose
    front.points.dimension = lists_->sums().front_width();
    front.points.values.resize(front.points.dimension);
    lists_->sums().finish(node.points.point(0), front.points.values.data());
    return front;
  }

  /// Other searches may have found something better in the meantime.
  void tighten_bound() {
    if (context_.incumbent != nullptr) bound_.tighten(context_.incumbent->objective());
    if (context_.met_objective != nullptr) bound_.tighten(context_.met_objective->load());
  }

  void tell_of(const Node& front) {
    if (context_.met_objective == nullptr) return;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < front.points.size(); ++i)
      least = std::min(least, objective_value(bound_.objective, front.points.point(i)[0],
                                              front.points.point(i)[1]));
    tell_of(least);
  }

  void tell_of(double objective) { lower_to(*context_.met_objective, objective); }

  /// Every choice of lists for the rows [first, last), which agree on the classes before `depth`,
  /// whose use of the fanouts is allowed; whole branches end where no assignment is left.
  void emit_all(std::size_t depth, std::size_t first, std::size_t last, std::uint32_t used,
                std::uint32_t node) {
    if (depth == n_classes_) {
      if (allowed_.count(used) == 0) return;
      for (std::size_t i = first; i < last; ++i) emit(rows_[i].index, nodes_[node]);
      return;
    }
    if (cancelled()) return;
    const std::size_t cls = order(depth);
    while (first < last) {
      const std::uint32_t fused = rows_[first].numbers[depth];
      std::size_t end = first + 1;
      while (end < last && rows_[end].numbers[depth] == fused) ++end;
      const auto [begin_list, end_list] = lists_->lists_with(cls, fused);
      for (std::uint32_t l = begin_list; l < end_list; ++l) {
        const std::int64_t both = lists_->combine_usage(used, lists_->lists(cls)[l].usage);
        if (both < 0 || !may_become_allowed(static_cast<std::uint32_t>(both), depth + 1)) continue;
        const std::uint32_t child = child_of(node, depth, l);
        if (nodes_[child].points.size() == 0) continue;
        lists_taken_[cls] = l;
        emit_all(depth + 1, first, end, static_cast<std::uint32_t>(both), child);
      }
      first = end;
    }
  }

  /// The assignments of a node, extended by a list of the next class. Lists of equal content make
  /// equal nodes.
  std::uint32_t child_of(std::uint32_t parent, std::size_t depth, std::uint32_t l) {
    const StateList& list = lists_->lists(order(depth))[l];
    const auto [at, inserted] =
        children_.try_emplace(std::uint64_t{parent} << 32U | list.content, 0);
    if (inserted) {
      tighten_bound();
      at->second = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(depth + 1 == n_classes_ ? make_front(nodes_[parent], list)
                                               : make_node(nodes_[parent], depth + 1, list));
    }
    return at->second;
  }

  Node make_node(const Node& outer, std::size_t depth, const StateList& list) {
    const std::size_t width = lists_->sums().stage(depth).width;
    Node all, result;
    all.points.dimension = result.points.dimension = width;
    std::vector<double> values;
    std::size_t next_pruning = kPrunedTogether;
    for (std::size_t p = 0; p < outer.points.size() && !cancelled(); ++p) {
      if (context_.beam == 0 && prunes() && all.points.size() >= next_pruning) {
        all = pruned(all, depth);
        next_pruning = std::max(kPrunedTogether, 2 * all.points.size());
      }
      for_each_promising(outer, depth, p, list, [&](std::uint32_t s, std::uint32_t position) {
        all.points.values.resize(all.points.values.size() + width);
        lists_->sums().gather(depth, extensions_, s,
                              all.points.values.data() + all.points.values.size() - width);
        push_positions(outer, depth - 1, p, position, &all.at);
        if (context_.beam > 0)
          values.push_back(bound_.value(extensions_.energy[s], extensions_.latency[s]));
      });
    }
    if (cancelled()) return result;
    if (context_.beam > 0) {
      keep(best_of(values), depth, all, &result);
    } else if (prunes() && all.points.size() > 1) {
      return pruned(all, depth);
    } else {
      return all;
    }
    return result;
  }

  Node pruned(const Node& all, std::size_t depth) const {
    Node result;
    result.points.dimension = all.points.dimension;
    keep(lists_->sums().front(depth, all.points, context_.cancel), depth, all, &result);
    return result;
  }

  /// Calls `take` with the number in `extensions_` and the position in the list of each state whose
  /// extension of assignment `p` of a node may be part of something better.
  template <class Take>
  void for_each_promising(const Node& outer, std::size_t depth, std::size_t p,
                          const StateList& list, const Take& take) {
    const auto is_promising = [&](double energy, double latency) {
      return !bound_.hopeless(energy, latency);
    };
    const std::size_t extended = lists_->sums().extend_where(
        depth, outer.points.point(p), *list.block, is_promising, &extensions_, take);
    result_.evaluated += static_cast<double>(extended);
  }

  /// So many assignments at least are collected before they are compared; memory grows with it.
  static constexpr std::size_t kPrunedTogether = 30000;

  static void push_positions(const Node& outer, std::size_t outer_depth, std::size_t p,
                             std::uint32_t last, std::vector<std::uint32_t>* at) {
    const auto from = outer.at.begin() + static_cast<std::ptrdiff_t>(p * outer_depth);
    at->insert(at->end(), from, from + static_cast<std::ptrdiff_t>(outer_depth));
    at->push_back(last);
  }

  /// The few most promising assignments, ascending.
  std::vector<std::uint32_t> best_of(const std::vector<double>& values) const {
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    if (order.size() <= context_.beam) return order;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    order.resize(context_.beam);
    std::sort(order.begin(), order.end());
    return order;
  }

  bool prunes() const { return context_.options->pruning.dominance && compiled_.program.monotone; }

  static void keep(const std::vector<std::uint32_t>& kept, std::size_t depth, const Node& all,
                   Node* result) {
    for (std::uint32_t i : kept) {
      const double* point = all.points.point(i);
      result->points.values.insert(result->points.values.end(), point,
                                   point + all.points.dimension);
      result->at.insert(result->at.end(), all.at.begin() + static_cast<std::ptrdiff_t>(i * depth),
                        all.at.begin() + static_cast<std::ptrdiff_t>((i + 1) * depth));
    }
  }

  /// Complete assignments: energy, latency, segments, persistent reservations.
  Node make_front(const Node& outer, const StateList& list) {
    Node front;
    front.points.dimension = lists_->sums().front_width();
    std::vector<double> rows(lists_->sums().stage(n_classes_).width), point(front.points.dimension);
    const bool worth_asking = list.block->size() > 2;
    for (std::size_t p = 0; p < outer.points.size() && !cancelled(); ++p) {
      if (worth_asking && is_useless(outer.points.point(p), list, front.points)) continue;
      for_each_promising(outer, n_classes_, p, list, [&](std::uint32_t s, std::uint32_t position) {
        lists_->sums().gather(n_classes_, extensions_, s, rows.data());
        lists_->sums().finish(rows.data(), point.data());
        if (!make_room(point.data(), &front)) return;
        front.points.values.insert(front.points.values.end(), point.begin(), point.end());
        push_positions(outer, n_classes_ - 1, p, position, &front.at);
      });
    }
    return front;
  }

  /// Whether no state of a block of the last class makes a full assignment that fits, may beat the
  /// known mapping and is not dominated by `known` ones.
  bool is_useless(const double* outer, const StateList& list, const PointSet& known) {
    least_rows_.resize(lists_->sums().stage(n_classes_).width);
    least_point_.resize(lists_->sums().front_width());
    lists_->sums().least_rows(outer, *list.block, least_rows_.data());
    lists_->sums().finish(least_rows_.data(), least_point_.data());
    return !lists_->sums().fits(least_rows_.data()) ||
           bound_.hopeless(least_point_[0], least_point_[1]) ||
           is_dominated(least_point_.data(), known);
  }

  bool is_dominated(const double* point, const PointSet& points) const {
    if (!context_.options->pruning.dominance) return false;
    const std::size_t n = points.size();
    for (std::size_t i = 0; i < n; ++i)
      if (dominates(points.point(i), point, points.dimension)) return true;
    return false;
  }

  /// Drops the points that a new one dominates; false: it is dominated itself.
  bool make_room(const double* point, Node* front) const {
    if (!context_.options->pruning.dominance) return true;
    PointSet& points = front->points;
    const std::size_t width = points.dimension, n = points.size();
    if (is_dominated(point, points)) return false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (dominates(point, points.point(i), width)) continue;
      if (kept != i) {
        std::copy_n(points.point(i), width, points.values.data() + kept * width);
        std::copy_n(front->at.data() + i * n_classes_, n_classes_,
                    front->at.data() + kept * n_classes_);
      }
      ++kept;
    }
    points.values.resize(kept * width);
    front->at.resize(kept * n_classes_);
    return true;
  }

  // ---- pmappings ---------------------------------------------------------------------------
  /// The points of a front that may be part of something better where the row is exchanged.
  std::vector<std::uint32_t> worth_emitting(std::uint32_t row, const Node& front) const {
    const LowerHull* others = others_of(row);
    SearchBound of_row = bound_;
    if (others != nullptr) of_row.others = *others;
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = 0; i < front.points.size(); ++i)
      if (others == nullptr || !of_row.hopeless(front.points.point(i)[0], front.points.point(i)[1]))
        result.push_back(i);
    return result;
  }

  void emit(std::uint32_t row, const Node& front) {
    tell_of(front);
    const std::vector<std::uint32_t> kept = worth_emitting(row, front);
    if (kept.empty()) return;
    const std::vector<std::size_t> level_of_gap = levels_by_gap(skeleton_.row(row));
    const std::vector<std::size_t> segments = segment_levels(skeleton_.row(row), level_of_gap);
    PricedExchange exchange;
    exchange.row = row;
    exchange.count = static_cast<std::uint32_t>(kept.size());
    exchange.levels = static_cast<std::uint32_t>(level_of_gap.back() + 1);
    exchange.values = result_.values.size();
    exchange.states = result_.states.size();
    const std::size_t tracked = context_.tracked->size();
    const std::size_t stride = 2 + tracked * exchange.levels + tracked;
    result_.values.resize(exchange.values + exchange.count * stride, 0);
    result_.states.resize(exchange.states + exchange.count * n_classes_);
    for (std::size_t i = 0; i < exchange.count; ++i) {
      lists_->sums().collapse(segments, context_.tracked->size(), front.points.point(kept[i]),
                              exchange.levels,
                              result_.values.data() + exchange.values + i * stride);
      std::uint32_t* states = result_.states.data() + exchange.states + i * n_classes_;
      for (std::size_t d = 0; d < n_classes_; ++d)
        states[order(d)] = lists_->lists(order(d))[lists_taken_[order(d)]]
                               .block->states[front.at[kept[i] * n_classes_ + d]];
    }
    result_.exchanges.push_back(exchange);
  }

  /// Per segment of the program: number of fused loops with more than one trip above it. What a
  /// loop carries from step to step, as the rows of a node that slides over it, stands above that.
  std::vector<std::size_t> segment_levels(const std::int64_t* row,
                                          const std::vector<std::size_t>& level_of_gap) const {
    std::vector<std::size_t> levels;
    for (const SimpleProgram::SimpleRow& segment : compiled_.program.rows) {
      if (segment.kind != SimpleProgram::RowKind::kSegment) continue;
      std::size_t level = level_of_gap[segment.gap], place = 0;
      std::size_t above = 0, above_block = 0;  // running loops, and those of earlier blocks
      std::optional<std::uint32_t> last;
      for (const Item& item : templ_.items) {
        if (!item.is_loop || !templ_.loops[item.index].fused) continue;
        const LoopPlace& loop = templ_.loops[item.index];
        const bool runs = row[place++] > 1;
        if (runs && static_cast<std::int32_t>(item.index) == segment.sunk_below) ++level;
        if (!runs) continue;
        if (last && !may_be_permuted(templ_, *last, item.index)) above_block = above;
        last = item.index;
        ++above;
        if (!loop.spatial && loop.gap < segment.gap && (segment.carried_by >> loop.variable & 1U))
          level = std::min(level, above_block);
      }
      levels.push_back(level);
    }
    return levels;
  }

  /// Per gap: number of fused loops with more than one trip above its slots; last: all of them.
  std::vector<std::size_t> levels_by_gap(const std::int64_t* row) const {
    std::uint32_t most = 0;
    for (const LoopPlace& loop : templ_.loops) most = std::max(most, loop.gap);
    for (const Slot& slot : templ_.slots) most = std::max(most, slot.gap);
    std::vector<std::size_t> levels(most + 3, 0);
    std::size_t place = 0;
    for (const Item& item : templ_.items) {
      if (!item.is_loop || !templ_.loops[item.index].fused) continue;
      if (row[place++] == 1) continue;
      for (std::size_t gap = templ_.loops[item.index].gap + 1; gap < levels.size(); ++gap)
        ++levels[gap];
    }
    return levels;
  }

  const TileSearchContext& context_;
  SearchBound bound_;  ///< as tight as it is by now
  const Template& templ_;
  const CompiledTemplate& compiled_;
  const ExchangeSpace::Skeleton& skeleton_;
  const std::uint32_t index_;
  const std::size_t n_classes_;
  std::vector<Row> rows_;
  std::unique_ptr<StateLists> lists_;
  std::unique_ptr<UsageTable> usages_;
  std::vector<std::map<std::uint32_t, bool>> may_become_;      // per depth and use: allowed
  std::set<std::uint32_t> allowed_;                            // uses of the demanding fanouts
  std::deque<Node> nodes_;                                     // stable references
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and list content
  Extensions extensions_;                                      // scratch
  std::vector<std::uint32_t> lists_taken_;                     // per class
  std::vector<double> least_rows_, least_point_;               // scratch
  TemplateResult result_;
};

}  // namespace

CompiledTemplate compile_template(const TileSearchContext& context, const Template& templ,
                                  StateTables* tables) {
  CompiledTemplate result;
  result.classes = classes_of(context, templ);
  result.considered = single_values_allowed(context, templ) ? 1 : 0;
  for (const VariableClass& cls : result.classes) {
    result.tables.push_back(table_of(context, templ, cls, tables));
    result.considered *= static_cast<double>(result.tables.back()->states.size());
  }
  if (result.considered == 0) return result;
  result.program = tabulate((*context.problem)[context.shape->einsum], *context.shape, templ,
                            result.classes, result.tables,
                            compile(*context.problem, *context.shape, templ, result.classes,
                                    *context.tracked, *context.unlimited, context.cancel),
                            context.cancel);
  result.fused = number_fused_loops(templ, result.classes, result.tables);
  return result;
}

void number_columns(const std::vector<CompiledTemplate>& compiled) {
  for (const CompiledTemplate& own : compiled)
    for (std::size_t c = 0; c < own.program.columns.size(); ++c)
      for (const Column* column : own.program.columns[c]) own.tables[c]->number(column);
}

void mark_repeats(std::vector<CompiledTemplate>* compiled, int threads,
                  const std::atomic<bool>* cancel) {
  const auto key_of = [&](std::size_t t) {
    const CompiledTemplate& own = (*compiled)[t];
    std::vector<std::int64_t> key = own.program.signature();
    for (const auto& table : own.tables)
      key.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(table.get())));
    return key;
  };
  std::vector<std::vector<std::int64_t>> keys(compiled->size());
  parallel_for(threads, compiled->size(), [&](std::size_t t) {
    if (!is_cancelled(cancel)) keys[t] = key_of(t);
  });
  std::unordered_set<std::vector<std::int64_t>, KeyHash> known;
  for (std::size_t t = 0; t < compiled->size() && !is_cancelled(cancel); ++t)
    (*compiled)[t].repeats = !known.insert(std::move(keys[t])).second;
}

std::vector<std::uint32_t> distinct_templates(
    const std::vector<CompiledTemplate>& compiled,
    const std::function<double(const SimpleProgram&)>& bound) {
  std::vector<std::pair<double, std::uint32_t>> order;
  for (std::uint32_t t = 0; t < compiled.size(); ++t)
    if (compiled[t].considered > 0 && !compiled[t].repeats)
      order.emplace_back(bound(compiled[t].program), t);
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> result;
  for (const auto& [least, t] : order) result.push_back(t);
  return result;
}

TemplateResult search_tile_shapes(const TileSearchContext& context, const Template& templ,
                                  const CompiledTemplate& compiled, std::uint32_t template_index) {
  return TemplateSearch(context, templ, compiled, template_index).run();
}

std::optional<LoopStarts> find_starts(const TileSearchContext& context, const Template& templ,
                                      const CompiledTemplate& compiled,
                                      std::uint32_t template_index) {
  return TemplateSearch(context, templ, compiled, template_index).starts();
}

std::vector<std::int64_t> loop_trips(const EinsumShape& shape, const Template& templ,
                                     const CompiledTemplate& compiled,
                                     const std::uint32_t* states) {
  const std::vector<VariableClass>& classes = compiled.classes;
  std::vector<std::int64_t> trips(templ.loops.size(), 1);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::vector<std::int64_t> chosen = compiled.tables[c]->states.state(states[c]);
    std::vector<std::int64_t> rest(shape.sizes);
    for (std::size_t l = 0; l < classes[c].loops.size(); ++l)
      if (classes[c].loops[l].fused)
        rest[classes[c].loops[l].variable] =
            tile_inside(rest[classes[c].loops[l].variable], chosen[l]);
    for (std::size_t l = 0; l < classes[c].loops.size(); ++l) {
      const ClassLoop& loop = classes[c].loops[l];
      if (loop.fused || loop.places.size() == 1) {
        trips[loop.places.front()] = chosen[l];
        continue;
      }
      // A joint trip count is shared out among the variables, prime by prime.
      std::int64_t left = chosen[l];
      for (std::uint32_t place : loop.places) {
        const std::uint32_t v = templ.loops[place].variable;
        const std::int64_t part = std::gcd(left, rest[v]);
        trips[place] = part;
        rest[v] /= part;
        left /= part;
      }
      SLUICE_CHECK(left == 1, "a joint loop does not divide its variables");
    }
  }
  return trips;
}

}  // namespace sluice::fused
