#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "extend_lanes.h"
#include "mapper/common/pareto.h"
#include "simple_program.h"

namespace sluice::fused {

/// Some states of one class, and over them the columns of the class's program, one by one.
struct StateBlock {
  static constexpr std::size_t kGroup = 16;  ///< neighbours that are bounded together

  std::vector<std::uint32_t> states;
  std::vector<double> columns;                  ///< and some numbers more (LaneWork::kLanes)
  std::vector<double> least, most;              ///< per column
  std::vector<double> group_least, group_most;  ///< per column and group
  std::size_t size() const { return states.size(); }
  std::size_t n_groups() const { return (states.size() + kGroup - 1) / kGroup; }
  const double* column(std::size_t c) const { return columns.data() + c * states.size(); }
  /// Per group the least of a column, or the largest.
  const double* extreme(std::size_t c, bool is_least) const {
    return (is_least ? group_least : group_most).data() + c * n_groups();
  }
};

/// A partial assignment extended by some states of a block: per row and per open product of the new
/// stage one number for each state.
struct Extensions {
  std::size_t n = 0;
  std::size_t stride = 0;  ///< of a row's and product's numbers
  std::vector<double> rows, open;
  /// Of the cheapest completion, as far as bounds tell: energy (J, with leakage), latency (s).
  std::vector<double> energy, latency;
  std::vector<double> exceeds;  ///< 0: no limit is exceeded for certain
};

/// Layout of partial assignments after some number of classes: one sum per row, then the value of
/// each product that later classes still multiply.
struct Stage {
  std::size_t width = 0;
  std::vector<double> initial;      ///< of stage 0
  std::vector<std::uint32_t> open;  ///< products
  /// Share of an open product in the least value of a row: coefficient · extreme factor of the
  /// classes to come.
  struct Share {
    std::uint32_t row;
    std::uint32_t open;
    double factor;
  };
  std::vector<Share> shares;  ///< ascending by row
  /// What extending by this stage's class does to each product that stays open.
  struct Step {
    std::int32_t from = -1;    ///< index in the previous stage's open products, or -1: was 1
    std::int32_t column = -1;  ///< factor of the class, or -1: none
  };
  std::vector<Step> steps;  ///< per open product
  /// A product that closes, in one row's sum: the class's column · what it was before · factor.
  struct Closing {
    std::uint32_t row;
    std::uint32_t column;
    std::int32_t from;  ///< as above
    double factor;
  };
  std::vector<Closing> closings;  ///< ascending by row, column
  /// Open products that later classes multiply by one and the same factor.
  struct Rest {
    double least = 1, most = 1;  ///< of that factor
    std::vector<std::uint32_t> open;
    std::size_t first = 0, last = 0;  ///< its parts in rows
  };
  /// What the products of a rest add to a row, per unit of the factor.
  struct Part {
    std::uint32_t row;
    std::size_t alike;  ///< the first part of the rest that is in proportion to this one
    std::vector<std::pair<std::uint32_t, double>> terms;  ///< open product, coefficient; ascending
  };
  std::vector<Rest> rests;
  std::vector<Part> parts;
  std::vector<double> untouched_minimum;  ///< per row: least sum of products not begun yet
  std::vector<double> untouched_maximum;  ///< the same, largest
};

/// The arithmetic of a template's program when the states of its classes are chosen one class after
/// the other: what is summed up so far, what is still multiplied, and how low the rest can be.
class PartialSums {
 public:
  using Ranges = std::vector<std::pair<double, double>>;  ///< least and largest value, per column

  /// `order`: the classes as they are combined; `ranges`, per class: bounds of what is combined.
  /// `uses`: of the products (uses_of_products). `least_latency`: no full assignment that meets the
  /// limits takes less (s).
  PartialSums(const SimpleProgram& program, const std::vector<std::vector<RowTerm>>& uses,
              const std::vector<std::size_t>& order, const std::vector<Ranges>& ranges,
              double least_latency);

