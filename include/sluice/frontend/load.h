#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/arch/arch.h"
#include "sluice/mapper/constraints.h"
#include "sluice/mapping/mapping.h"
#include "sluice/support/diagnostic.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// Limits on hostile input (file size, nesting, alias and `for:` expansion).
struct LoadLimits {
  std::size_t max_file_bytes = 64u << 20;
  int max_depth = 64;
  std::size_t max_nodes = 2'000'000;  ///< after expansion of aliases, includes and repetitions
};

struct LoadOptions {
  std::map<std::string, std::string> variables;  ///< `--set NAME=VALUE`; values are expressions
  std::vector<std::string> library_dirs;         ///< where names without a file are looked up
  LoadLimits limits;
};

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

/// Everything that a set of spec files defines; later files override earlier ones key by key.
struct Specs {
  std::optional<Workload> workload;
  std::optional<Arch> arch;
  std::vector<NumberSource> sources;                  ///< of the architecture's numbers
  std::vector<Mapping> mappings;                      ///< needs workload and arch in the same load
  std::vector<MappingPlaces> mapping_places;          ///< per mapping
  std::optional<Constraints> constraints;             ///< likewise
  std::map<std::string, std::string> mapper_options;  ///< the `mapper:` section, by option name
  Diagnostics warnings;
};

/// The file that `name` stands for: itself if it exists, else `name.yaml` of a library folder or of
/// a folder directly inside one.
std::optional<std::string> find_spec_file(const std::string& name, const LoadOptions& options);

/// All names that find_spec_file knows from the library folders, sorted.
std::vector<std::string> library_names(const LoadOptions& options);

/// Reads and merges spec files. A mapping's or constraint's names refer to the workload and
/// architecture of the same call. All mistakes of all files are returned together.
Result<Specs> load_specs(const std::vector<std::string>& paths, const LoadOptions& options);

/// As load_specs, from text (`name` stands for the file in diagnostics).
struct NamedText {
  std::string name;
  std::string text;
};
Result<Specs> load_specs_from_text(const std::vector<NamedText>& texts, const LoadOptions& options);

}  // namespace sluice
