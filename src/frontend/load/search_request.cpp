#include "sluice/frontend/search_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "sluice/mapper/options_table.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/support/error.h"
#include "sluice/support/failed.h"
#include "sluice/support/machine_memory.h"

namespace sluice {
namespace {

/// Applies options by name. The loader has checked those of the specs already.
void apply_options(const std::map<std::string, std::string>& values, MapperOptions& options,
                   Diagnostics& mistakes) {
  for (const auto& [name, value] : values) {
    const MapperOption* option = find_mapper_option(name);
    SLUICE_CHECK(option != nullptr, "an option that the table does not have: " + name);
    if (const auto set = option->set(options, value); !set)
      mistakes.push_back(
          error_without_place(fmt::format("{} {}: {}", flag_of(*option), value, set.error())));
  }
}

/// `the energy of the action read of DRAM is null`, or all of them: `the energies of DRAM (read,
/// write) and MAC (compute) are null`.
std::string null_energies_text(const Arch& arch) {
  constexpr std::size_t kMostNamed = 12;
  std::vector<std::string> named;
  std::size_t n_components = 0, n_actions = 0;
  std::string first;
  for (const Component& component : arch.components) {
    std::vector<std::string> actions;
    for (const Action& action : component.actions)
      if (std::isnan(action.energy_j)) actions.push_back(action.name);
    if (actions.empty()) continue;
    n_actions += actions.size();
    if (first.empty())
      first = fmt::format("the energy of the action {} of {} is null", actions[0], component.name);
    if (++n_components <= kMostNamed)
      named.push_back(fmt::format("{} ({})", component.name, fmt::join(actions, ", ")));
  }
  if (n_actions <= 1) return first;
  if (n_components > kMostNamed) {
    const std::size_t n_more = n_components - kMostNamed;
    named.push_back(fmt::format("{} more component{}", n_more, n_more == 1 ? "" : "s"));
  }
  const std::string last = named.back();
  named.pop_back();
  return fmt::format("the energies of {}{}{} are null", fmt::join(named, ", "),
                     named.empty() ? "" : " and ", last);
}

/// Stands at the first of them.
std::optional<Diagnostic> unknown_energy(const Arch& arch, const Specs& specs) {
  const std::string message = null_energies_text(arch);
  if (message.empty()) return std::nullopt;
  const NullEnergy* first = specs.null_energies.empty() ? nullptr : &specs.null_energies.front();
  const bool is_imported = first != nullptr && first->is_imported;
  Diagnostic error = error_without_place(
      message, fmt::format("a search needs every energy: {}; evaluate prices mappings without",
                           is_imported ? "--ert FILE gives those of files of Timeloop and "
                                         "AccelForge (docs/importing.md)"
                                       : "give the actions an `energy`, or the component a "
                                         "`component_class` that knows it"));
  if (first != nullptr) {
    error.location = first->place.location;
    error.source_line = first->place.source_line;
  }
  return error;
}

}  // namespace

Result<MapperOptions> search_options(const std::map<std::string, std::string>& given,
                                     const Specs& specs, MapperOptions options) {
  options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.memory_bytes = bytes_of_machine() / 2;
  Diagnostics mistakes;
  apply_options(specs.mapper_options, options, mistakes);
  apply_options(given, options, mistakes);
  if (specs.constraints) options.constraints = *specs.constraints;
  if (options.explore_einsum_orders && (options.objectives.size() > 1 || options.resource_usage))
    mistakes.push_back(error_without_place("--einsum-orders explore needs exactly one objective"));
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  return options;
}

std::optional<Diagnostic> unknown_price(const Arch& arch, const Specs& specs,
                                        const MapperOptions& options) {
  if (auto energy = unknown_energy(arch, specs)) return energy;
  const std::vector<std::string> unknown = unknown_times(arch);
  if (unknown.empty()) return std::nullopt;
  const std::string what = fmt::format("the time of the action {} is null", unknown.front());
  for (const Objective objective : options.objectives)
    if (objective != Objective::kEnergy)
      return error_without_place(
          fmt::format("{}, so {} cannot be compared", what, objective_name(objective)),
          std::string("give it a throughput (inf where it takes no time)") +
              (options.objectives.size() == 1 ? ", or search with --objective energy" : ""));
  for (const Component& component : arch.components)
    if (component.leak_power_w > 0)
      return error_without_place(
          fmt::format("{}, so what {} leaks until the end is not known", what, component.name),
          "give it a throughput (inf where it takes no time), or no leak_power");
  return std::nullopt;
}

}  // namespace sluice
