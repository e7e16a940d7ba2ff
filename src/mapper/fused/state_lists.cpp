#include "state_lists.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sluice::fused {

using RowKind = SimpleProgram::RowKind;

StateLists::StateLists(const TileSearchContext& context, const Template& templ,
                       const std::vector<VariableClass>& classes,
                       const std::vector<ClassStates>& states, const SimpleProgram& program)
    : context_(context),
      shape_(*context.shape),
      templ_(templ),
      classes_(classes),
      states_(states),
      program_(program),
      lists_(classes.size()) {
  uses_.resize(program.products.size());
  for (std::uint32_t r = 0; r < program.rows.size(); ++r) {
    for (const RowTerm& term : program.rows[r].terms)
      uses_[term.monomial].push_back({r, term.coefficient});
    n_reservations_ +=
        program.rows[r].kind == RowKind::kSegment || program.rows[r].kind == RowKind::kPersistent;
  }
  find_demanding();
  std::vector<std::size_t> different(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    make_lists(c);
    number_contents(c);
    for (const StateList& list : lists_[c])
      different[c] = std::max<std::size_t>(different[c], list.content + 1);
  }
  order_.resize(classes.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return different[a] < different[b]; });
  make_stages();
}

void StateLists::find_demanding() {
  const BoundEinsum& bound = (*context_.problem)[shape_.einsum];
  for (std::size_t c = 0; c < bound.components.size(); ++c) {
    const auto& spatial = bound.components[c].spatial;
    for (std::uint32_t d = 0; d < spatial.size(); ++d) {
      const bool used =
          std::any_of(templ_.loops.begin(), templ_.loops.end(), [&](const LoopPlace& l) {
            return l.spatial && l.component == ComponentId(c) && l.dimension == d;
          });
      if (!used || spatial[d].min_usage <= 0 || shape_.is_copy) continue;
      demanding_.push_back({ComponentId(c), d, spatial[d].fanout});
      wanted_usage_.push_back(spatial[d].min_usage * static_cast<double>(spatial[d].fanout));
    }
  }
}

// ---- lists ----------------------------------------------------------------------------------

void StateLists::make_lists(std::size_t cls) {
  const auto& loops = classes_[cls].loops;
  std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, StateList> lists;
  for (std::uint32_t s = 0; s < states_[cls].size(); ++s) {
    const std::int64_t* trips = states_[cls].state(s);
    StateList list;
    list.usage.assign(demanding_.size(), 1);
    for (std::size_t l = 0; l < loops.size(); ++l) {
      if (loops[l].fused) {
        list.fused.push_back(trips[l]);
        list.fused_loops += trips[l] > 1;
      }
      for (std::size_t d = 0; d < demanding_.size(); ++d)
        if (loops[l].spatial && loops[l].component == demanding_[d].component &&
            loops[l].dimension == demanding_[d].dimension)
          list.usage[d] *= trips[l];
    }
    if (context_.beam > 0 && !coarse(cls, list)) continue;
    auto& home = lists[{list.fused, list.usage}];
    if (home.states.empty()) home = std::move(list);
    home.states.push_back(s);
  }
  for (auto& [key, list] : lists) {
    prune_list(cls, &list);
    lists_[cls].push_back(std::move(list));
  }
  std::map<std::vector<std::int64_t>, std::vector<std::uint32_t>> groups;
  for (std::uint32_t l = 0; l < lists_[cls].size(); ++l) groups[lists_[cls][l].usage].push_back(l);
  usage_groups_.emplace_back(groups.begin(), groups.end());
}

/// Whether a scout looks at a list: each fused loop is absent, complete, or near the square root.
bool StateLists::coarse(std::size_t cls, const StateList& list) const {
  std::size_t next = 0;
  for (const ClassLoop& loop : classes_[cls].loops) {
    if (!loop.fused) continue;
    const std::int64_t trips = list.fused[next++], size = shape_.sizes[loop.variable];
    if (trips == 1 || trips == size) continue;
    if (trips * trips > size || (trips + 1) * (trips + 1) * 4 <= size) return false;
  }
  return true;
}

/// Drops states that another one of the list beats whatever the other classes do.
void StateLists::prune_list(std::size_t cls, StateList* list) const {
  list->roomy = list->states;
  if (!program_.monotone) return;
  list->roomy = front_of(cls, list->states, true);
  if (context_.options->pruning.dominance) list->states = front_of(cls, list->states, false);
}

