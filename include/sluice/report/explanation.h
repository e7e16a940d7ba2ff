#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// What a search of its own says about a question of `map --why`.
struct Answer {
  enum class Kind : std::uint8_t {
    kNotSearched,   ///< `reason` says why
    kFound,         ///< as good a mapping as `guarantee` says
    kNothingFound,  ///< there may be one: `reason`
    kNoMapping,     ///< there is none: `reason`
  };
  Kind kind = Kind::kNotSearched;
  double objective = 0;  ///< of the mapping found: J, s or J·s
  double energy_j = 0, latency_s = 0;
  Guarantee guarantee;
  std::string reason;
};

/// A component that is busy while an Einsum runs; the longest of them decide how long that takes.
struct BusyComponent {
  ComponentId component;
  double latency_s = 0;
};

/// What one Einsum costs in the mapping, what it waits for, and what it would cost alone.
struct EinsumAccount {
  EinsumId einsum;
  double energy_j = 0;
  double latency_s = 0;      ///< of the component it waits for
  double collectives_s = 0;  ///< in addition
  /// By how much the objective would be less if the Einsum cost nothing; none where the times of
  /// the Einsums do not add up to the latency.
  std::optional<double> objective_part;
  std::vector<BusyComponent> busy;    ///< longest first
  std::optional<double> compute_use;  ///< operations done, of what all instances could do meanwhile
  /// The best mapping of the Einsum alone, all of its tensors from the outermost memory and without
  /// constraints. Nothing where it is the only one.
  std::optional<Answer> alone;
};

/// The choice made for a tensor that Einsums exchange, and the best mapping with the other one.
struct ExchangeChoice {
  TensorId tensor;
  EinsumId producer;
  std::optional<ComponentId> memory;  ///< the outermost one that holds it
  bool on_chip = false;               ///< which is not the outermost of all
  Answer other;
};

/// Whether a memory holds a tensor of the only Einsum, where the architecture leaves that open, and
/// the best mapping with the other choice.
struct HoldingChoice {
  TensorId tensor;
  ComponentId memory;
  bool is_held = false;
  Answer other;
};

enum class Resource : std::uint8_t { kThroughput, kSize, kFanout };
std::string resource_name(Resource resource);

/// What the objective becomes where there is twice as much of one thing.
struct ShadowPrice {
  ComponentId component;
  Resource resource = Resource::kThroughput;
  std::string dimension;           ///< kFanout: of the component
  std::optional<double> from, to;  ///< where it is one number: action/s or bit/s, bits, instances
  /// What it takes: arguments of `--set` for the specs as `show --yaml` prints them.
  std::vector<std::pair<std::string, std::string>> settings;
  Answer answer;
};

/// Why a mapping is the best one, and what would make it better (docs/why.md).
struct Explanation {
  double objective = 0;  ///< of the mapping that is explained
  bool is_proven = false;
  bool is_interrupted = false;
  std::size_t n_questions = 0, n_answers = 0;
  std::vector<EinsumAccount> einsums;     ///< in order of execution
  std::vector<ExchangeChoice> exchanges;  ///< in the order of their producers
  std::vector<HoldingChoice> holdings;    ///< of a workload of one Einsum; memories outermost first
  std::vector<ShadowPrice> shadow_prices;  ///< in the order of the components
};

}  // namespace sluice
