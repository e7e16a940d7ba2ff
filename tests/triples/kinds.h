#pragma once

#include <string>
#include <vector>

namespace sluice::triples {

/// Kinds of input that are drawn beside the plain ones, mixed with everything else.
struct Kinds {
  bool windowed_outputs = false;  ///< `dX[X:2*p+r]`
  bool ports = false;             ///< several instances of the outermost memory, loops over them
  bool leakage = false;           ///< with and without power gating, of all components
  bool many_loops = false;        ///< a fourth memory, Einsums of seven variables
  bool outer_cycles = false;      ///< recurrences whose tensors all live outside the steps
  bool network_ports = false;     ///< `ports` of networks
  bool greedy_trees = false;      ///< `multicast: greedy_tree`
  bool forwards = false;          ///< more splits that forward
  bool forwards_by_channels = false;  ///< readers need the parts of several instances of the maker
  bool forwards_by_rows = false;      ///< instances of both have parts of one rank
  bool forwards_by_trees = false;     ///< several read the same, beside `multicast: greedy_tree`
  bool nested_regions = false;        ///< regions in regions of the same dimension
  bool rotations = false;             ///< tiles that peers share (`shared_by`)
  bool several_makers = false;        ///< Einsums that make disjoint boxes of one tensor
  bool whole_actions = false;         ///< `partial_actions: whole`, of actions of several bits
};
inline constexpr Kinds kAllKinds = {true, true, true, true, true, true, true, true,
                                    true, true, true, true, true, true, true};
/// What the tests draw.
inline constexpr Kinds kTestedKinds = {.windowed_outputs = true,
                                       .leakage = true,
                                       .many_loops = true,
                                       .network_ports = true,
                                       .greedy_trees = true,
                                       .forwards = true,
                                       .forwards_by_channels = true,
                                       .forwards_by_rows = true,
                                       .forwards_by_trees = true,
                                       .nested_regions = true,
                                       .rotations = true,
                                       .several_makers = true,
                                       .whole_actions = true};

struct NamedKind {
  const char* name;
  bool Kinds::*drawn;
};
/// As in `sluice_fuzz_triples --kinds`.
const std::vector<NamedKind>& named_kinds();

struct Triple;
/// The kinds that a triple is of.
Kinds kinds_of(const Triple& triple);

}  // namespace sluice::triples
