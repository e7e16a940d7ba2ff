#include "partial_sums.h"

#include <algorithm>
#include <limits>
#include <map>

#include "mapper/common/rounding.h"

namespace sluice::fused {

using RowKind = SimpleProgram::RowKind;

namespace {

void add_scaled(double factor, const double* from, std::size_t n, double* to) {
  if (factor == 0) return;
  for (std::size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

/// What the least values of a row are for.
LaneWork::Bounds bounds_of(RowKind kind) {
  switch (kind) {
    case RowKind::kEnergy:
      return LaneWork::Bounds::kEnergy;
    case RowKind::kLatency:
      return LaneWork::Bounds::kLatency;
    case RowKind::kLimit:
      return LaneWork::Bounds::kLimit;
    case RowKind::kSegment:
    case RowKind::kPersistent:
      break;
  }
  return LaneWork::Bounds::kNothing;
}

/// What an open product of an outer stage was, of one that was not begun 1.
double value_before(const double* open, std::int32_t from) {
  return from < 0 ? 1 : open[static_cast<std::size_t>(from)];
}

/// Calls `take(column, weight)` for each column of the class that products close with in a row,
/// from `at` on. `open`: as of value_before().
template <class Take>
void for_each_closing(const Stage& stage, std::uint32_t row, const double* open,
                      std::vector<Stage::Closing>::const_iterator* at, const Take& take) {
  const auto is_of = [&](std::uint32_t column) {
    return *at != stage.closings.end() && (*at)->row == row && (*at)->column == column;
  };
  while (*at != stage.closings.end() && (*at)->row == row) {
    const std::uint32_t column = (*at)->column;
    double weight = 0;
    for (; is_of(column); ++*at) weight += (*at)->factor * value_before(open, (*at)->from);
    if (weight != 0) take(column, weight);
  }
}

/// Whether the second is a positive multiple of the first: they order sums of products alike.
bool in_proportion(const std::vector<std::pair<std::uint32_t, double>>& a,
                   const std::vector<std::pair<std::uint32_t, double>>& b) {
  if (a.size() != b.size() || (a[0].second > 0) != (b[0].second > 0)) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].first != b[i].first || a[i].second * b[0].second != b[i].second * a[0].second)
      return false;
  return true;
}

}  // namespace

std::vector<std::vector<RowTerm>> uses_of_products(const SimpleProgram& program) {
  std::vector<std::vector<RowTerm>> uses(program.products.size());
  for (std::uint32_t r = 0; r < program.rows.size(); ++r)
    for (const RowTerm& term : program.rows[r].terms)
      uses[term.monomial].push_back({r, term.coefficient});
  return uses;
}

PartialSums::PartialSums(const SimpleProgram& program,
                         const std::vector<std::vector<RowTerm>>& uses,
                         const std::vector<std::size_t>& order, const std::vector<Ranges>& ranges,
                         double least_latency)
    : program_(program), least_latency_(least_latency), stages_(order.size() + 1) {
  for (const auto& row : program_.rows) {
    stages_[0].initial.push_back(row.constant);
    n_reservations_ += row.kind == RowKind::kSegment || row.kind == RowKind::kPersistent;
  }
  std::vector<bool> before(order.size(), false);
  for (std::size_t depth = 0; depth <= order.size(); ++depth) {
    make_stage(depth, before, uses, order, ranges);
    if (depth < order.size()) before[order[depth]] = true;
  }
}

void PartialSums::make_stage(std::size_t depth, const std::vector<bool>& before,
                             const std::vector<std::vector<RowTerm>>& uses,
                             const std::vector<std::size_t>& order,
                             const std::vector<Ranges>& ranges) {
  // `before`: classes that stages 1…depth have added, this stage's own included.
  Stage& stage = stages_[depth];
  stage.untouched_minimum.assign(program_.rows.size(), 0);
  stage.untouched_maximum.assign(program_.rows.size(), 0);
  for (std::uint32_t p = 0; p < program_.products.size(); ++p) {
    const auto& product = program_.products[p];
    bool begun = false, ends = true;
    double rest_minimum = 1, rest_maximum = 1;
    for (std::size_t c = 0; c < order.size(); ++c) {
      if (product.column[c] < 0) continue;
      begun = begun || before[c];
      if (before[c]) continue;
      ends = false;
      const auto [least, most] = ranges[c][static_cast<std::size_t>(product.column[c])];
      rest_minimum *= least;
      rest_maximum *= most;
    }
    if (!begun) {
      for (const RowTerm& use : uses[p]) {
        stage.untouched_minimum[use.monomial] +=
            use.coefficient * (use.coefficient > 0 ? rest_minimum : rest_maximum);
        stage.untouched_maximum[use.monomial] +=
            use.coefficient * (use.coefficient > 0 ? rest_maximum : rest_minimum);
      }
      continue;
    }
    Stage::Step step;
    if (depth > 0) {
      step.column = product.column[order[depth - 1]];
      const auto& open = stages_[depth - 1].open;
      for (std::size_t i = 0; i < open.size(); ++i)
        if (open[i] == p) step.from = static_cast<std::int32_t>(i);
      if (step.column < 0 && step.from < 0) continue;  // closed earlier
    }
    if (ends) {
      for (const RowTerm& use : uses[p])
        stage.closings.push_back(
            {use.monomial, static_cast<std::uint32_t>(step.column), step.from, use.coefficient});
      continue;
    }
    for (const RowTerm& use : uses[p])
      stage.shares.push_back(
          {use.monomial, static_cast<std::uint32_t>(stage.open.size()),
           use.coefficient * (use.coefficient > 0 ? rest_minimum : rest_maximum)});
    stage.open.push_back(p);
    stage.steps.push_back(step);
  }
  std::stable_sort(stage.closings.begin(), stage.closings.end(),
                   [](const Stage::Closing& a, const Stage::Closing& b) {
                     return a.row != b.row ? a.row < b.row : a.column < b.column;
                   });
  std::stable_sort(stage.shares.begin(), stage.shares.end(),
                   [](const Stage::Share& a, const Stage::Share& b) { return a.row < b.row; });
  stage.width = program_.rows.size() + stage.open.size();
  find_rests(&stage, before, uses, order, ranges);
}

void PartialSums::find_rests(Stage* stage, const std::vector<bool>& before,
                             const std::vector<std::vector<RowTerm>>& uses,
                             const std::vector<std::size_t>& order,
                             const std::vector<Ranges>& ranges) {
  std::map<std::vector<std::int32_t>, std::vector<std::uint32_t>> by_factor;
  for (std::uint32_t o = 0; o < stage->open.size(); ++o) {
    std::vector<std::int32_t> later = program_.products[stage->open[o]].column;
    for (std::size_t c = 0; c < order.size(); ++c)
      if (before[c]) later[c] = -1;
    by_factor[later].push_back(o);
  }
  for (const auto& [later, open] : by_factor) {
    Stage::Rest& rest = stage->rests.emplace_back();
    rest.open = open;
    for (std::size_t c = 0; c < order.size(); ++c) {
      if (later[c] < 0) continue;
      rest.least *= ranges[c][static_cast<std::size_t>(later[c])].first;
      rest.most *= ranges[c][static_cast<std::size_t>(later[c])].second;
    }
    std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, double>>> by_row;
    for (std::uint32_t o : open)
      for (const RowTerm& use : uses[stage->open[o]])
        by_row[use.monomial].emplace_back(o, use.coefficient);
    rest.first = stage->parts.size();
    for (auto& [row, terms] : by_row) {
      std::size_t alike = rest.first;
      while (alike < stage->parts.size() && !in_proportion(stage->parts[alike].terms, terms))
        ++alike;
      stage->parts.push_back({row, alike, std::move(terms)});
    }
    rest.last = stage->parts.size();
  }
}

/// Bounds of all completions: sums so far, products still open at the least that later classes can
/// make of them, products not begun at their least.
void PartialSums::extend(std::size_t depth, const double* outer, const StateBlock& block,
                         std::size_t begin, std::size_t end, Extensions* result) const {
  constexpr std::size_t kLanes = LaneWork::kLanes;
  const Stage& stage = stages_[depth];
  const std::size_t n = end - begin, n_rows = program_.rows.size();
  const double* open = outer + n_rows;
  const auto column = [&](std::size_t c) { return block.column(c) + begin; };
  work_.open.clear();
  for (const Stage::Step& step : stage.steps)
    work_.open.push_back(
        {value_before(open, step.from),
         step.column < 0 ? nullptr : column(static_cast<std::size_t>(step.column))});
  work_.rows.clear();
  work_.terms.clear();
  work_.shares.clear();
  work_.least_latency = least_latency_;
  auto closing = stage.closings.begin();
  auto share = stage.shares.begin();
  for (std::uint32_t r = 0; r < n_rows; ++r) {
    for_each_closing(stage, r, open, &closing, [&](std::uint32_t c, double weight) {
      work_.terms.push_back({column(c), weight});
    });
    for (; share != stage.shares.end() && share->row == r; ++share)
      if (share->factor != 0 && is_bounded(r)) work_.shares.push_back({share->open, share->factor});
    const SimpleProgram::SimpleRow& row = program_.rows[r];
    work_.rows.push_back({outer[r], stage.untouched_minimum[r], work_.terms.size(),
                          work_.shares.size(), bounds_of(row.kind), row.limit});
  }
  result->n = n;
  result->stride = (n + kLanes - 1) / kLanes * kLanes;
  result->rows.resize(n_rows * result->stride);
  result->open.resize(stage.open.size() * result->stride);
  for (std::vector<double>* numbers : {&result->energy, &result->latency, &result->exceeds})
    numbers->resize(result->stride);
  extend_lanes(work_, {result->stride, result->rows.data(), result->open.data(),
                       result->energy.data(), result->latency.data(), result->exceeds.data()});
  if (!program_.cuts.empty())
    for (double& energy : result->energy) energy = program_.cut(energy);
  add_scaled(program_.leak_w, result->latency.data(), n, result->energy.data());
}

void PartialSums::bound_groups(std::size_t depth, const double* outer, const StateBlock& block,
                               Extensions* result) const {
  const Stage& stage = stages_[depth];
  const std::size_t n = block.n_groups(), n_rows = program_.rows.size();
  const double* open = outer + n_rows;
  begin_least(n, result);
  auto closing = stage.closings.begin();
  auto share = stage.shares.begin();
  for (std::uint32_t r = 0; r < n_rows; ++r) {
    std::fill(least_.begin(), least_.end(), outer[r] + stage.untouched_minimum[r]);
    for_each_closing(stage, r, open, &closing, [&](std::uint32_t column, double weight) {
      add_scaled(weight, block.extreme(column, weight > 0), n, least_.data());
    });
    for (; share != stage.shares.end() && share->row == r; ++share) {
      const Stage::Step& step = stage.steps[share->open];
      const double weight = share->factor * value_before(open, step.from);
      if (step.column < 0)
        for (double& least : least_) least += weight;
      else
        add_scaled(weight, block.extreme(static_cast<std::size_t>(step.column), weight > 0), n,
                   least_.data());
    }
    if (is_bounded(r)) add_least(program_.rows[r], result);
  }
  add_scaled(program_.leak_w, result->latency.data(), n, result->energy.data());
}

void PartialSums::least_rows(const double* outer, const StateBlock& block, double* rows) const {
  const Stage& stage = stages_.back();
  const std::size_t n_rows = program_.rows.size();
  std::copy_n(outer, n_rows, rows);
  auto closing = stage.closings.begin();
  for (std::uint32_t r = 0; r < n_rows; ++r)
    for_each_closing(stage, r, outer + n_rows, &closing, [&](std::uint32_t column, double weight) {
      rows[r] += weight * (weight > 0 ? block.least : block.most)[column];
    });
}

bool PartialSums::fits(const double* rows) const {
  for (std::size_t r = 0; r < program_.rows.size(); ++r)
    if (program_.rows[r].kind == RowKind::kLimit && rows[r] > program_.rows[r].limit) return false;
  return true;
}

void PartialSums::begin_least(std::size_t n, Extensions* result) const {
  result->n = n;
  result->energy.assign(n, 0);
  result->latency.assign(n, least_latency_);
  result->exceeds.assign(n, 0);
  least_.resize(n);
}

/// Rows that bounds of energy, latency or a limit ask for.
bool PartialSums::is_bounded(std::uint32_t row) const {
  return bounds_of(program_.rows[row].kind) != LaneWork::Bounds::kNothing;
}

/// Takes a row's least values, in `least_`.
void PartialSums::add_least(const SimpleProgram::SimpleRow& row, Extensions* result) const {
  const std::size_t n = result->n;
  if (row.kind == RowKind::kEnergy) {
    result->energy = least_;
    if (!program_.cuts.empty())
      for (double& energy : result->energy) energy = program_.cut(energy);
  } else if (row.kind == RowKind::kLatency) {
    for (std::size_t s = 0; s < n; ++s)
      result->latency[s] = std::max(result->latency[s], least_[s]);
  } else {
    for (std::size_t s = 0; s < n; ++s)
      if (!(least_[s] <= row.limit)) result->exceeds[s] = 1;
  }
}

void PartialSums::gather(std::size_t depth, const Extensions& extensions, std::size_t s,
                         double* point) const {
  for (std::size_t r = 0; r < program_.rows.size(); ++r)
    *point++ = extensions.rows[r * extensions.stride + s];
  for (std::size_t o = 0; o < stages_[depth].open.size(); ++o)
    *point++ = extensions.open[o * extensions.stride + s];
}

std::vector<std::uint32_t> PartialSums::front(std::size_t depth, const PointSet& points,
                                              const std::atomic<bool>* cancel) const {
  if (program_.fixes_trips)
    return pareto_fronts_by_zeros(separate_criteria(depth, points), program_.rows.size(), cancel);
  constexpr std::size_t kFew = 16;  // not worth the effort
  return pareto_front(
      points.size() <= kFew ? separate_criteria(depth, points) : criteria(depth, points), cancel);
}

/// Points as criteria of which smaller is better in each: rows, and each open product by itself.
PointSet PartialSums::separate_criteria(std::size_t depth, const PointSet& points) const {
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

/// Rows that may decide something for some of the points: a limit may be exceeded, a latency may be
/// the longest. `parts`: per point and part of the stage.
std::vector<char> PartialSums::deciding_rows(const Stage& stage, const PointSet& points,
                                             const std::vector<double>& parts) const {
  const std::size_t n_rows = program_.rows.size(), n_parts = stage.parts.size();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<double> least(n_rows, kInfinite), most(n_rows, -kInfinite), low(n_rows), high(n_rows);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::copy_n(points.point(i), n_rows, low.begin());
    std::copy_n(points.point(i), n_rows, high.begin());
    for (const Stage::Rest& rest : stage.rests)
      for (std::size_t k = rest.first; k < rest.last; ++k) {
        const double part = parts[i * n_parts + k];
        low[stage.parts[k].row] += part * (part > 0 ? rest.least : rest.most);
        high[stage.parts[k].row] += part * (part > 0 ? rest.most : rest.least);
      }
    for (std::size_t r = 0; r < n_rows; ++r) {
      least[r] = std::min(least[r], low[r]);
      most[r] = std::max(most[r], high[r]);
    }
  }
  double latency = least_latency_;
  for (std::size_t r = 0; r < n_rows; ++r) {
    least[r] += stage.untouched_minimum[r];
    most[r] += stage.untouched_maximum[r];
    if (program_.rows[r].kind == RowKind::kLatency) latency = std::max(latency, least[r]);
  }
  std::vector<char> decides(n_rows, 1);
  for (std::size_t r = 0; r < n_rows; ++r) {
    const SimpleProgram::SimpleRow& row = program_.rows[r];
    if (row.kind == RowKind::kLimit) decides[r] = most[r] * kAboveRounding > row.limit;
    if (row.kind == RowKind::kLatency) decides[r] = most[r] * kAboveRounding > latency;
  }
  return decides;
}

/// Points as criteria of which smaller is better in each: rows with every open product at its
/// least, and what each rest adds to them for a larger factor. Where its rows are many and its
/// products few, the products themselves.
PointSet PartialSums::criteria(std::size_t depth, const PointSet& points) const {
  const Stage& stage = stages_[depth];
  const std::size_t n = points.size(), n_rows = program_.rows.size(), n_parts = stage.parts.size();
  std::vector<double> parts(n * n_parts, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n_parts; ++k)
      for (const auto& [open, coefficient] : stage.parts[k].terms)
        parts[i * n_parts + k] += coefficient * points.point(i)[n_rows + open];
  const std::vector<char> decides = deciding_rows(stage, points, parts);

  std::vector<std::size_t> taken_parts, taken_open, taken_rows;
  for (std::size_t r = 0; r < n_rows; ++r)
    if (decides[r] != 0) taken_rows.push_back(r);
  for (const Stage::Rest& rest : stage.rests) {
    if (rest.least == rest.most) continue;
    std::vector<std::size_t> distinct;
    for (std::size_t k = rest.first; k < rest.last; ++k)
      if (decides[stage.parts[k].row] != 0 &&
          std::find(distinct.begin(), distinct.end(), stage.parts[k].alike) == distinct.end())
        distinct.push_back(stage.parts[k].alike);
    std::size_t separate = 0;
    for (std::uint32_t o : rest.open) {
      const auto& product = program_.products[stage.open[o]];
      separate += std::size_t{product.any_positive} + std::size_t{product.any_negative};
    }
    if (distinct.size() <= separate)
      taken_parts.insert(taken_parts.end(), distinct.begin(), distinct.end());
    else
      taken_open.insert(taken_open.end(), rest.open.begin(), rest.open.end());
  }

  PointSet result;
  std::vector<double> rows(n_rows);
  for (std::size_t i = 0; i < n; ++i) {
    const double* point = points.point(i);
    std::copy_n(point, n_rows, rows.begin());
    for (const Stage::Rest& rest : stage.rests)
      for (std::size_t k = rest.first; k < rest.last; ++k)
        rows[stage.parts[k].row] += rest.least * parts[i * n_parts + k];
    const std::size_t start = result.values.size();
    for (std::size_t r : taken_rows) result.values.push_back(rows[r]);
    for (std::size_t k : taken_parts) result.values.push_back(parts[i * n_parts + k]);
    for (std::size_t o : taken_open) {
      const auto& product = program_.products[stage.open[o]];
      if (product.any_positive) result.values.push_back(point[n_rows + o]);
      if (product.any_negative) result.values.push_back(-point[n_rows + o]);
    }
    result.dimension = result.values.size() - start;
    if (i == 0) result.values.reserve(n * result.dimension);
  }
  return result;
}

void PartialSums::finish(const double* rows, double* point) const {
  double latency = least_latency_;
  std::size_t next = 2;
  for (std::size_t r = 0; r < program_.rows.size(); ++r) {
    switch (program_.rows[r].kind) {
      case RowKind::kEnergy:
        point[0] = program_.cut(rows[r]);
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

void PartialSums::collapse(const std::vector<std::size_t>& segment_levels, std::size_t n_tracked,
                           const double* point, std::size_t levels, double* value) const {
  value[0] = point[0];
  value[1] = point[1];
  std::size_t next = 2;
  auto level = segment_levels.begin();
  for (const auto& row : program_.rows) {
    if (row.kind == RowKind::kPersistent)
      value[2 + n_tracked * levels + row.tracked] += point[next++];
    else if (row.kind == RowKind::kSegment)
      value[2 + row.tracked * levels + *level++] += point[next++];
  }
}

}  // namespace sluice::fused
