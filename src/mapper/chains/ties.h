#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "chain_choices.h"
#include "classes.h"
#include "runs.h"

namespace sluice::chains {

/// What Einsums exchange in inner memories now: those that hang together below loops have one
/// class. What stays there for the whole run does not change with them.
class Ties {
 public:
  using Span = std::pair<std::size_t, std::size_t>;  ///< first and last of some neighbours

  Ties(const BoundProblem& problem, std::optional<ComponentId> outermost,
       const sampling::Genome& now);

  std::size_t class_of(std::size_t einsum) const { return classes_.of(einsum); }
  /// Neighbours that change together now: Einsums of one class, and all between them.
  std::vector<Span> groups() const;
  bool is_inner(TensorId tensor) const { return is_inner_[tensor.index()] != 0; }
  /// What an Einsum exchanges outside of all loops in inner memories, but for the run's tensors.
  /// `run` may be null.
  Exchange stays(std::size_t einsum, const Run* run) const;

 private:
  Classes classes_;
  std::vector<char> is_inner_;                ///< by TensorId
  std::vector<EinsumSearch::Backings> stay_;  ///< per Einsum
};

}  // namespace sluice::chains
