#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mapper/sampling/space/fanout_use.h"
#include "sluice/mapper/mapper.h"

namespace sluice {

class Walks;

/// A long workload in parts of a few consecutive Einsums, each walked by itself, equal ones once.
/// Parts exchange tensors in the outermost memory alone; a walk that need not price the whole finds
/// in milliseconds what the Einsums of a part should exchange further in.
class WalkedParts {
 public:
  /// In Einsums: the shortest workload with parts, and the longest part.
  struct Cut {
    std::size_t shortest = 8, longest = 6;
  };

  /// `space`: of the whole.
  WalkedParts(const BoundProblem& problem, const MapperOptions& options,
              const MapperControl& control, const sampling::MapSpace& space, Cut cut);
  ~WalkedParts();

  /// Whether there are parts: of a workload that is not long, or has constraints, there are none.
  bool empty() const { return parts_.empty(); }
  /// Walks each part for a while, all of them for about so many seconds, or until it is cancelled.
  void walk(double seconds);
  /// The best of each part, one after the other, in a space of the whole, which may get templates
  /// for it; nothing where a part has none, they do not join, or use too few instances (`use`, of
  /// that space).
  std::optional<sampling::Genome> joined(sampling::MapSpace* space, sampling::FanoutUse* use) const;
  /// Of each part the cheaper one of two mappings of the whole, as if its Einsums stood alone;
  /// nothing where they do not join, or
  /// an Einsum of the first one has no price alone.
  std::optional<sampling::Genome> better_parts(const sampling::Genome& a, const sampling::Genome& b,
                                               const sampling::MapSpace& space) const;
  double evaluations() const;

 private:
  struct Part;
  bool add(const BoundProblem& problem, const MapperOptions& options, std::size_t first,
           std::size_t last);
  std::vector<double> shares_of_cost() const;

  std::vector<std::unique_ptr<Part>> parts_;  ///< distinct ones
  std::vector<std::size_t> part_of_;          ///< in the order they run, indices into `parts_`
  std::vector<std::size_t> begins_;           ///< of these: the first Einsum
  MapperControl control_;
  std::size_t round_ = 0;
};

}  // namespace sluice
