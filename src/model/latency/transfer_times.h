#pragma once

#include <cstdint>
#include <optional>

#include "model/tree/nest.h"
#include "sluice/model/binding.h"

namespace sluice {

/// How long the memories of a nest take for their part in transfers. Storages are numbered as in
/// the nest.
class TransferTimes {
 public:
  TransferTimes(const BoundProblem& problem, const FlatTree& tree, const Nest& nest)
      : problem_(problem), tree_(tree), nest_(nest), einsum_(problem[nest.einsum]) {}

  /// The memory from which a storage's tile comes: the next one of its tensor further out.
  std::optional<std::uint32_t> parent_of(std::uint32_t storage) const;
  /// Seconds of one action (read or write) alone for so many values of the busiest instance,
  /// COMET eq. 1; without set-up.
  double action_s(std::uint32_t storage, bool read, std::int64_t values) const;
  /// Seconds before one transfer starts.
  double setup_s(std::uint32_t storage, bool read) const;
  /// Whether reads and writes take turns.
  bool has_shared_port(std::uint32_t storage) const;

 private:
  const NestStorage& storage(std::uint32_t s) const {
    return tree_.storages[nest_.storages_begin + s];
  }
  const Component& component_of(std::uint32_t s) const {
    return problem_.arch[storage(s).component];
  }
  const Action& action(std::uint32_t s, bool read) const;

  const BoundProblem& problem_;
  const FlatTree& tree_;
  const Nest& nest_;
  const BoundEinsum& einsum_;
};

/// Seconds before one step of a nest's compute starts.
double compute_setup_s(const BoundProblem& problem, const Nest& nest);
/// How often a nest runs: n_instances of the workload and of its Einsum.
double repetitions(const BoundProblem& problem, const Nest& nest);

}  // namespace sluice
