#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/common/numbered.h"
#include "mapper/fused/tiles/hull.h"
#include "sluice/mapper/mapper.h"
#include "sluice/workload/workload.h"

namespace sluice::fused {

/// One way in which an Einsum can exchange its shared tensors. Per tensor, in the order of the
/// Einsum's list: how, and in which memory.
struct ExchangeChoice {
  const std::uint64_t* exchanges = nullptr;
  const std::uint64_t* memories = nullptr;  ///< what follows from the exchange alone
  EnergyLatency cost;                       ///< at least
};

/// What every mapping costs at least, as far as Einsums know of each other: two that follow each
/// other exchange a tensor in the same way; what lives longer lies in the same memory for all of
/// its users. Loops of different tensors need not agree, and nobody asks what is held: that is up
/// to the graph of exchanges, which takes ten times as long.
class ExchangeBound {
 public:
  /// `tensors`: per Einsum the shared ones, ascending. Where more than `most_pairs` of a choice and
  /// what was chosen before would have to be looked at, memories are all that is known there.
  explicit ExchangeBound(std::vector<std::vector<TensorId>> tensors,
                         std::size_t most_pairs = 1'000'000);

  /// Adds the next Einsum, in order, with all of its choices.
  void add(const std::vector<ExchangeChoice>& choices);
  /// Once all are added: the least objective; infinite: nothing agrees.
  double least(Objective objective) const;

 private:
  using Key = std::vector<std::int64_t>;
  /// What is known of exchanges at a tensor: all, or the memory.
  enum class Form { kExchange, kMemory };
  struct Live {
    TensorId id;
    Form form;
  };
  struct State {
    Key key;       ///< per live tensor, in its form
    Key memories;  ///< per live tensor
    bool operator==(const State& other) const { return key == other.key; }
  };
  struct Layer {
    std::vector<Live> live;  ///< ascending
    std::vector<State> states;
    std::vector<LowerHull> hulls;  ///< per state: what the Einsums before cost at least
  };
  struct Class;
  struct Plan;
  using Classes = std::pair<std::vector<Class>, std::vector<LowerHull>>;

  Plan plan(const Layer& before, Form between) const;
  Classes classes(const Layer& before, const Plan& plan,
                  const std::vector<ExchangeChoice>& choices) const;
  std::optional<Layer> extended(const Layer& before, const std::vector<ExchangeChoice>& choices,
                                Form between, std::size_t most) const;
  static Layer by_memory(const Layer& layer);

  std::vector<std::vector<TensorId>> tensors_;
  std::size_t most_pairs_;
  std::vector<std::size_t> last_use_;  // per tensor
  std::size_t next_ = 0;               // Einsum to add
  Layer layer_;
};

}  // namespace sluice::fused
