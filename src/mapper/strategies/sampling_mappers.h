#pragma once

#include "sluice/mapper/mapper.h"

namespace sluice {

/// Mappers to compare the fused one with. They search its space, one whole mapping after another,
/// each priced by the model; none proves anything but `exhaustive`.
/// - A budget of evaluations, of seconds, or both ends them (neither: 100,000 evaluations);
/// cancelled
///   ones return the best so far. SearchStatistics::convergence says when each improvement came.
/// - With a budget of evaluations the mappings depend on the seed alone, not on threads or time.

/// Every mapping, one after the other. Optimal where it gets through; without a budget it refuses
/// spaces of more than a million mappings.
class ExhaustiveMapper final : public Mapper {
 public:
  std::string name() const override { return "exhaustive"; }
  std::string description() const override;
  bool knows_larger_spaces() const override { return true; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

/// Independent random mappings (Timeloop).
class RandomMapper final : public Mapper {
 public:
  std::string name() const override { return "random"; }
  std::string description() const override;
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

/// Simulated annealing (SET).
class AnnealMapper final : public Mapper {
 public:
  std::string name() const override { return "anneal"; }
  std::string description() const override;
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

/// A genetic algorithm: crossover 0.7, mutation 0.2, a population of ten (TileFlow).
class GeneticMapper final : public Mapper {
 public:
  std::string name() const override { return "genetic"; }
  std::string description() const override;
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

/// Iterative improvement within the constraints, from a new random start when it stalls (COMET).
class IterativeMapper final : public Mapper {
 public:
  std::string name() const override { return "iterative"; }
  std::string description() const override;
  tl::expected<MapperResult, NoMapping> map(const BoundProblem& problem,
                                            const MapperOptions& options,
                                            const MapperControl& control) const override;
};

}  // namespace sluice
