#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

/// Where a node of a mapping stands in its file.
struct NodePlace {
  SourceLocation location;
  std::string source_line;
};
/// Per node of a mapping, in the order of its text (a node before those below it).
using MappingPlaces = std::vector<NodePlace>;

/// The place of the node that `node_path` (as in Violation) leads to, or null.
const NodePlace* place_of(const Mapping& mapping, const MappingPlaces& places,
                          const std::vector<std::size_t>& node_path);

/// Where a number of an architecture comes from that the files do not give themselves.
struct NumberSource {
  std::string component;
  std::string
      number;  ///< name of the action that it is the energy of, or area, leak_power, hop_energy
  std::string source;  ///< component class, its attributes, and the publication
};

/// An energy that is null, and where that stands.
struct NullEnergy {
  std::string component, action;
  NodePlace place;
  bool is_imported = false;  ///< in a file of another tool
};

}  // namespace sluice
