#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/kapla/directives.h"
#include "sluice/workload/workload.h"

namespace sluice::kapla {

/// Variables of an Einsum by their places in its iteration space.
using VariableTiles = std::vector<std::int64_t>;

/// How directives call what an Einsum's variables move. The index of a tensor that is one variable
/// is a dim with the variable's name: that of a rank which it walks alone (one with its own
/// letters, if there is such a rank), or its own. Any other index is a dim with the name of its
/// rank.
class EinsumDims {
 public:
  /// A dim of a tensor: 1 + Σ coefficient · (tile − 1) of its variables.
  struct Dim {
    std::string name;
    std::vector<std::pair<std::size_t, std::int64_t>> terms;  ///< variables, |coefficients|
    bool is_variable = false;                                 ///< of one variable alone
    std::int64_t extent(const VariableTiles& tiles) const;
  };

  EinsumDims(const Workload& workload, const Einsum& einsum);

  /// Without indices that are constant. Nothing where the Einsum does not use the tensor.
  const std::vector<Dim>* of(TensorId tensor) const;
  /// What a step of a variable's tile moves.
  std::vector<DimNumber> moved(std::size_t variable, std::int64_t tile) const;
  /// The variable that moves just these, and its tile.
  std::optional<std::pair<std::size_t, std::int64_t>> find(
      const std::vector<DimNumber>& numbers) const;
  const std::string& name(std::size_t variable) const { return names_[variable]; }
  std::size_t n_variables() const { return names_.size(); }

 private:
  void name_variables(const Workload& workload, const Einsum& einsum);

  std::vector<std::string> names_;
  std::map<TensorId, std::vector<Dim>> dims_;
};

}  // namespace sluice::kapla
