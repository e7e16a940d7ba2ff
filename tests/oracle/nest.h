#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"

namespace sluice::oracle {

/// One Einsum's loop nest, outermost first: what a pmapping is before Einsums are joined.

struct NestLoop {
  RankVariableId variable;
  std::int64_t trips = 1;
  std::int64_t tile_shape = 1;  ///< size of the variable's tile inside the loop
  bool spatial = false;
  ComponentId component;        ///< spatial loops only
  std::uint32_t dimension = 0;  ///< spatial loops only
};

struct NestStorage {
  TensorId tensor;
  ComponentId component;
  bool backing = false;
  bool persistent = false;
  bool sliding = false;
  bool top = false;          ///< of the outermost memory, or persistent: no loop stands above it
  bool below_ports = false;  ///< of the outermost memory, below loops over its instances
  bool toll = false;         ///< holds nothing
};

using NestNode = std::variant<NestLoop, NestStorage>;

/// A nest with its own price. `templates`: the (keep choice, storage order) pairs that it belongs
/// to.
struct Pmapping {
  EinsumId einsum;
  ComponentId compute;
  std::vector<NestNode> nodes;
  std::set<int> templates;
  double energy_j = 0;
  double latency_s = 0;
  std::vector<double> peak_bits;  ///< per row of Cost::occupancy
};

/// A text that two nests share exactly when they are the same nest.
std::string nest_key(const std::vector<NestNode>& nodes, ComponentId compute);

/// The nest (and its compute) as nodes of a mapping.
NodeList to_nodes(const Pmapping& pmapping);

/// Nodes of the mapping for single elements.
Node storage_node(const NestStorage& storage);
Node loop_node(const NestLoop& loop, const std::vector<RankVariableId>& variables);
Node compute_node(const Pmapping& pmapping);

}  // namespace sluice::oracle
