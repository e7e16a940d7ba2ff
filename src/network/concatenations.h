#pragma once

#include <cstdint>
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
  /// Those that have a copy of a layer's output: it is in several, or somebody reads it before all
  /// parts are made.
  std::vector<const Concatenation*> copies_of(std::size_t layer) const;

 private:
  void add(const NeuralNetwork& network, const std::vector<std::size_t>& layers);
  void find_copies(const NeuralNetwork& network);

  std::vector<Concatenation> all_;
  std::vector<std::vector<std::size_t>> of_layer_;  ///< indices into all_
  std::vector<char> is_copied_;                     ///< by layer
};

/// Where the channels of a layer begin; it must be one of them.
std::int64_t first_channel(const Concatenation& concatenation, std::size_t layer);

}  // namespace sluice
