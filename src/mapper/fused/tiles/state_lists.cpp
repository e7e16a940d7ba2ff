#include "state_lists.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "mapper/shape/trip_choices.h"

namespace sluice::fused {

using RowKind = SimpleProgram::RowKind;

DemandingFanouts demanding_fanouts(const TileSearchContext& context, const Template& templ) {
  DemandingFanouts result;
  if (context.any_exchange || context.shape->is_copy) return result;
  const BoundEinsum& bound = (*context.problem)[context.shape->einsum];
  for (const FanoutDimension& fanout : fanouts_of(bound)) {
    const double min_usage =
        bound.components[fanout.component.index()].spatial[fanout.dimension].min_usage;
    if (min_usage <= 0 ||
        !may_spread_over(*context.templates, templ.placement, fanout.component, fanout.dimension))
      continue;
    result.fanouts.push_back(fanout);
    result.wanted.push_back(min_usage * static_cast<double>(fanout.instances));
  }
  return result;
}

StateLists::StateLists(const TileSearchContext& context, const Template& templ,
                       const CompiledTemplate& compiled, const std::vector<std::uint32_t>& rows)
    : context_(context),
      shape_(*context.shape),
      templ_(templ),
      classes_(compiled.classes),
      tables_(compiled.tables),
      program_(compiled.program),
      uses_(uses_of_products(compiled.program)),
      groups_(classes_.size()),
      lists_(classes_.size()),
      usages_of_(classes_.size()),
      roomy_(classes_.size()),
      criteria_(classes_.size()),
      demanding_(demanding_fanouts(context, templ)) {
  no_usage_ = number_usage(Usage(demanding_.fanouts.size(), 1));
  for (std::size_t c = 0; c < classes_.size(); ++c) make_lists(c);
  prune_needed_lists(rows);
  std::vector<std::size_t> different(classes_.size());
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    number_contents(c);
    if (context.any_exchange) different[c] = lists_[c].front().block->size();
    for (const StateList& list : lists_[c])
      different[c] = std::max<std::size_t>(different[c], list.content + 1);
  }
  order_.resize(classes_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return different[a] < different[b]; });
  make_sums();
}

// ---- lists ----------------------------------------------------------------------------------

void StateLists::make_lists(std::size_t cls) {
  const auto& loops = classes_[cls].loops;
  std::vector<std::vector<std::size_t>> over(demanding_.fanouts.size());  // per fanout: loops
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (const std::size_t fanout = fanout_of(loops[l], demanding_.fanouts);
        loops[l].spatial && fanout < over.size())
      over[fanout].push_back(l);
  groups_[cls] = tables_[cls]->groups(over, !context_.any_exchange);
  for (const Usage& use : groups_[cls]->uses) usages_of_[cls].push_back(number_usage(use));
  lists_[cls].reserve(groups_[cls]->groups.size());
  for (const StateGroups::Group& group : groups_[cls]->groups)
    lists_[cls].push_back({.usage = usages_of_[cls][group.use], .group = &group});
}

int StateLists::fused_loops(std::size_t cls, std::uint32_t list) const {
  const auto& loops = classes_[cls].loops;
  const FrontMemo::States& states = *lists_[cls][list].group->states.states;
  const ClassStates& all = tables_[cls]->states;
  int result = 0;
  for (std::size_t l = 0; l < loops.size(); ++l)
    result += loops[l].fused && !loops[l].steps && all.trips(states.front(), l) > 1;
  return result;
}

std::uint32_t StateLists::number_usage(const Usage& usage) {
  const auto [at, inserted] =
      usage_number_.try_emplace(usage, static_cast<std::uint32_t>(usages_.size()));
  if (inserted) usages_.push_back(usage);
  return at->second;
}

std::int64_t StateLists::combine_usage(std::uint32_t a, std::uint32_t b) {
  if (a == no_usage_) return b;
  if (b == no_usage_) return a;
  usage_ = usages_[a];
  for (std::size_t d = 0; d < usage_.size(); ++d)
    if ((usage_[d] *= usages_[b][d]) > demanding_.fanouts[d].instances) return -1;
  return number_usage(usage_);
}

std::int64_t StateLists::usage_left(std::uint32_t used, std::uint32_t target) const {
  usage_ = usages_[target];
  for (std::size_t d = 0; d < usage_.size(); ++d) {
    if (usage_[d] % usages_[used][d] != 0) return -1;
    usage_[d] /= usages_[used][d];
  }
  const auto at = usage_number_.find(usage_);
  return at == usage_number_.end() ? -1 : at->second;
}