/// The states that no other beats in every criterion: sums of rows that this class closes alone,
/// products that others still multiply. `limits_only`: what capacities and fanouts ask for.
std::vector<std::uint32_t> StateLists::front_of(std::size_t cls,
                                                const std::vector<std::uint32_t>& states,
                                                bool limits_only) const {
  const auto counts = [&](const RowTerm& use) {
    return !limits_only || program_.rows[use.monomial].kind == RowKind::kLimit;
  };
  PointSet points;
  for (std::uint32_t s : states) {
    std::vector<double> rows(program_.rows.size(), 0);
    std::vector<double> open;
    for (std::size_t p = 0; p < program_.products.size(); ++p) {
      const auto& product = program_.products[p];
      if (product.column[cls] < 0) continue;
      if (std::none_of(uses_[p].begin(), uses_[p].end(), counts)) continue;
      const double value = column_value(cls, product.column[cls], s);
      const bool alone = std::count_if(product.column.begin(), product.column.end(),
                                       [](std::int32_t c) { return c >= 0; }) == 1;
      if (alone) {
        for (const RowTerm& use : uses_[p])
          if (counts(use)) rows[use.monomial] += use.coefficient * value;
        continue;
      }
      if (product.any_positive) open.push_back(value);
      if (product.any_negative) open.push_back(-value);
    }
    points.dimension = rows.size() + open.size();
    points.values.insert(points.values.end(), rows.begin(), rows.end());
    points.values.insert(points.values.end(), open.begin(), open.end());
  }
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i : pareto_front(points)) kept.push_back(states[i]);
  return kept;
}

void StateLists::number_contents(std::size_t cls) {
  std::map<std::vector<double>, std::uint32_t> numbers;
  for (StateList& list : lists_[cls]) {
    std::vector<double> content;
    for (const auto& column : program_.columns[cls])
      for (std::uint32_t s : list.states) content.push_back(column.values[s]);
    content.push_back(static_cast<double>(list.states.size()));
    list.content = numbers.try_emplace(content, numbers.size()).first->second;
  }
}

std::optional<std::vector<std::int64_t>> StateLists::combine_usage(
    const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) const {
  std::vector<std::int64_t> result(a);
  for (std::size_t d = 0; d < demanding_.size(); ++d)
    if ((result[d] *= b[d]) > demanding_[d].fanout) return std::nullopt;
  return result;
}

// ---- stages ---------------------------------------------------------------------------------

void StateLists::make_stages() {
  std::vector<bool> before(classes_.size(), false);
  stages_.resize(classes_.size() + 1);
  Stage& first = stages_[0];
  for (const auto& row : program_.rows) first.initial.push_back(row.constant);
  first.width = program_.rows.size();
  for (std::size_t depth = 0; depth <= classes_.size(); ++depth) {
    make_stage(depth, before);
    if (depth < classes_.size()) before[order_[depth]] = true;
  }
}

void StateLists::make_stage(std::size_t depth, const std::vector<bool>& before) {
  // `before`: classes that stages 1…depth have added, this stage's own included.
  Stage& stage = stages_[depth];
  stage.untouched_minimum.assign(program_.rows.size(), 0);
  for (std::uint32_t p = 0; p < program_.products.size(); ++p) {
    const auto& product = program_.products[p];
    bool begun = false, ends = true;
    double rest_minimum = 1, rest_maximum = 1;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      if (product.column[c] < 0) continue;
      begun = begun || before[c];
      if (before[c]) continue;
      ends = false;
      const auto& column = program_.columns[c][static_cast<std::size_t>(product.column[c])];
      rest_minimum *= column.minimum;
      rest_maximum *= column.maximum;
    }
    if (!begun) {
      for (const RowTerm& use : uses_[p])
        stage.untouched_minimum[use.monomial] +=
            use.coefficient * (use.coefficient > 0 ? rest_minimum : rest_maximum);
      continue;
    }
    Stage::Step step{p, -1, -1, -1};
    if (depth > 0) {
      step.column = product.column[order_[depth - 1]];
      const auto& open = stages_[depth - 1].open;
      for (std::size_t i = 0; i < open.size(); ++i)
        if (open[i] == p) step.from = static_cast<std::int32_t>(i);
      if (step.column < 0 && step.from < 0) continue;  // closed earlier
    }
    if (!ends) {
      step.to = static_cast<std::int32_t>(stage.open.size());
      for (const RowTerm& use : uses_[p])
        stage.shares.push_back(
            {use.monomial, static_cast<std::uint32_t>(stage.open.size()),
             use.coefficient * (use.coefficient > 0 ? rest_minimum : rest_maximum)});
      stage.open.push_back(p);
    }
    stage.steps.push_back(step);
  }
  stage.width = program_.rows.size() + stage.open.size();
}

