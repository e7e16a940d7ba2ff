#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/import/reading/energy_table.h"
#include "frontend/import/reading/import_context.h"
#include "frontend/import/reading/placed_text.h"

namespace sluice {

/// Timeloop's specs without the differences between its versions.
namespace timeloop {

/// One step of the hierarchy, outermost first.
struct Level {
  enum class Kind { kStorage, kFanout, kCompute };
  Kind kind = Kind::kStorage;
  std::string name;  ///< Timeloop's, without `[0..N]`
  std::string type;  ///< the component class
  const YamlNode* node = nullptr;
  Attributes attributes;
  std::int64_t fanout_x = 1, fanout_y = 1;   ///< fanouts
  std::vector<std::string> spatial_targets;  ///< fanouts: what spatial directives call it
  bool is_passage = false;                   ///< a fanout that may yet get its instances
  bool is_bypassed = false;                  ///< storages: by some data space; set by mapping_text
  bool is_spread = true;  ///< fanouts: over several instances; set by mapping_text
  std::optional<std::int64_t> n_used = {};  ///< fanouts: of its instances; set by mapping_text
};

struct Term {
  int dimension = 0;
  std::int64_t coefficient = 1;
};

struct DataSpace {
  std::string name;
  std::vector<std::vector<Term>> ranks;
  bool is_output = false;
  const YamlNode* node = nullptr;
};

struct Problem {
  std::string name;
  std::vector<std::string> dimensions;
  std::vector<std::int64_t> sizes;
  std::vector<DataSpace> data_spaces;
  const YamlNode* node = nullptr;
  const YamlNode* instance = nullptr;  ///< what gives the sizes; null: nothing

  std::optional<int> dimension(const std::string& name) const;
};

/// What a factor asks for: `K=4`, `K=0` (the rest), `K=3,2` (the last tile has 2), `K<=4`.
struct Factor {
  std::int64_t bound = 1;
  std::optional<std::int64_t> last;
  bool at_most = false, at_least = false;
  const YamlNode* node = nullptr;  ///< where it is written; null: it follows from another key

  bool says_the_same(const Factor& other) const {
    return bound == other.bound && last == other.last && at_most == other.at_most &&
           at_least == other.at_least;
  }
};

/// One item of a mapping or of a list of constraints.
struct Directive {
  enum class Kind { kTemporal, kSpatial, kBypass };
  Kind kind = Kind::kTemporal;
  std::string target;
  std::map<int, Factor> factors;  ///< by dimension
  std::vector<int> permutation;   ///< innermost first, as far as given
  std::optional<std::int64_t> split;
  std::vector<std::string> keep, bypass, no_reuse, no_links;
  const YamlNode* node = nullptr;
  const YamlNode* permutation_node = nullptr;  ///< null: not given
  const YamlNode* bypass_node = nullptr;       ///< of `bypass` or `keep_only`; likewise

  /// As one of the same kind and target that stands elsewhere.
  bool says_the_same(const Directive& other) const {
    const auto alike = [](const auto& a, const auto& b) {
      return a.first == b.first && a.second.says_the_same(b.second);
    };
    return std::equal(factors.begin(), factors.end(), other.factors.begin(), other.factors.end(),
                      alike) &&
           permutation == other.permutation && split == other.split && keep == other.keep &&
           bypass == other.bypass && no_reuse == other.no_reuse && no_links == other.no_links;
  }
};

struct Specs {
  std::vector<Level> levels;
  bool has_bad_levels = false;    ///< some are missing, which was said
  std::optional<double> cycle_s;  ///< from `global_cycle_seconds`
  std::optional<Problem> problem;
  std::vector<Directive> mapping;
  std::vector<Directive> constraints;
  std::vector<std::pair<std::string, const YamlNode*>> node_constraints;  ///< v4: by node
  /// Data spaces that neighbours at the compute pass on; set by mapping_text.
  std::vector<std::string> linked;
  bool is_perfect = true;  ///< all factors of the mapping divide; set by mapping_text
  /// Storages and data spaces (as Sluice calls them) that cannot keep their tile between visits.
  std::set<std::pair<std::string, std::string>> refetched;
};

/// `architecture` of version 0.2 or 0.3: nested `subtree`s with `local` components.
void read_arch_v3(ImportContext& context, const YamlNode& node, Specs& specs);
/// `architecture` of version 0.4: a list of tagged `nodes`.
void read_arch_v4(ImportContext& context, const YamlNode& node, Specs& specs);
/// `arch` of version 0.1: `storage`, innermost first, and `arithmetic`.
void read_arch_v1(ImportContext& context, const YamlNode& node, Specs& specs);

/// How timeloopfe calls the level of a container's fanout: `inter_PE_spatial`; and back (empty
/// where the name is none such).
std::string passage_of_container(const std::string& name);
std::string container_of_passage(const std::string& name);

/// The section with `len(spec.problem.instance)` and `spec.problem.instance["C"]` in its texts
/// replaced by what the problem says.
YamlPointer with_problem_sizes(const YamlPointer& section, const YamlNode& problem);

/// `problem`, of all versions.
/// `shape`: a section of its own, for a problem that has none or only names one; may be null.
void read_problem(ImportContext& context, const YamlNode& node, const YamlNode* shape,
                  Specs& specs);
/// A shape alone, without sizes: those that `--set` gives, else 1, which is noted.
void read_shape(ImportContext& context, const YamlNode& shape, Specs& specs);
/// The workload of a `problem` that is a list, as LoopTree has them; `places`: where it comes from.
std::string cascade_text(ImportContext& context, const YamlNode& list, double word_bits,
                         PlacedText& places);
/// `mapping`, or a list of constraints; needs the problem.
std::vector<Directive> read_directives(ImportContext& context, const YamlNode& node,
                                       const Specs& specs, const char* what);

/// The `constraints` of the nodes of a v4 architecture.
std::vector<Directive> read_node_constraints(ImportContext& context, const Specs& specs);

/// True for classes that Timeloop takes for storage; likewise for compute.
bool is_storage_class(const std::string& type);
bool is_compute_class(const std::string& type);

/// Width of the workload's values: that of the innermost level which gives one.
double word_bits_of(ImportContext& context, const Specs& specs);

/// `places`, of each text: where it comes from, anew.
std::string arch_text(ImportContext& context, Specs& specs, const EnergyTable* energies,
                      PlacedText& places);
std::string constraints_text(ImportContext& context, const Specs& specs, PlacedText& places);
std::string workload_text(ImportContext& context, const Specs& specs, PlacedText& places);
/// Before arch_text: it finds `specs.linked`, `is_perfect`, and which levels are bypassed and
/// spread.
std::string mapping_text(ImportContext& context, Specs& specs, PlacedText& places);

}  // namespace timeloop
}  // namespace sluice