/// Drops states that another one of the list beats whatever the other classes do; lists that no row
/// needs are left alone.
void StateLists::prune_needed_lists(const std::vector<std::uint32_t>& rows) {
  const bool prune = program_.monotone && context_.options->pruning.dominance;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    std::vector<char> needed(groups_[c]->first.size() - 1, 0);
    for (std::size_t at = c; at < rows.size(); at += classes_.size()) needed[rows[at]] = 1;
    for (StateList& list : lists_[c]) {
      if (needed[list.group->fused] == 0) continue;
      StateBlock& block = blocks_.emplace_back();
      block.states = prune ? front_of(c, list.group->states, false) : *list.group->states.states;
      fill_columns(c, &block);
      list.block = &block;
    }
  }
}

const StateBlock& StateLists::roomy(std::size_t cls, std::uint32_t list) {
  const auto [at, is_new] = roomy_[cls].try_emplace(list);
  StateBlock& roomy = at->second;
  if (!is_new) return roomy;
  FrontMemo::Numbered states = lists_[cls][list].group->states;
  const ClassStates& all = tables_[cls]->states;
  const auto is_even = [&](std::uint32_t s) {
    for (std::size_t l = 0; l < classes_[cls].loops.size(); ++l)
      if (is_uneven(all.trips(s, l))) return false;
    return true;
  };
  if (!all.is_narrow() && !std::all_of(states.states->begin(), states.states->end(), is_even)) {
    FrontMemo::States even;
    std::copy_if(states.states->begin(), states.states->end(), std::back_inserter(even), is_even);
    states = tables_[cls]->fronts.numbered(std::move(even));
  }
  roomy.states = program_.monotone ? front_of(cls, states, true) : *states.states;
  fill_columns(cls, &roomy);
  return roomy;
}

void StateLists::fill_columns(std::size_t cls, StateBlock* block) const {
  block->columns.clear();
  block->columns.reserve(program_.columns[cls].size() * block->size() + LaneWork::kLanes);
  block->least.clear();
  block->most.clear();
  block->group_least.clear();
  block->group_most.clear();
  const std::size_t n_columns = program_.columns[cls].size();
  const std::size_t n_groups = (block->size() + StateBlock::kGroup - 1) / StateBlock::kGroup;
  block->least.reserve(n_columns);
  block->most.reserve(n_columns);
  block->group_least.reserve(n_columns * n_groups);
  block->group_most.reserve(n_columns * n_groups);
  for (const Column* column : program_.columns[cls]) {
    for (std::uint32_t s : block->states) block->columns.push_back(column->values[s]);
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (std::size_t begin = 0; begin < block->size(); begin += StateBlock::kGroup) {
      double least_of_group = std::numeric_limits<double>::infinity(), most_of_group = 0;
      for (std::size_t i = begin; i < std::min(begin + StateBlock::kGroup, block->size()); ++i) {
        least_of_group = std::min(least_of_group, column->values[block->states[i]]);
        most_of_group = std::max(most_of_group, column->values[block->states[i]]);
      }
      block->group_least.push_back(least_of_group);
      block->group_most.push_back(most_of_group);
      least = std::min(least, least_of_group);
      most = std::max(most, most_of_group);
    }
    block->least.push_back(least);
    block->most.push_back(most);
  }
  block->columns.resize(block->columns.size() + LaneWork::kLanes, 0);
}

/// Least and largest value of a column in the lists that are needed.
std::pair<double, double> StateLists::range_of(std::size_t cls, std::size_t column) const {
  std::pair<double, double> range{std::numeric_limits<double>::infinity(), 0};
  for (const StateList& list : lists_[cls]) {
    if (list.block == nullptr) continue;
    range.first = std::min(range.first, list.block->least[column]);
    range.second = std::max(range.second, list.block->most[column]);
  }
  return range;
}

