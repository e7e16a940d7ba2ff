#include "partial_sums.h"

#include <algorithm>

namespace sluice::fused {

using RowKind = SimpleProgram::RowKind;

namespace {

void add_scaled(double factor, const double* from, std::size_t n, double* to) {
  if (factor == 0) return;
  for (std::size_t i = 0; i < n; ++i) to[i] += factor * from[i];
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
                         const std::vector<std::size_t>& order, const std::vector<Ranges>& ranges)
    : program_(program), stages_(order.size() + 1) {
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
      for (const RowTerm& use : uses[p])
        stage.untouched_minimum[use.monomial] +=
            use.coefficient * (use.coefficient > 0 ? rest_minimum : rest_maximum);
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
}

void PartialSums::extend(std::size_t depth, const double* outer, const StateBlock& block,
                         Extensions* result) const {
  const Stage& stage = stages_[depth];
  const std::size_t n = block.size(), n_rows = program_.rows.size();
  const auto before = [&](std::int32_t from) {
    return from < 0 ? 1 : outer[n_rows + static_cast<std::size_t>(from)];
  };
  result->n = n;
  result->rows.resize(n_rows * n);
  result->open.resize(stage.open.size() * n);
  for (std::size_t o = 0; o < stage.open.size(); ++o) {
    const Stage::Step& step = stage.steps[o];
    double* open = result->open.data() + o * n;
    const double factor = before(step.from);
    if (step.column < 0)
      std::fill_n(open, n, factor);
    else
      std::transform(block.column(static_cast<std::size_t>(step.column)),
                     block.column(static_cast<std::size_t>(step.column)) + n, open,
                     [factor](double own) { return factor * own; });
  }
  for (std::size_t r = 0; r < n_rows; ++r) std::fill_n(result->rows.data() + r * n, n, outer[r]);
  for (auto at = stage.closings.begin(); at != stage.closings.end();) {
    const Stage::Closing& first = *at;
    double weight = 0;
    for (; at != stage.closings.end() && at->row == first.row && at->column == first.column; ++at)
      weight += at->factor * before(at->from);
    add_scaled(weight, block.column(first.column), n, result->rows.data() + first.row * n);
  }
  find_least(stage, result);
}

void PartialSums::least_rows(const double* outer, const StateBlock& block, double* rows) const {
  const Stage& stage = stages_.back();
  const std::size_t n_rows = program_.rows.size();
  std::copy_n(outer, n_rows, rows);
  for (auto at = stage.closings.begin(); at != stage.closings.end();) {
    const Stage::Closing& first = *at;
    double weight = 0;
    for (; at != stage.closings.end() && at->row == first.row && at->column == first.column; ++at)
      weight +=
          at->factor * (at->from < 0 ? 1 : outer[n_rows + static_cast<std::size_t>(at->from)]);
    if (weight != 0)
      rows[first.row] += weight * (weight > 0 ? block.least : block.most)[first.column];
  }
}

bool PartialSums::fits(const double* rows) const {
  for (std::size_t r = 0; r < program_.rows.size(); ++r)
    if (program_.rows[r].kind == RowKind::kLimit && rows[r] > program_.rows[r].limit) return false;
  return true;
}

/// Bounds of all completions: sums so far, products still open at the least that later classes can
/// make of them, products not begun at their least.
void PartialSums::find_least(const Stage& stage, Extensions* result) const {
  const std::size_t n = result->n;
  result->energy.assign(n, 0);
  result->latency.assign(n, 0);
  result->fits.assign(n, 1);
  least_.resize(n);
  auto share = stage.shares.begin();
  for (std::uint32_t r = 0; r < program_.rows.size(); ++r) {
    const SimpleProgram::SimpleRow& row = program_.rows[r];
    const auto first = share;
    while (share != stage.shares.end() && share->row == r) ++share;
    if (row.kind == RowKind::kSegment || row.kind == RowKind::kPersistent) continue;
    const double untouched = stage.untouched_minimum[r];
    const double* sums = result->rows.data() + r * n;
    for (std::size_t s = 0; s < n; ++s) least_[s] = sums[s] + untouched;
    for (auto at = first; at != share; ++at)
      add_scaled(at->factor, result->open.data() + at->open * n, n, least_.data());
    if (row.kind == RowKind::kEnergy) {
      result->energy = least_;
    } else if (row.kind == RowKind::kLatency) {
      for (std::size_t s = 0; s < n; ++s)
        result->latency[s] = std::max(result->latency[s], least_[s]);
    } else {
      for (std::size_t s = 0; s < n; ++s)
        result->fits[s] = static_cast<char>(result->fits[s] & (least_[s] <= row.limit));
    }
  }
  add_scaled(program_.leak_w, result->latency.data(), n, result->energy.data());
}

void PartialSums::gather(std::size_t depth, const Extensions& extensions, std::size_t s,
                         double* point) const {
  for (std::size_t r = 0; r < program_.rows.size(); ++r)
    *point++ = extensions.rows[r * extensions.n + s];
  for (std::size_t o = 0; o < stages_[depth].open.size(); ++o)
    *point++ = extensions.open[o * extensions.n + s];
}

std::vector<std::uint32_t> PartialSums::front(std::size_t depth, const PointSet& points,
                                              const std::atomic<bool>* cancel) const {
  const PointSet criteria = this->criteria(depth, points);
  return program_.fixes_trips ? pareto_fronts_by_zeros(criteria, program_.rows.size(), cancel)
                              : pareto_front(criteria, cancel);
}

/// Points as criteria of which smaller is better in each.
PointSet PartialSums::criteria(std::size_t depth, const PointSet& points) const {
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

void PartialSums::finish(const double* rows, double* point) const {
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
