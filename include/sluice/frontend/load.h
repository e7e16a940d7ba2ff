#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/arch/arch.h"
#include "sluice/frontend/load_options.h"
#include "sluice/frontend/origins.h"
#include "sluice/mapper/constraints.h"
#include "sluice/mapping/mapping.h"
#include "sluice/support/diagnostic.h"
#include "sluice/workload/workload.h"

namespace sluice {

/// Everything that a set of spec files defines; later files override earlier ones key by key.
struct Specs {
  std::optional<Workload> workload;
  std::optional<Arch> arch;
  std::vector<NumberSource> sources;                  ///< of the architecture's numbers
  std::vector<NullEnergy> null_energies;              ///< of the architecture
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
/// Texts first, then files.
Result<Specs> load_specs(const std::vector<NamedText>& texts, const std::vector<std::string>& paths,
                         const LoadOptions& options);

}  // namespace sluice
