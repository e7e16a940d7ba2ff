#include "network/concatenations.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

/// What all names begin with, without the separator: `pool2` of `pool2_a` and `pool2_b`.
std::string common_name(const NeuralNetwork& network, const std::vector<std::size_t>& layers) {
  const std::string& first = network.layers[layers.front()].name;
  std::size_t length = first.size();
  for (const std::size_t layer : layers) {
    const std::string& name = network.layers[layer].name;
    const auto [mine, theirs] = std::mismatch(first.begin(), first.end(), name.begin(), name.end());
    length = std::min(length, static_cast<std::size_t>(mine - first.begin()));
  }
  while (length > 0 && first[length - 1] == '_') --length;
  return length > 1 ? first.substr(0, length) : "";
}

}  // namespace

bool reads_side_by_side(const NetworkLayer& layer) {
  return layer.previous.size() > 1 && layer.kind != LayerKind::kElementwise;
}

Concatenations::Concatenations(const NeuralNetwork& network)
    : of_layer_(network.layers.size()), is_copied_(network.layers.size(), 0) {
  for (const NetworkLayer& layer : network.layers)
    if (reads_side_by_side(layer) && read_by(layer) == nullptr) add(network, layer.previous);
  find_copies(network);
}

/// Who reads a tensor in parts must come after all that make one.
void Concatenations::find_copies(const NeuralNetwork& network) {
  for (std::size_t i = 0; i < of_layer_.size(); ++i) is_copied_[i] = of_layer_[i].size() > 1;
  for (std::size_t reader = 0; reader < network.layers.size(); ++reader) {
    const NetworkLayer& layer = network.layers[reader];
    const Concatenation* whole = read_by(layer);
    for (const std::size_t read : layer.previous)
      for (const std::size_t joined : of_layer_[read]) {
        const std::vector<std::size_t>& parts = all_[joined].layers;
        if (whole != &all_[joined] && reader <= *std::max_element(parts.begin(), parts.end()))
          is_copied_[read] = 1;
      }
  }
}

void Concatenations::add(const NeuralNetwork& network, const std::vector<std::size_t>& layers) {
  const auto is_taken = [&](const std::string& name) {
    return find_layer(network, name).has_value() ||
           std::any_of(all_.begin(), all_.end(),
                       [&](const Concatenation& known) { return known.name == name; });
  };
  std::string name = common_name(network, layers);
  if (name.empty() || is_taken(name))
    name = fmt::format("{}_to_{}", network.layers[layers.front()].name,
                       network.layers[layers.back()].name);
  while (is_taken(name)) name += "_";
  Concatenation& added = all_.emplace_back();
  added.name = name;
  added.layers = layers;
  for (const std::size_t layer : layers) {
    added.begin.push_back(added.channels);
    added.channels += network.layers[layer].channels_out;
    of_layer_[layer].push_back(all_.size() - 1);
  }
}

const Concatenation* Concatenations::read_by(const NetworkLayer& layer) const {
  if (!reads_side_by_side(layer)) return nullptr;
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Concatenation& known) {
    return known.layers == layer.previous;
  });
  return found == all_.end() ? nullptr : &*found;
}

const Concatenation* Concatenations::with(std::size_t layer) const {
  if (of_layer_[layer].empty() || is_copied_[layer] != 0) return nullptr;
  return &all_[of_layer_[layer].front()];
}

std::vector<const Concatenation*> Concatenations::copies_of(std::size_t layer) const {
  std::vector<const Concatenation*> copies;
  if (is_copied_[layer] != 0)
    for (const std::size_t joined : of_layer_[layer]) copies.push_back(&all_[joined]);
  return copies;
}

std::int64_t first_channel(const Concatenation& concatenation, std::size_t layer) {
  const auto at = std::find(concatenation.layers.begin(), concatenation.layers.end(), layer);
  return concatenation.begin[static_cast<std::size_t>(at - concatenation.layers.begin())];
}

}  // namespace sluice
