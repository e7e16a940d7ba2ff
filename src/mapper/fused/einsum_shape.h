#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sluice/model/binding.h"

namespace sluice::fused {

/// One rank of a tensor as an Einsum indexes it: Σ coefficient · variable (local variable indices).
struct LocalRank {
  RankId rank;
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;
  bool operator==(const LocalRank& other) const { return terms == other.terms; }
};

/// A tensor as one Einsum sees it.
struct LocalTensor {
  TensorId id;
  std::vector<LocalRank> ranks;
  std::vector<Relevance> relevance;  ///< per local variable
  bool is_input = false, is_output = false;
  bool shared = false;        ///< used by two Einsums or more
  bool intermediate = false;  ///< written by one and read by another
  bool persistent = false;
};

/// An Einsum in local indices: everything that templates and tile shapes depend on, names aside.
struct EinsumShape {
  EinsumId einsum;
  std::vector<RankVariableId> variables;
  std::vector<std::int64_t> sizes;    ///< per local variable
  std::vector<LocalTensor> tensors;   ///< order of BoundEinsum::tensors
  bool is_copy = false;
  double multiplicity = 1;            ///< n_instances of the workload and of the Einsum

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
