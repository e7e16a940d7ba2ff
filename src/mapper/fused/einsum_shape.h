#pragma once

#include <cstdint>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice::fused {

/// A tensor as one Einsum sees it.
struct LocalTensor {
  TensorId id;
  std::vector<Relevance> relevance;  ///< per local variable, the strongest over its accesses
  /// per local variable: the rank that a fully relevant variable walks, or -1
  std::vector<std::int32_t> rank_of;
  bool is_input = false, is_output = false;
  bool shared = false;        ///< used by two Einsums or more
  bool intermediate = false;  ///< written by one and read by another
  bool persistent = false;
};

/// An Einsum in local indices: everything that templates and tile shapes depend on, names aside.
struct EinsumShape {
  EinsumId einsum;
  std::vector<RankVariableId> variables;
  std::vector<std::int64_t> sizes;  ///< per local variable
  std::vector<bool> coupled;        ///< per local variable: some index extent is not its tile alone
  std::vector<std::uint32_t> group;  ///< per local variable: same number = coupled with each other
  std::vector<LocalTensor> tensors;  ///< order of BoundEinsum::tensors
  bool is_copy = false;
  double multiplicity = 1;  ///< n_instances of the workload and of the Einsum

  bool relevant(std::size_t tensor, std::size_t variable) const {
    return tensors[tensor].relevance[variable] == Relevance::kRelevant;
  }
  bool irrelevant(std::size_t tensor, std::size_t variable) const {
    return tensors[tensor].relevance[variable] == Relevance::kIrrelevant;
  }
  bool partial(std::size_t tensor, std::size_t variable) const {
    return tensors[tensor].relevance[variable] == Relevance::kPartial;
  }
};

EinsumShape make_einsum_shape(const BoundProblem& problem, EinsumId einsum);

}  // namespace sluice::fused
