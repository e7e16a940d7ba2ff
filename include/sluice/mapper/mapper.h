#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "sluice/mapper/constraints.h"
#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/cost.h"

namespace sluice {

inline constexpr int kUnlimitedLoops = std::numeric_limits<int>::max();

enum class Objective : std::uint8_t { kEnergy, kLatency, kEdp };

/// Every pruning rule of the fused mapper can be switched off; the optimum must not move.
struct PruningRules {
  bool dominance = true;              ///< Pareto pruning of pmappings and joined partial mappings
  bool convex_hull = true;            ///< keep only supported (E, L) points (single objective only)
  bool bounds = true;                 ///< drop what cannot beat a known mapping
  bool isomorphic_einsums = true;     ///< explore equal Einsums once
  bool reservation_relevance = true;  ///< drop reservations that cannot bind
  bool dead_ends = true;              ///< price only exchanges that can be part of a whole mapping
  bool graph_first = true;            ///< price along paths of a graph of bounds, if it is short
  bool held_bounds = true;            ///< bound completions by what earlier Einsums hold
  bool redundant_templates = true;    ///< canonical storage orders and loop placements only
  bool chains = true;                 ///< chains: bounds, starts of walks, proofs
};

/// Whether the outermost loop over a variable may have a smaller last tile (docs/mappers.md):
/// never, if it is no fused loop, or always.
enum class ImperfectFactors : std::uint8_t { kNone, kUnfused, kAll };

/// What to search for, and how far. Every field is an option of `sluice map`.
struct MapperOptions {
  std::string mapper = "fused";  ///< which method; for whoever picks one, methods ignore it
  std::vector<Objective> objectives = {Objective::kEdp};  ///< several: a Pareto front of them
  LatencyPolicy policy = LatencyPolicy::kOverlap;  ///< how latencies are counted; see evaluate()
  LatencyPolicies policies = standard_latency_policies();  ///< that `policy` is chosen from by name
  bool resource_usage = false;  ///< with several objectives: peak occupancies are criteria too
  int max_fused_loops = kUnlimitedLoops;  ///< that an Einsum may share with others
  int max_fused_loops_per_rank = 1;
  bool explore_einsum_orders = false;
  ImperfectFactors imperfect_factors = ImperfectFactors::kNone;
  bool row_fusion = false;  ///< through `s*q + r`: hand rows on step by step (docs/mappers.md)
  /// Of an Einsum that `fused` tries; of more it draws some, which proves nothing.
  int max_templates = 100'000;
  int top = 1;
  double epsilon = 0;  ///< one objective: so much worse than the optimum (relative) is good enough
  int threads = 1;
  std::uint64_t seed = 0;
  std::optional<double> budget_seconds;
  /// Memory that the whole process may hold, in bytes: then a search ends like one out of time.
  std::optional<double> memory_bytes;
  std::optional<double> budget_evaluations;  ///< whole mappings priced; `fused` has no such budget
  PruningRules pruning;
  Constraints constraints;
};

/// Whether one mapping is asked for, the best by one objective: of fronts, and of several, a bound
/// of the first objective proves nothing.
inline bool asks_for_one(const MapperOptions& options) {
  return options.objectives.size() == 1 && options.top == 1 && !options.resource_usage;
}

/// Whether a front is asked for.
inline bool asks_for_front(const MapperOptions& options) {
  return options.objectives.size() > 1 || options.resource_usage;
}

/// Whether somebody asked for an end; `cancel` may be null.
inline bool is_cancelled(const std::atomic<bool>* cancel) {
  return cancel != nullptr && cancel->load();
}

class Incumbent;
class Leftovers;

/// How a search is watched and stopped.
struct MapperControl {
  std::function<void(const std::string& phase, double fraction)> progress;  ///< may be empty
  const std::atomic<bool>* cancel = nullptr;
  /// What a mapping in hand costs in the first objective: what cannot beat it need not be looked
  /// at. Where nothing is left then, the outcome is a NoMapping with `is_beaten`.
  std::optional<double> known_objective;
  /// What an earlier search of the same request knew that no mapping's first objective is below.
  double known_bound = 0;
  /// What other searches on the same problem have found so far (sluice/mapper/incumbent.h); may be
  /// null. A search offers what it finds, and need not look at what cannot beat the incumbent: it
  /// returns that one where nothing does.
  Incumbent* incumbent = nullptr;
  /// Whether walks run beside the search and offer what they find to the incumbent. A search with
  /// more to do than its budget of time allows leaves the rest of that to them: it returns a
  /// cancelled result that nobody cancelled.
  bool has_walks = false;
  /// Whether another mapper goes on where this one ends before its time, with no mapping and no
  /// proof that there is none: what walks have in hand is left to that one, with the rest of the
  /// time.
  bool has_next = false;
  /// The budget (s) of which this search has a part, for messages; none: its own.
  std::optional<double> whole_budget_seconds = std::nullopt;
  /// Is told what no mapping's first objective is below, each time a search knows better: by any of
  /// its threads, of run_mapper() one at a time; may be empty.
  std::function<void(double bound)> bound;
  /// Whether that is what the search is for: to know a little better soon is worth more than a
  /// mapping.
  bool asks_for_bound = false;
  /// Where a cancelled search leaves what it need not free before it answers; may be null.
  Leftovers* leftovers = nullptr;
};

/// `kGap`: no proof of the mapping found, but a bound that no mapping of the space beats.
enum class GuaranteeKind : std::uint8_t { kOptimal, kWithinEpsilon, kGap, kNone };

/// A kind of mapping that a search space has none of.
struct SpaceLimit {
  std::string name;  ///< `incremental nodes`
  std::string text;  ///< in a sentence
  friend bool operator==(const SpaceLimit&, const SpaceLimit&) = default;
};

struct Guarantee {
  GuaranteeKind kind = GuaranteeKind::kNone;
  std::string space;                   ///< the space it is optimal in, in words
  std::vector<SpaceLimit> leaves_out;  ///< what is not in that space (sluice/mapper/search_space.h)
  int orders_explored = 1;             ///< of the Einsums, to their end
  int orders_wanted = 1;
  double epsilon = 0;
  double bound =
      0;  ///< kGap: what no mapping's objective (the first) is below, see objective_bound
};

/// Whether the search proved its mapping, be it within epsilon.
inline bool is_proof(const Guarantee& guarantee) {
  return guarantee.kind == GuaranteeKind::kOptimal ||
         guarantee.kind == GuaranteeKind::kWithinEpsilon;
}

/// The best objective found by then; of several objectives, the first.
struct ConvergencePoint {
  double evaluations = 0;  ///< mappings priced
  double seconds = 0;      ///< since the search began
  double objective = 0;    ///< J, s or J·s
};

struct SearchStatistics {
  double seconds = 0;
  int threads = 1;
  double mappings_considered = 0;  ///< size of the space that was covered
  double mappings_evaluated = 0;   ///< tile-shape assignments actually priced
  double pmappings_kept = 0;
  /// Before its end: `budget`, `memory`, `templates` (too many to try all); empty: by itself.
  std::string ended_by;
  std::size_t distinct_einsums = 0;  ///< Einsums that were explored; equal ones are explored once
  /// One point per improvement, and the end; empty for a mapper that does not search step by step.
  std::vector<ConvergencePoint> convergence;
};

struct MappedResult {
  Mapping mapping;
  Cost cost;  ///< evaluate() under the policy, never the mapper's compiled expressions
};

struct MapperResult {
  std::vector<MappedResult> mappings;  ///< best first; several for fronts and top > 1
  Guarantee guarantee;
  SearchStatistics search;
  bool cancelled = false;
};

/// An honest no: why nothing is legal, and the nearest change that would make it so.
struct NoMapping {
  std::string reason;
  std::string nearest_relaxation;
  std::optional<ComponentId> memory;
  std::optional<EinsumId> einsum;
  std::vector<TensorId> tensors;
  double excess_bits = 0;
  bool proven = true;      ///< false: a search that may have missed what is legal
  bool is_beaten = false;  ///< there may be mappings, but none beats MapperControl::known_objective
};

/// A part of what was asked for that a mapper's own prices leave out: its search would go for
/// something else than what evaluate() says in the end.
struct UnpricedPart {
  std::string what;     ///< `networks that cost energy or time`
  std::string where;    ///< the component, or the option, that has it
  std::string without;  ///< how to ask for a search without it: `hop_energy: 0 and no latencies`
};

/// A search method (how to write one: docs/extending.md). Implementations are values without shared
/// state; `map` may be called repeatedly, and its result does not depend on `options.threads`. A
/// search that was cancelled returns a result with `cancelled`, never a NoMapping: that one is an
/// answer.
class Mapper {
 public:
  virtual ~Mapper() = default;
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;  ///< in a sentence, for lists
  /// Whether it searches what `imperfect_factors` and `row_fusion` add to the space.
  virtual bool knows_larger_spaces() const { return false; }
  /// Whether walks run beside it (run_mapper): it has its first mapping late, takes over what
  /// others offer, and its space has what the sampling mappers draw.
  virtual bool wants_walks() const { return false; }
  /// Whether its space has collectives, and pipelined and parallel splits.
  virtual bool makes_collectives() const { return false; }
  virtual bool makes_concurrent_splits() const { return false; }
  /// Whether it tries nodes that keep their tile between visits (`incremental`).
  virtual bool makes_incremental_nodes() const { return false; }
  /// Whether a part of an action costs its part in its prices, also in memories where it costs as
  /// much as a whole one (`partial_actions: whole`).
  virtual bool prices_by_parts() const { return false; }
  /// What it cannot price; nothing where it prices all that the model does. It refuses to search
  /// where there is something (refused_request).
  virtual std::optional<UnpricedPart> unpriced(const BoundProblem& problem,
                                               const MapperOptions& options) const {
    (void)problem, (void)options;
    return std::nullopt;
  }
  virtual tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                                    const MapperOptions& options,
                                                    const MapperControl& control) const = 0;
};

}  // namespace sluice
