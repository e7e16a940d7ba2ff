#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mapper/common/key_hash.h"
#include "mapper/fused/price/partial_sums.h"
#include "mapper/space/pmapping.h"
#include "spatial_choices.h"
#include "tile_search.h"

namespace sluice::fused {

/// States of one class that share their fused loops and their use of demanding fanouts.
struct StateList {
  std::uint32_t usage = 0;                    ///< number of its use of the demanding fanouts
  std::uint32_t content = 0;                  ///< lists with blocks and equal numbers behave alike
  const StateGroups::Group* group = nullptr;  ///< all of its states
  const StateBlock* block = nullptr;          ///< those that no other beats; null: no row needs it
};

/// The fanouts by whose use the tile shapes of a template are selected, and the use that
/// `min_usage` demands of each.
struct DemandingFanouts {
  std::vector<FanoutDimension> fanouts;
  std::vector<double> wanted;
};
DemandingFanouts demanding_fanouts(const TileSearchContext& context, const Template& templ);

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
    return {groups_[cls]->first[fused], groups_[cls]->first[fused + 1]};
  }
  /// Fused loops of a list's states with more than one trip.
  int fused_loops(std::size_t cls, std::uint32_t list) const;
  /// Classes in the order in which they are combined: few different lists first.
  const std::vector<std::size_t>& order() const { return order_; }

  /// Use that `min_usage` demands of each demanding fanout.
  const std::vector<double>& wanted_usage() const { return demanding_.wanted; }
  const Usage& usage(std::uint32_t number) const { return usages_[number]; }
  /// Numbers of the uses that states of a class make.
  const std::vector<std::uint32_t>& usages_of(std::size_t cls) const { return usages_of_[cls]; }
  /// Number of the use of nothing.
  std::uint32_t no_usage() const { return no_usage_; }
  /// Number of the product of two uses, or -1 where a fanout has not so many instances.
  std::int64_t combine_usage(std::uint32_t a, std::uint32_t b);
  /// Number of the use that makes `target` of `used`, or -1 where there is none or nobody asked
  /// yet.
  std::int64_t usage_left(std::uint32_t used, std::uint32_t target) const;

  /// Sums and products of partial assignments in the order of classes, with bounds from the lists
  /// that are needed.
  const PartialSums& sums() const { return *sums_; }
  /// PartialSums::extend with the roomy states of any list, needed or not.
  void extend_roomy(std::size_t depth, const double* outer, std::uint32_t list, Extensions* result);

  /// Even states of a list that no other of these beats in every limit: capacity and fanout ask for
  /// no more.
  const StateBlock& roomy(std::size_t cls, std::uint32_t list);

 private:
  void make_lists(std::size_t cls);
  std::uint32_t number_usage(const Usage& usage);
  void prune_needed_lists(const std::vector<std::uint32_t>& rows);
  /// What states of a class are compared by: sums over its columns.
  struct Criteria {
    std::vector<std::vector<std::pair<const Column*, double>>> sums;
    std::size_t first_open = 0;     ///< from here on: products that others still multiply
    std::vector<std::int64_t> key;  ///< of FrontMemo
  };
  Criteria criteria_of(std::size_t cls, bool limits_only) const;
  FrontMemo::States front_of(std::size_t cls, const FrontMemo::Numbered& states, bool limits_only);
  void number_contents(std::size_t cls);
  void make_sums();
  void fill_columns(std::size_t cls, StateBlock* block) const;
  std::pair<double, double> range_of(std::size_t cls, std::size_t column) const;

  const TileSearchContext& context_;
  const EinsumShape& shape_;
  const Template& templ_;
  const std::vector<VariableClass>& classes_;
  const std::vector<std::shared_ptr<StateTable>>& tables_;
  const SimpleProgram& program_;
  const std::vector<std::vector<RowTerm>> uses_;            // per product: rows and coefficients
  std::vector<std::shared_ptr<const StateGroups>> groups_;  // per class
  std::vector<std::vector<StateList>> lists_;               // per class, one for each group
  std::vector<std::vector<std::uint32_t>> usages_of_;       // per class
  std::deque<StateBlock> blocks_;                           // of lists that are needed
  std::vector<std::unordered_map<std::uint32_t, StateBlock>> roomy_;  // per class, by list
  std::vector<std::array<std::optional<Criteria>, 2>> criteria_;      // per class; limits only
  std::vector<Usage> usages_;                                         // by number
  std::unordered_map<Usage, std::uint32_t, KeyHash> usage_number_;
  std::uint32_t no_usage_ = 0;
  std::vector<std::size_t> order_;
  const DemandingFanouts demanding_;
  std::optional<PartialSums> sums_, roomy_sums_;  // bounds of needed lists, of all
  mutable Usage usage_;                           // scratch; one search, one thread
};

}  // namespace sluice::fused
