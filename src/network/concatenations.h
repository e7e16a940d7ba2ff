#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/network/network.h"

namespace sluice {

/// Layers whose outputs stand side by side in one tensor, along the channels.
struct Concatenation {
  std::string name;                 ///< of the tensor
  std::vector<std::size_t> layers;  ///< in the order of their channels
  std::vector<std::int64_t> begin;  ///< of each: its first channel
  std::int64_t channels = 0;        ///< of all
};

/// Whether a layer reads what stands before it side by side (rather than operand by operand).
bool reads_side_by_side(const NetworkLayer& layer);

class Concatenations {
 public:
  explicit Concatenations(const NeuralNetwork& network);

  /// The one that a layer reads, or null.
  const Concatenation* read_by(const NetworkLayer& layer) const;
  /// The one that a layer's output is a part of, or null.
  const Concatenation* with(std::size_t layer) const;
  /// A layer that two of them would have, if there is one.
  std::optional<std::size_t> shared_layer() const { return shared_; }

 private:
  void add(const NeuralNetwork& network, const std::vector<std::size_t>& layers);

  std::vector<Concatenation> all_;
  std::vector<std::optional<std::size_t>> of_layer_;  ///< index into all_
  std::optional<std::size_t> shared_;
};

/// Where the channels of a layer begin; it must be one of them.
std::int64_t first_channel(const Concatenation& concatenation, std::size_t layer);

}  // namespace sluice
