#pragma once

#include <string>
#include <vector>

#include "sluice/support/registry.h"

namespace sluice {

struct BoundProblem;
struct Cost;
struct CountedNests;
struct Mapping;

/// A share of the latency: `fill`, `compute`, `stall`, `drain` under `pipeline`; `compute`, `simd`,
/// `compulsory_stall`, `optional_stall`, `collectives`, `conflicts` under `staged`.
struct LatencyPart {
  std::string name;
  double seconds = 0;
  friend bool operator==(const LatencyPart&, const LatencyPart&) = default;
};

/// Where the time goes; adds up to the latency. Empty under `overlap`.
using LatencyBreakdown = std::vector<LatencyPart>;

/// A legal mapping whose values are counted and whose components' busy times are known: what a
/// policy makes a latency of.
class CountedMapping {
 public:
  CountedMapping(const BoundProblem& problem, const Mapping& mapping, const CountedNests& nests)
      : problem_(problem), mapping_(mapping), nests_(nests) {}

  const BoundProblem& problem() const { return problem_; }
  const Mapping& mapping() const { return mapping_; }
  /// The latency under `overlap`, seconds.
  double overlap_s() const;
  /// The whole account under `overlap`: `latency` has what each component is busy for each Einsum,
  /// repetitions included, `energy` the values of each memory, `networks` and `collectives` what
  /// is sent. Made anew by each call.
  Cost overlap_account() const;
  /// The counts themselves, of which no public header knows more: for the policies of the model.
  const CountedNests& nests() const { return nests_; }

 private:
  const BoundProblem& problem_;
  const Mapping& mapping_;
  const CountedNests& nests_;
};

/// How busy times become latency: one policy (docs/model.md, "Energy and time"; how to write one:
/// docs/extending.md). Implementations have no state that changes; threads share them.
class LatencyMethod {
 public:
  virtual ~LatencyMethod() = default;
  virtual std::string name() const = 0;
  /// Whether it has times for collectives, and for pipelined and parallel splits. A mapping with a
  /// node that it has none for cannot be priced: ViolationKind::kUnsupportedNode.
  virtual bool prices_collectives() const { return true; }
  virtual bool prices_concurrent_splits() const { return true; }
  /// The latency, part by part, each at least 0; nothing: that of `overlap`. Their sum must not be
  /// below what CostBounds says of every mapping: mappers trust in it.
  virtual LatencyBreakdown latency(const CountedMapping& counted) const = 0;
};

/// Which policy: a LatencyMethod by reference. The method must outlive it (a registry that holds
/// it keeps it alive).
class LatencyPolicy {
 public:
  constexpr LatencyPolicy(const LatencyMethod& method) : method_(&method) {}
  LatencyPolicy(const LatencyMethod&&) = delete;

  static const LatencyPolicy kOverlap;   ///< an Einsum takes its slowest component's time; Einsums
                                         ///< add up
  static const LatencyPolicy kPipeline;  ///< tile by tile: fills, compute and drains follow each
                                         ///< other through the tile buffers
  static const LatencyPolicy kStaged;    ///< stage by stage, with compulsory and optional stalls
                                         ///< (COMET, eq. 1 to 7)

  const LatencyMethod& method() const { return *method_; }
  std::string name() const { return method_->name(); }
  friend bool operator==(const LatencyPolicy&, const LatencyPolicy&) = default;

 private:
  const LatencyMethod* method_;
};

using LatencyPolicies = Registry<LatencyMethod>;

/// The policies of this model: overlap, pipeline, staged.
const LatencyPolicies& standard_latency_policies();

}  // namespace sluice
