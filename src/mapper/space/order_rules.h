#pragma once

#include <cstdint>
#include <vector>

#include "template.h"
#include "variable_sets.h"

namespace sluice::fused {

/// The temporal loops over `variables` stand in that order in the gaps from `first_gap` to
/// `last_gap`.
struct OrderRule {
  std::vector<std::uint32_t> variables;  ///< local, outermost first
  std::uint32_t first_gap = 0, last_gap = 0;
  bool binds_spatial = false;  ///< spatial loops over the last one, too, stand below the others
  bool covers(std::uint32_t gap) const { return first_gap <= gap && gap <= last_gap; }
};

/// What constraints and recurrences ask of the order of an Einsum's loops. `temporal`: the
/// variables that have a temporal loop in the gap.
class OrderRules {
 public:
  OrderRules(std::vector<OrderRule> rules, std::size_t n_variables)
      : rules_(std::move(rules)), n_variables_(n_variables) {}

  /// The loop over `variable` stands first of all in `gap`, and nowhere else; what rules put above
  /// it goes to `above`: it may have no loops where they hold.
  void put_first(std::uint32_t variable, std::uint32_t gap, std::vector<OrderRule>* above);
  void add(OrderRule rule) { rules_.push_back(std::move(rule)); }
  std::size_t size() const { return rules_.size(); }
  const OrderRule& operator[](std::size_t rule) const { return rules_[rule]; }
  /// The loop over `variable` stands directly above the node of `gap`, and so last in the gaps of
  /// rules that end there: what they put below it has no loops there.
  void end_with(std::uint32_t variable, std::uint32_t gap, std::vector<Variables>* temporal) const;
  /// Whether some rule concerns the gap.
  bool cover(std::uint32_t gap) const;
  /// Whether no rule puts a loop of the gap above one over `variable`.
  bool may_come_first(std::uint32_t gap, std::size_t variable, Variables temporal) const;
  /// Puts the loops of a gap into the order that the rules ask for; false if they contradict.
  bool sort(std::uint32_t gap, Variables temporal, std::vector<LoopPlace>* places) const;
  /// Appends the template with every way of standing free loops between ordered ones: blocks in a
  /// fixed order, in each of which loops may be permuted to match another Einsum's. `temporal` per
  /// gap.
  void append_blocks(const std::vector<Variables>& temporal, Template templ,
                     std::vector<Template>* templates) const;

 private:
  bool is_ruled(std::uint32_t gap, std::size_t variable) const;
  std::uint32_t depth_in(std::uint32_t gap, std::size_t variable, Variables temporal,
                         std::size_t guard) const;
  std::uint32_t depth_in(std::uint32_t gap, std::size_t variable, Variables temporal) const {
    return depth_in(gap, variable, temporal, n_variables_);
  }
  void choose_blocks(std::size_t place, const std::vector<Variables>& temporal,
                     const Template& templ, std::vector<Template>* templates) const;

  std::vector<OrderRule> rules_;
  std::size_t n_variables_;
};

}  // namespace sluice::fused