  const Stage& stage(std::size_t depth) const { return stages_[depth]; }
  /// Adds states of a block of the class at `depth` − 1 in the order to a partial assignment. Where
  /// one fits and `is_promising(energy, latency)` of its cheapest completion, `take` has its number
  /// in `result` and in the block. Groups of neighbours are bounded first. Returns how many states
  /// were added.
  template <class IsPromising, class Take>
  std::size_t extend_where(std::size_t depth, const double* outer, const StateBlock& block,
                           const IsPromising& is_promising, Extensions* result,
                           const Take& take) const;
  /// Adds the states [begin, end), whatever they are.
  void extend(std::size_t depth, const double* outer, const StateBlock& block, std::size_t begin,
              std::size_t end, Extensions* result) const;
  /// Rows of a full assignment that no extension of an outer one by a block of the last class is
  /// below.
  void least_rows(const double* outer, const StateBlock& block, double* rows) const;
  /// Whether rows of a full assignment meet every limit.
  bool fits(const double* rows) const;
  /// Number s of `extend`'s results as a partial assignment of that stage (`width` numbers).
  void gather(std::size_t depth, const Extensions& extensions, std::size_t s, double* point) const;
  /// Partial assignments that no other one beats whatever the later classes do, ascending.
  std::vector<std::uint32_t> front(std::size_t depth, const PointSet& points,
                                   const std::atomic<bool>* cancel = nullptr) const;

  std::size_t front_width() const { return 2 + n_reservations_; }
  /// Rows of a full assignment → energy, latency, segments, persistent reservations.
  void finish(const double* rows, double* point) const;
  /// A front's point → a pmapping's values (PmappingGroup), segments added up by level.
  void collapse(const std::vector<std::size_t>& segment_levels, std::size_t n_tracked,
                const double* point, std::size_t levels, double* value) const;

 private:
  PointSet criteria(std::size_t depth, const PointSet& points) const;
  PointSet separate_criteria(std::size_t depth, const PointSet& points) const;
  std::vector<char> deciding_rows(const Stage& stage, const PointSet& points,
                                  const std::vector<double>& parts) const;
  void make_stage(std::size_t depth, const std::vector<bool>& before,
                  const std::vector<std::vector<RowTerm>>& uses,
                  const std::vector<std::size_t>& order, const std::vector<Ranges>& ranges);
  void find_rests(Stage* stage, const std::vector<bool>& before,
                  const std::vector<std::vector<RowTerm>>& uses,
                  const std::vector<std::size_t>& order, const std::vector<Ranges>& ranges);
  /// What `extend` would find at least for each group of the block: energy, latency, fits.
  void bound_groups(std::size_t depth, const double* outer, const StateBlock& block,
                    Extensions* result) const;
  void begin_least(std::size_t n, Extensions* result) const;
  void add_least(const SimpleProgram::SimpleRow& row, Extensions* result) const;
  bool is_bounded(std::uint32_t row) const;

  const SimpleProgram& program_;
  double least_latency_;
  std::vector<Stage> stages_;
  std::size_t n_reservations_ = 0;
  mutable std::vector<double> least_;  // scratch of bound_groups(); one search, one thread
  mutable LaneWork work_;              // scratch of extend()
  mutable Extensions groups_;          // scratch of extend_where()
};

template <class IsPromising, class Take>
std::size_t PartialSums::extend_where(std::size_t depth, const double* outer,
                                      const StateBlock& block, const IsPromising& is_promising,
                                      Extensions* result, const Take& take) const {
  constexpr std::size_t kGroup = StateBlock::kGroup;
  const std::size_t n = block.size();
  const bool bounds_groups = n > 2 * kGroup;
  const auto promises = [&](const Extensions& of, std::size_t i) {
    return of.exceeds[i] == 0 && is_promising(of.energy[i], of.latency[i]);
  };
  if (bounds_groups) bound_groups(depth, outer, block, &groups_);
  std::size_t extended = 0;
  for (std::size_t begin = 0, end = n; begin < n; begin = end) {
    if (bounds_groups) {
      end = std::min(begin + kGroup, n);
      if (!promises(groups_, begin / kGroup)) continue;
      while (end < n && promises(groups_, end / kGroup)) end = std::min(end + kGroup, n);
    }
    extend(depth, outer, block, begin, end, result);
    extended += end - begin;
    for (std::uint32_t s = 0; s < result->n; ++s)
      if (promises(*result, s)) take(s, static_cast<std::uint32_t>(begin) + s);
  }
  return extended;
}

/// Per product of a program: the rows that it is part of, with coefficients.
std::vector<std::vector<RowTerm>> uses_of_products(const SimpleProgram& program);

}  // namespace sluice::fused
