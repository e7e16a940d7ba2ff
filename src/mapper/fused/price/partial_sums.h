#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mapper/common/pareto.h"
#include "simple_program.h"

namespace sluice::fused {

/// Some states of one class, and over them the columns of the class's program, one by one.
struct StateBlock {
  std::vector<std::uint32_t> states;
  std::vector<double> columns;
  std::vector<double> least, most;  ///< per column
  std::size_t size() const { return states.size(); }
  const double* column(std::size_t c) const { return columns.data() + c * states.size(); }
};

/// A partial assignment extended by each state of a block: per row and per open product of the new
/// stage one number for each state.
struct Extensions {
  std::size_t n = 0;
  std::vector<double> rows, open;
  /// Of the cheapest completion, as far as bounds tell: energy (J, with leakage), latency (s).
  std::vector<double> energy, latency;
  std::vector<char> fits;  ///< no limit is exceeded for certain
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
  /// `uses`: of the products (uses_of_products).
  PartialSums(const SimpleProgram& program, const std::vector<std::vector<RowTerm>>& uses,
              const std::vector<std::size_t>& order, const std::vector<Ranges>& ranges);

  const Stage& stage(std::size_t depth) const { return stages_[depth]; }
  /// Adds each state of a block of the class at `depth` − 1 in the order to a partial assignment.
  void extend(std::size_t depth, const double* outer, const StateBlock& block,
              Extensions* result) const;
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
  void find_least(const Stage& stage, Extensions* result) const;

  const SimpleProgram& program_;
  std::vector<Stage> stages_;
  std::size_t n_reservations_ = 0;
  mutable std::vector<double> least_;  // scratch of extend(); one search, one thread
};

/// Per product of a program: the rows that it is part of, with coefficients.
std::vector<std::vector<RowTerm>> uses_of_products(const SimpleProgram& program);

}  // namespace sluice::fused
