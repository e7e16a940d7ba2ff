#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace sluice {

/// An index into one particular vector of an IR. Ids of different vectors do not convert into each
/// other, so a tensor's index can never be used to look up a rank.
template <class Tag>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}
  constexpr std::size_t index() const { return index_; }
  // NOLINTNEXTLINE(modernize-use-nullptr): the 0 of a defaulted comparison
  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  std::uint32_t index_ = 0;
};

struct RankTag;
struct RankVariableTag;
struct TensorTag;
struct EinsumTag;
struct ComponentTag;
struct ForkTag;

using RankId = StrongId<RankTag>;                  ///< index into Workload::ranks
using RankVariableId = StrongId<RankVariableTag>;  ///< index into Workload::rank_variables
using TensorId = StrongId<TensorTag>;              ///< index into Workload::tensors
using EinsumId = StrongId<EinsumTag>;              ///< index into Workload::einsums
using ComponentId = StrongId<ComponentTag>;        ///< index into Arch::components
using ForkId = StrongId<ForkTag>;                  ///< index into Arch::forks

}  // namespace sluice

template <class Tag>
struct std::hash<sluice::StrongId<Tag>> {
  std::size_t operator()(sluice::StrongId<Tag> id) const noexcept {
    return std::hash<std::size_t>{}(id.index());
  }
};