bool StateLists::extend(std::size_t depth, const double* outer, std::uint32_t state, bool bounded,
                        double* result, double* value) const {
  const Stage& stage = stages_[depth];
  const std::size_t cls = order_[depth - 1], n_rows = program_.rows.size();
  std::copy_n(outer, n_rows, result);
  for (const Stage::Step& step : stage.steps) {
    double product = step.from < 0 ? 1 : outer[n_rows + static_cast<std::size_t>(step.from)];
    if (step.column >= 0) product *= column_value(cls, step.column, state);
    if (step.to >= 0) {
      result[n_rows + static_cast<std::size_t>(step.to)] = product;
      continue;
    }
    for (const RowTerm& use : uses_[step.product])
      result[use.monomial] += use.coefficient * product;
  }
  least_.resize(n_rows);
  for (std::size_t r = 0; r < n_rows; ++r) least_[r] = result[r] + stage.untouched_minimum[r];
  for (const Stage::Share& share : stage.shares)
    least_[share.row] += share.factor * result[n_rows + share.open];
  double energy = 0, latency = 0;
  for (std::size_t r = 0; r < n_rows; ++r) {
    switch (program_.rows[r].kind) {
      case RowKind::kEnergy:
        energy = least_[r];
        break;
      case RowKind::kLatency:
        latency = std::max(latency, least_[r]);
        break;
      case RowKind::kLimit:
        if (least_[r] > program_.rows[r].limit) return false;
        break;
      case RowKind::kSegment:
      case RowKind::kPersistent:
        break;
    }
  }
  energy += program_.leak_w * latency;
  if (value != nullptr) *value = context_.bound.value(energy, latency);
  return !bounded || !context_.bound.hopeless(energy, latency);
}

PointSet StateLists::criteria(std::size_t depth, const PointSet& points) const {
  const Stage& stage = stages_[depth];
  const std::size_t n_rows = program_.rows.size();
  PointSet result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double* point = points.point(i);
    const std::size_t start = result.values.size();
    result.values.insert(result.values.end(), point, point + n_rows);
    for (std::size_t o = 0; o < stage.open.size(); ++o) {
      const auto& product = program_.products[stage.open[o]];
      if (product.any_positive) result.values.push_back(point[n_rows + o]);
      if (product.any_negative) result.values.push_back(-point[n_rows + o]);
    }
    result.dimension = result.values.size() - start;
  }
  return result;
}

// ---- results --------------------------------------------------------------------------------

void StateLists::finish(const double* rows, double* point) const {
  double latency = 0;
  std::size_t next = 2;
  for (std::size_t r = 0; r < program_.rows.size(); ++r) {
    switch (program_.rows[r].kind) {
      case RowKind::kEnergy:
        point[0] = rows[r];
        break;
      case RowKind::kLatency:
        latency = std::max(latency, rows[r]);
        break;
      case RowKind::kLimit:
        break;
      case RowKind::kSegment:
      case RowKind::kPersistent:
        point[next++] = rows[r];
        break;
    }
  }
  point[0] += program_.leak_w * latency;
  point[1] = latency;
}

std::vector<std::int64_t> StateLists::fused_trips(const std::vector<std::uint32_t>& choice) const {
  std::vector<std::int64_t> trips(templ_.loops.size(), 1);
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const StateList& list = lists_[c][choice[c]];
    std::size_t next = 0;
    for (const ClassLoop& loop : classes_[c].loops)
      if (loop.fused) trips[loop.places.front()] = list.fused[next++];
  }
  return trips;
}

