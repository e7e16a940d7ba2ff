#include "mapper/request/search_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "mapper/common/first_memory.h"
#include "mapper/common/network_cost.h"
#include "mapper/request/einsum_orders.h"
#include "mapper/request/windows.h"
#include "sluice/arch/outermost_memory.h"
#include "workload/recurrence_cycles.h"

namespace sluice {
namespace {

enum class In { kExchanges, kGroups, kBoth };  ///< the spaces that leave it out

struct Row {
  In spaces;
  const char* name;
  const char* text;
  bool (*applies)(const BoundProblem&, const MapperOptions&);
};

bool always(const BoundProblem&, const MapperOptions&) { return true; }
bool has_several_einsums(const BoundProblem& problem, const MapperOptions&) {
  return problem.workload.einsums.size() > 1;
}
bool has_tolls(const BoundProblem& problem) {
  const auto& components = problem.arch.components;
  return std::any_of(components.begin(), components.end(),
                     [](const Component& own) { return own.is_toll(); });
}
bool copies_beside_tolls(const BoundProblem& problem, const MapperOptions&) {
  const auto& einsums = problem.workload.einsums;
  return has_tolls(problem) &&
         std::any_of(einsums.begin(), einsums.end(),
                     [](const Einsum& einsum) { return einsum.is_copy_operation; });
}
bool steps_together(const BoundProblem& problem, const MapperOptions& options) {
  return (has_tolls(problem) || has_several_einsums(problem, options)) &&
         has_recurrence(problem.roles);
}
bool steps_in_turn(const BoundProblem& problem, const MapperOptions&) {
  const auto cycles = recurrence_cycles(problem.workload, problem.roles);
  return std::any_of(cycles.begin(), cycles.end(),
                     [](const RecurrenceCycle& cycle) { return cycle.first < cycle.last; });
}
bool has_windows(const BoundProblem& problem, const MapperOptions&) {
  return std::any_of(problem.einsums.begin(), problem.einsums.end(),
                     [](const auto& einsum) { return moves_windows(einsum.relevance); });
}
bool keeps_the_order(const BoundProblem& problem, const MapperOptions& options) {
  return has_several_einsums(problem, options) &&
         (!options.explore_einsum_orders || has_recurrence(problem.roles));
}
bool has_perfect_factors(const BoundProblem&, const MapperOptions& options) {
  return options.imperfect_factors == ImperfectFactors::kNone;
}
bool has_imperfect_factors(const BoundProblem& problem, const MapperOptions& options) {
  return !has_perfect_factors(problem, options);
}
bool keeps_rows_apart(const BoundProblem& problem, const MapperOptions& options) {
  return has_several_einsums(problem, options) && !options.row_fusion;
}
bool hands_rows_on(const BoundProblem&, const MapperOptions& options) { return options.row_fusion; }
bool wants_usage(const BoundProblem& problem, const MapperOptions&) {
  return std::any_of(problem.arch.components.begin(), problem.arch.components.end(),
                     [](const Component& component) {
                       return std::any_of(component.spatial.begin(), component.spatial.end(),
                                          [](const auto& d) { return d.min_usage.has_value(); });
                     });
}
bool has_costing_networks(const BoundProblem& problem, const MapperOptions&) {
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const auto& einsum) {
    return std::any_of(einsum.computes.begin(), einsum.computes.end(),
                       [&](const auto& compute) { return has_routes(problem, compute); });
  });
}
bool waits_by_steps(const BoundProblem& problem, const MapperOptions&) {
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const auto& einsum) {
    return std::any_of(einsum.computes.begin(), einsum.computes.end(), [&](const auto& compute) {
      return sluice::waits_by_steps(problem, compute);
    });
  });
}
bool has_arrays(const BoundProblem& problem, const MapperOptions&) {
  return std::any_of(problem.einsums.begin(), problem.einsums.end(), [&](const auto& einsum) {
    return std::any_of(einsum.computes.begin(), einsum.computes.end(), [&](const auto& compute) {
      return array_above(problem, compute).has_value();
    });
  });
}
bool asks_for_large_tiles(const BoundProblem&, const MapperOptions& options) {
  return std::any_of(options.constraints.tiles.begin(), options.constraints.tiles.end(),
                     [](const TileConstraint& tile) { return tile.minimum > 1; });
}
bool has_states(const BoundProblem& problem, const MapperOptions&) {
  return has_recurrence(problem.roles);
}
bool may_back_further_in(const BoundProblem& problem, const MapperOptions&) {
  return !keeps_all_outermost(problem);
}
bool has_ports(const BoundProblem& problem, const MapperOptions&) {
  const auto memory = outermost_memory(problem.arch);
  return memory && problem.einsums.front().components[memory->index()].instances > 1;
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
      {In::kExchanges, "incremental nodes",
       "nodes that keep their tile between visits (`incremental: true`, Timeloop's residency), and "
       "so the refetches that this saves",
       always},
      {In::kGroups, "other incremental nodes",
       "nodes that keep their tile between visits (`incremental: true`, Timeloop's residency), but "
       "for some that are tried where the space is too large to be searched as a whole",
       always},
      {In::kExchanges, "collectives", "`!Collective` nodes, and rotating shares (`shared_by`)",
       always},
      {In::kGroups, "other collectives",
       "collectives other than an `all_reduce` at the home of a group, over dimensions that no "
       "other variable shares; rotating shares (`shared_by`)",
       has_several_einsums},
      {In::kExchanges, "concurrent splits",
       "pipelined and parallel splits, with their regions (`over`, `shares`), forwarded tensors "
       "and resident nodes",
       has_several_einsums},
      {In::kGroups, "regions",
       "splits that give each child its own instances (`over`, `shares`), forward tensors, or "
       "have resident nodes",
       has_several_einsums},
      {In::kBoth, "row fusion",
       "Einsums that consume windows row by row as their producer makes them (`--row-fusion`, "
       "with `fused` and `exhaustive`)",
       keeps_rows_apart},
      {In::kExchanges, "other row fusion",
       "rows passed on to several readers, along several variables, along one of a window of two "
       "dimensions beside a loop along the other, over a spatial loop, or in more than 4,095 steps "
       "or rows; mappings that fit only because a tensor's border has no corners",
       hands_rows_on},
      {In::kBoth, "other Einsum orders",
       "orders of the Einsums other than as written (`--einsum-orders explore`; never in a "
       "recurrence)",
       keeps_the_order},
      {In::kExchanges, "different backing",
       "a shared tensor that its users take from different memories or below different loops; "
       "tensors held below loops while Einsums run that no tensor ties to these loops",
       has_several_einsums},
      {In::kGroups, "other groups",
       "groups of Einsums that are not consecutive, that produce a tensor which others need too, "
       "or that exchange tensors in several memories, or that make a part of a tensor which "
       "another "
       "of them makes or reads; frames within frames",
       has_several_einsums},
      {In::kGroups, "splits without a common memory",
       "pipelined and parallel splits of Einsums whose computes have no memory in common but the "
       "outermost one",
       has_several_einsums},
      {In::kGroups, "states of one Einsum",
       "the state of a recurrence further in than the outermost memory, where the Einsum that "
       "makes and reads it is alone in its group",
       has_states},
      {In::kGroups, "tensors backed further in",
       "inputs and results of the workload, and what groups exchange, in a memory further in "
       "alone, "
       "where the outermost one need not hold them",
       may_back_further_in},
      {In::kGroups, "ports",
       "loops over several instances of the outermost memory; frames begin below its nodes",
       has_ports},
      {In::kExchanges, "other node orders",
       "loops above persistent tensors; temporal loops above nodes of the outermost memory; any "
       "loops between these nodes; nodes of an inner memory above one further out (unless "
       "`force_memory_hierarchy_order: false`)",
       always},
      {In::kGroups, "other node orders",
       "nodes of an inner memory above one further out; tensors of one node in other orders; "
       "more than one place for temporal loops at a memory (its nodes stand above or below all "
       "of them)",
       always},
      {In::kBoth, "several nodes per tensor",
       "more than one node of a memory for a tensor on an Einsum's path, so also refetching what "
       "is there",
       always},
      {In::kBoth, "several loops per variable",
       "more than one temporal loop over a variable between two nodes, or more than one spatial "
       "loop over it on a dimension; spatial loops further in than their component allows; above a "
       "shared tensor, a temporal loop right below a spatial one over the same variable",
       always},
      {In::kBoth, "windows above their loop",
       "where a constraint gives tiles a lower limit: nodes written above the loop that they slide "
       "over, whose tile counts as it is above that loop; they stand below it",
       asks_for_large_tiles},
      {In::kExchanges, "nodes held back",
       "where the routers of a network take time: nodes that nothing keeps from sinking through a "
       "loop but another node right below them, which would sink through it as well",
       waits_by_steps},
      {In::kGroups, "sliding nodes",
       "nodes that slide over a loop (`sliding: true`): of a window they fetch only what is new",
       has_windows},
      {In::kExchanges, "loops above steps",
       "in a recurrence of several Einsums that exchange nothing below the loop over its steps: "
       "loops above that one",
       steps_in_turn},
      {In::kExchanges, "copies above steps",
       "in a recurrence: nodes above the loop over its steps of tolls that its states pass and "
       "that could stand below it, and, of several Einsums, of memories that hold copies of what "
       "these exchange",
       steps_together},
      {In::kBoth, "tolls of copies",
       "nodes of tolls for copies (`is_copy_operation`): what these move passes no toll, and costs "
       "nothing there",
       copies_beside_tolls},
      {In::kExchanges, "folds of arrays",
       "where arrays take cycles to fill and drain: temporal loops right above those over the "
       "array, which stand below them as steps of a fold; loops over an array above a shared "
       "tensor "
       "that is backed in it",
       has_arrays},
      {In::kExchanges, "orders of routes",
       "where networks cost something: spatial loops over one dimension in another order than the "
       "Einsum's variables, or several of them above a shared tensor",
       has_costing_networks},
      {In::kGroups, "loops within arrays",
       "where arrays take cycles to fill and drain: temporal loops between an array and a memory "
       "inside it",
       has_arrays},
      {In::kGroups, "orders of routes",
       "where networks cost something: spatial loops over one dimension in another order than the "
       "Einsum's variables",
       has_costing_networks},
      {In::kExchanges, "shared copies",
       "nodes above a shared loop that serve several Einsums without backing the tensor for them",
       has_several_einsums},
      {In::kExchanges, "low utilization",
       "tile shapes that use a fanout less than others of the same placement, where `min_usage` "
       "asks",
       wants_usage},
      {In::kBoth, "recomputation", "mappings that compute a value more than once", always},
      {In::kBoth, "uneven tiles",
       "tiles that do not divide the enclosing tile (`--imperfect-factors`, with `fused`, "
       "`exhaustive` and `compound`)",
       has_perfect_factors},
      {In::kGroups, "uneven frames", "uneven tiles of loops that stand above several Einsums",
       has_imperfect_factors},
      {In::kBoth, "other uneven tiles",
       "uneven tiles of loops other than the outermost over a variable (those inside have only"
       " what is left of its last tile), or whose next tile inside has other prime factors "
       "than the size, the machine's fanouts and 2; any but the smallest tile of equally many "
       "steps; uneven tiles of variables that share an index with others, or have more than "
       "2^30 values",
       has_imperfect_factors},
  };
  return rows;
}

bool concerns(In spaces, SearchSpace space) {
  return spaces == In::kBoth || (spaces == In::kExchanges) == (space == SearchSpace::kExchanges);
}

}  // namespace

std::vector<SpaceLimit> left_out(SearchSpace space, const BoundProblem& problem,
                                 const MapperOptions& options) {
  std::vector<SpaceLimit> limits;
  for (const Row& row : table())
    if (concerns(row.spaces, space) && row.applies(problem, options))
      limits.push_back({row.name, row.text});
  return limits;
}

std::string names_of(const std::vector<SpaceLimit>& limits) {
  std::string names;
  for (const SpaceLimit& limit : limits) names += (names.empty() ? "" : ", ") + limit.name;
  return names;
}

std::string space_limits_as_markdown() {
  std::string text = "| left out | what that is | `compound` | all others |\n|---|---|---|---|\n";
  for (const Row& row : table())
    text += fmt::format("| {} | {} | {} | {} |\n", row.name, row.text,
                        concerns(row.spaces, SearchSpace::kGroups) ? "x" : "",
                        concerns(row.spaces, SearchSpace::kExchanges) ? "x" : "");
  return text;
}

}  // namespace sluice
