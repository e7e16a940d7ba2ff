#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "sluice/mapper/mapper.h"

namespace sluice {

/// The table of all search options. Each is declared here once; the flags of `sluice map`, the keys
/// of the `mapper:` section of spec files and `docs/options.md` follow from it.
struct MapperOption {
  std::string name;   ///< key in `mapper:`; the flag is the same with dashes, see flag_of()
  std::string type;   ///< for people: `integer`, `number`, `choice`, `choices`, `switch`, `budget`
  std::string range;  ///< for people: `0 … inf`, or the choices
  std::string help;   ///< one sentence, no full stop
  /// Reads the text of a value into its field; the error says what was expected.
  tl::expected<void, std::string> (*set)(MapperOptions& options, const std::string& text);
  /// The field's value as text that `set` accepts; of MapperOptions{} it is the default.
  std::string (*get)(const MapperOptions& options);

  bool is_switch() const { return type == "switch"; }
};

const std::vector<MapperOption>& mapper_option_table();

/// The option of that name (as in spec files), or null.
const MapperOption* find_mapper_option(const std::string& name);

/// `max_fused_loops` → `--max-fused-loops`.
std::string flag_of(const MapperOption& option);

/// The table as a Markdown page (docs/options.md holds exactly this text).
std::string mapper_options_as_markdown();

/// What a guarantee holds for: `no recomputation, perfect factors, max_fused_loops=inf (1 a rank)`.
std::string searched_space(const MapperOptions& options);

/// Name of an objective as in options and result documents: `energy`, `latency`, `edp`.
std::string objective_name(Objective objective);

/// Names of all objectives, with one sentence each.
struct ObjectiveInfo {
  Objective objective;
  std::string name;
  std::string description;
};
const std::vector<ObjectiveInfo>& objective_table();

}  // namespace sluice