bool StateLists::redundant(const std::vector<std::uint32_t>& choice) const {
  if (!context_.options->pruning.redundant_templates) return false;
  const std::vector<std::int64_t> trips = fused_trips(choice);
  for (std::size_t l = 0; l < templ_.loops.size(); ++l) {
    if (!templ_.loops[l].late || trips[l] == 1) continue;
    bool separated = false;
    for (std::size_t other = 0; other < templ_.loops.size(); ++other)
      separated = separated ||
                  (templ_.loops[other].gap == templ_.loops[l].gap && !templ_.loops[other].late &&
                   !templ_.loops[other].spatial && trips[other] > 1);
    if (!separated) return true;
  }
  return false;
}

double StateLists::backing_volume(const Slot& slot, const std::vector<std::int64_t>& trips) const {
  const BoundEinsum& bound = (*context_.problem)[shape_.einsum];
  std::vector<std::int64_t> tile(shape_.sizes);
  for (std::size_t l = 0; l < templ_.loops.size(); ++l)
    if (templ_.loops[l].gap < slot.gap) tile[templ_.loops[l].variable] /= trips[l];
  double volume = 0;
  for (const BoundAccess& held : bound.held) {
    if (held.tensor != static_cast<int>(slot.tensor)) continue;
    double part = 1;
    for (const BoundIndex& index : held.index) {
      double extent = 1 + static_cast<double>(index.slack);
      for (const BoundTerm& term : index.terms)
        extent += static_cast<double>(std::abs(term.coefficient)) *
                  static_cast<double>(tile[static_cast<std::size_t>(term.variable)] - 1);
      part *= backing_extent(index, extent);
    }
    volume += part;
  }
  return volume;
}

Compatibility StateLists::compatibility(const std::vector<std::uint32_t>& choice) const {
  Compatibility result;
  const std::vector<std::int64_t> trips = fused_trips(choice);
  std::vector<std::int64_t> tile(shape_.sizes);
  std::uint32_t last_gap = 0;
  bool after_window = false, last_late = false;
  for (const Item& item : templ_.items) {
    if (!item.is_loop || !templ_.loops[item.index].fused || trips[item.index] == 1) continue;
    const LoopPlace& place = templ_.loops[item.index];
    tile[place.variable] /= trips[item.index];
    result.stop_before.push_back(result.loops.empty() || place.gap != last_gap || after_window ||
                                 place.late != last_late);
    // The loop that a window slides over stays directly below its storage node.
    after_window = std::any_of(templ_.slots.begin(), templ_.slots.end(), [&](const Slot& slot) {
      return slot.sliding_loop == static_cast<std::int32_t>(item.index);
    });
    result.loops.push_back({place.variable, place.spatial, place.component, place.dimension,
                            trips[item.index], tile[place.variable]});
    last_gap = place.gap;
    last_late = place.late;
  }
  const BoundEinsum& bound = (*context_.problem)[shape_.einsum];
  for (const Slot& slot : templ_.slots) {
    if (!slot.shared) continue;
    Backing backing{slot.tensor, slot.component, 0, 0, slot.persistent};
    for (const Item& item : templ_.items)
      if (item.is_loop && templ_.loops[item.index].fused && trips[item.index] > 1 &&
          templ_.loops[item.index].gap < slot.gap)
        ++backing.level;
    backing.bits = backing_volume(slot, trips) *
                   bound.components[slot.component.index()].bits_per_value[slot.tensor] *
                   (slot.persistent ? shape_.multiplicity : 1);
    result.backings.push_back(backing);
  }
  std::sort(result.backings.begin(), result.backings.end(),
            [](const Backing& a, const Backing& b) { return a.tensor < b.tensor; });
  return result;
}

void StateLists::collapse(const std::vector<std::uint32_t>& choice, const double* point,
                          std::size_t levels, double* value) const {
  const std::vector<std::int64_t> trips = fused_trips(choice);
  const std::size_t n_tracked = context_.tracked->size();
  value[0] = point[0];
  value[1] = point[1];
  std::size_t next = 2;
  for (const auto& row : program_.rows) {
    if (row.kind == RowKind::kPersistent) {
      value[2 + n_tracked * levels + row.tracked] += point[next++];
    } else if (row.kind == RowKind::kSegment) {
      std::size_t level = 0;
      for (std::size_t l = 0; l < templ_.loops.size(); ++l)
        level += templ_.loops[l].fused && trips[l] > 1 && templ_.loops[l].gap < row.gap;
      value[2 + row.tracked * levels + level] += point[next++];
    }
  }
}

}  // namespace sluice::fused