/// Sums of rows that the class closes alone, products that others still multiply; each once.
/// `limits_only`: what capacities and fanouts ask for.
StateLists::Criteria StateLists::criteria_of(std::size_t cls, bool limits_only) const {
  using Sum = std::vector<std::pair<std::uint32_t, double>>;  // columns in the order of their table
  const auto counts = [&](const RowTerm& use) {
    return !limits_only || program_.rows[use.monomial].kind == RowKind::kLimit;
  };
  std::vector<std::map<std::uint32_t, double>> rows(program_.rows.size());
  std::set<Sum> closed, open;
  for (std::size_t p = 0; p < program_.products.size(); ++p) {
    const auto& product = program_.products[p];
    if (product.column[cls] < 0 || std::none_of(uses_[p].begin(), uses_[p].end(), counts)) continue;
    const std::uint32_t column =
        program_.columns[cls][static_cast<std::size_t>(product.column[cls])]->index;
    const bool alone = std::count_if(product.column.begin(), product.column.end(),
                                     [](std::int32_t c) { return c >= 0; }) == 1;
    if (!alone && product.any_positive) open.insert({{column, 1}});
    if (!alone && product.any_negative) open.insert({{column, -1}});
    for (const RowTerm& use : uses_[p])
      if (alone && counts(use)) rows[use.monomial][column] += use.coefficient;
  }
  for (const auto& row : rows)
    if (row.size() == 1)
      closed.insert({{row.begin()->first, row.begin()->second < 0 ? -1 : 1}});
    else if (!row.empty())
      closed.emplace(row.begin(), row.end());
  std::vector<Sum> sums(closed.begin(), closed.end());
  sums.insert(sums.end(), open.begin(), open.end());
  Criteria criteria;
  criteria.first_open = closed.size();
  criteria.key = {limits_only || !program_.fixes_trips,
                  static_cast<std::int64_t>(criteria.first_open)};
  for (const Sum& sum : sums) {
    auto& with_columns = criteria.sums.emplace_back();
    criteria.key.push_back(static_cast<std::int64_t>(sum.size()));
    for (const auto& [column, coefficient] : sum) {
      with_columns.emplace_back(&tables_[cls]->column(column), coefficient);
      criteria.key.insert(criteria.key.end(), {column, std::bit_cast<std::int64_t>(coefficient)});
    }
  }
  return criteria;
}

/// The states that no other beats in every criterion.
FrontMemo::States StateLists::front_of(std::size_t cls, const FrontMemo::Numbered& numbered,
                                       bool limits_only) {
  const FrontMemo::States& states = *numbered.states;
  if (states.size() <= 1) return states;
  std::optional<Criteria>& known = criteria_[cls][limits_only ? 1 : 0];
  if (!known) known = criteria_of(cls, limits_only);
  const Criteria& criteria = *known;
  return tables_[cls]->fronts.front(criteria.key, numbered, [&] {
    PointSet points;
    points.dimension = criteria.sums.size();
    if (is_cancelled(context_.cancel)) return FrontMemo::States{states.front()};  // not used
    points.values.reserve(points.dimension * states.size());
    for (const std::uint32_t s : states)
      for (const auto& sum : criteria.sums) {
        double value = 0;
        for (const auto& [column, coefficient] : sum) value += coefficient * column->values[s];
        points.values.push_back(value);
      }
    if (points.dimension == 0) return FrontMemo::States{states.front()};
    const bool by_zeros = program_.fixes_trips && !limits_only;
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t i :
         by_zeros ? pareto_fronts_by_zeros(points, criteria.first_open, context_.cancel)
                  : pareto_front(points, context_.cancel))
      kept.push_back(states[i]);
    return kept;
  });
}

void StateLists::number_contents(std::size_t cls) {
  std::unordered_multimap<std::uint64_t, const StateList*> known;  // by the hash of their columns
  std::uint32_t n = 0;
  for (StateList& list : lists_[cls]) {
    if (list.block == nullptr) continue;
    std::uint64_t hash = list.block->size();
    for (const double value : list.block->columns)
      hash = KeyHash::mix(hash ^ std::bit_cast<std::uint64_t>(value));
    const auto [first, last] = known.equal_range(hash);
    const auto equal = std::find_if(first, last, [&](const auto& other) {
      return other.second->block->size() == list.block->size() &&
             other.second->block->columns == list.block->columns;
    });
    list.content = equal == last ? n++ : equal->second->content;
    if (equal == last) known.emplace(hash, &list);
  }
}

// ---- sums -----------------------------------------------------------------------------------

void StateLists::make_sums() {
  std::vector<PartialSums::Ranges> needed(classes_.size()), all(classes_.size());  // per class
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    for (std::size_t column = 0; column < program_.columns[c].size(); ++column) {
      needed[c].push_back(range_of(c, column));
      all[c].emplace_back(program_.columns[c][column]->minimum,
                          program_.columns[c][column]->maximum);
    }
  }
  sums_.emplace(program_, uses_, order_, needed, context_.bound.own.latency);
  roomy_sums_.emplace(program_, uses_, order_, all, 0);
}

void StateLists::extend_roomy(std::size_t depth, const double* outer, std::uint32_t list,
                              Extensions* result) {
  const StateBlock& block = roomy(order_[depth - 1], list);
  roomy_sums_->extend(depth, outer, block, 0, block.size(), result);
}

}  // namespace sluice::fused
