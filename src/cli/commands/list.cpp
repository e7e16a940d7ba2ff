#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "cli/io/failure.h"
#include "cli/io/library_names.h"
#include "commands.h"
#include "report/text/text_bars.h"
#include "sluice/mapper/options_table.h"
#include "sluice/network/layers_mapper.h"
#include "sluice/network/network_table.h"
#include "sluice/support/error.h"
#include "sluice/support/human_units.h"

namespace sluice::cli {
namespace {

using NamedLines = std::vector<std::pair<std::string, std::string>>;

/// Names of networks with what they are made of.
NamedLines network_lines() {
  NamedLines lines;
  for (const std::string& name : network_names()) {
    const Result<NeuralNetwork> network = load_network(name);
    if (!network) throw Failure(network.error());
    const NetworkTotals sum = totals(*network);
    lines.emplace_back(name, fmt::format("{} layers, {} operations, {} weights", sum.layers,
                                         human_count(static_cast<double>(sum.operations)),
                                         human_count(static_cast<double>(sum.weights))));
  }
  return lines;
}

NamedLines lines_of(const std::string& kind) {
  NamedLines lines;
  if (kind == kNetworkFolder) return network_lines();
  if (kind == kArchitectureFolder || kind == kWorkloadFolder || kind == kShapeFolder ||
      kind == kComponentFolder) {
    for (const LibraryEntry& entry : library_entries(kind))
      lines.emplace_back(entry.name, entry.description);
  } else if (kind == "mappers") {
    for (const auto& mapper : all_mappers())
      lines.emplace_back(mapper->name(), mapper->description());
  } else if (kind == "objectives") {
    for (const ObjectiveInfo& info : objective_table())
      lines.emplace_back(info.name, info.description);
  } else {
    fail_internal_check("list_kinds", __FILE__, __LINE__, "unknown kind " + kind);
  }
  return lines;
}

}  // namespace

const std::vector<std::string>& list_kinds() {
  static const std::vector<std::string> kinds = {
      kArchitectureFolder, kWorkloadFolder, kNetworkFolder, kShapeFolder,
      kComponentFolder,    "mappers",       "objectives"};
  return kinds;
}

ExitCode run_list(const std::string& kind, const Console& console) {
  const NamedLines lines = lines_of(kind);
  std::size_t width = 0;
  for (const auto& [name, description] : lines) width = std::max(width, name.size());
  for (const auto& [name, description] : lines)
    console.out << (description.empty() ? name : pad_right(name, width) + "  " + description)
                << "\n";
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
