#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "key_hash.h"
#include "pareto.h"
#include "pmapping.h"
#include "tile_search.h"

namespace sluice::fused {

/// Some states of one class, and over them the columns of the class's program, one by one.
struct StateBlock {
  std::vector<std::uint32_t> states;
  std::vector<double> columns;
  std::vector<double> least, most;  ///< per column
  std::size_t size() const { return states.size(); }
  const double* column(std::size_t c) const { return columns.data() + c * states.size(); }
};

/// States of one class that share their fused loops and their use of demanding fanouts.
struct StateList {
  std::uint32_t fused = 0;    ///< number of its fused trip counts (ClassFusedNumbers)
  std::uint32_t usage = 0;    ///< number of its use of the demanding fanouts
  int fused_loops = 0;        ///< fused loops with more than one trip
  std::uint32_t content = 0;  ///< needed lists with equal numbers behave alike
  bool needed = false;        ///< by some row; only then are its states pruned
  StateBlock block;
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
  std::vector<Closing> closings;          ///< ascending by row, column
  std::vector<double> untouched_minimum;  ///< per row: least sum of products not begun yet
};

/// The tile-shape choices of one template, sorted into lists, and the arithmetic on them.
class StateLists {
 public:
  /// Product of the trip counts on each demanding dimension.
  using Usage = std::vector<std::int64_t>;

  /// `rows`: the exchanges to be priced, as numbers per class (rows.size() = n · classes).
  StateLists(const TileSearchContext& context, const Template& templ,
             const CompiledTemplate& compiled, const std::vector<std::uint32_t>& rows);

  const std::vector<StateList>& lists(std::size_t cls) const { return lists_[cls]; }
  /// Lists of a class with given fused trip counts: first and one past the last.
  std::pair<std::uint32_t, std::uint32_t> lists_with(std::size_t cls, std::uint32_t fused) const {
    return {first_list_[cls][fused], first_list_[cls][fused + 1]};
  }
  /// Classes in the order in which they are combined: few different lists first.
  const std::vector<std::size_t>& order() const { return order_; }

  /// Use that `min_usage` demands of each demanding dimension.
  const std::vector<double>& wanted_usage() const { return wanted_usage_; }
  const Usage& usage(std::uint32_t number) const { return usages_[number]; }
  /// Number of the use of nothing.
  std::uint32_t no_usage() const { return no_usage_; }
  /// Number of the product of two uses, or -1 where a fanout has not so many instances.
  std::int64_t combine_usage(std::uint32_t a, std::uint32_t b);
  /// Number of the use that makes `target` of `used`, or -1 where there is none or nobody asked
  /// yet.
  std::int64_t usage_left(std::uint32_t used, std::uint32_t target) const;

  const Stage& stage(std::size_t depth) const { return stages_[depth]; }
  /// Adds each state of a block of the class at `depth` − 1 in the order to a partial assignment.
  void extend(std::size_t depth, const double* outer, const StateBlock& block,
              Extensions* result) const;
  /// The same with the roomy states of any list, needed or not.
  void extend_roomy(std::size_t depth, const double* outer, std::uint32_t list, Extensions* result);
  /// Rows of a full assignment that no extension of an outer one by a block of the last class is
  /// below.
  void least_rows(const double* outer, const StateBlock& block, double* rows) const;
  /// Whether rows of a full assignment meet every limit.
  bool fits(const double* rows) const;
  /// Number s of `extend`'s results as a partial assignment of that stage (`width` numbers).
  void gather(std::size_t depth, const Extensions& extensions, std::size_t s, double* point) const;
  /// Points as criteria of which smaller is better in each.
  PointSet criteria(std::size_t depth, const PointSet& points) const;

  std::size_t front_width() const { return 2 + n_reservations_; }
  /// Rows of a full assignment → energy, latency, segments, persistent reservations.
  void finish(const double* rows, double* point) const;

  /// Even states of a list that no other of these beats in every limit: capacity and fanout ask for
  /// no more.
  const StateBlock& roomy(std::size_t cls, std::uint32_t list);
  /// A front's point → a pmapping's values (PmappingGroup), segments added up by level.
  void collapse(const std::vector<std::size_t>& segment_levels, const double* point,
                std::size_t levels, double* value) const;

 private:
  using Ranges = std::vector<std::pair<double, double>>;  // least and largest value, per column
  void find_demanding();
  void make_lists(std::size_t cls);
  std::uint32_t number_usage(const Usage& usage);
  void prune_needed_lists(const std::vector<std::uint32_t>& rows);
  std::vector<std::uint32_t> front_of(std::size_t cls, const std::vector<std::uint32_t>& states,
                                      bool limits_only) const;
  void number_contents(std::size_t cls);
  void make_stages();
  std::vector<Stage> stages_within(const std::vector<Ranges>& ranges) const;
  void extend(const Stage& stage, const double* outer, const StateBlock& block,
              Extensions* result) const;
  void make_stage(std::size_t depth, const std::vector<bool>& before,
                  const std::vector<Ranges>& ranges, std::vector<Stage>* stages) const;
  void find_least(const Stage& stage, Extensions* result) const;
  void fill_columns(std::size_t cls, StateBlock* block) const;
  std::pair<double, double> range_of(std::size_t cls, std::size_t column) const;
  double column_value(std::size_t cls, std::int32_t column, std::uint32_t state) const {
    return program_.columns[cls][static_cast<std::size_t>(column)]->values[state];
  }

  const TileSearchContext& context_;
  const EinsumShape& shape_;
  const Template& templ_;
  const std::vector<VariableClass>& classes_;
  const std::vector<std::shared_ptr<StateTable>>& tables_;
  const SimpleProgram& program_;
  std::vector<std::vector<StateList>> lists_;           // per class, ascending by fused number
  std::vector<std::vector<std::uint32_t>> first_list_;  // per class and fused number
  std::vector<std::vector<std::optional<StateBlock>>> roomy_;  // per class, list
  std::vector<Usage> usages_;                                  // by number
  std::unordered_map<Usage, std::uint32_t, KeyHash> usage_number_;
  std::uint32_t no_usage_ = 0;
  std::vector<std::size_t> order_;
  struct Demanding {
    ComponentId component;
    std::uint32_t dimension;
    std::int64_t fanout;
  };
  std::vector<Demanding> demanding_;
  std::vector<double> wanted_usage_;
  std::vector<Stage> stages_, roomy_stages_;  // bounds of needed lists, of all
  std::vector<std::vector<RowTerm>> uses_;    // per product: rows and coefficients
  std::size_t n_reservations_ = 0;
  mutable std::vector<double> least_;  // scratch of extend(); one search, one thread
  mutable Usage usage_;                // scratch
};

}  // namespace sluice::fused
