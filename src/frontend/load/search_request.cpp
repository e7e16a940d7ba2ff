#include "sluice/frontend/search_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "sluice/mapper/options_table.h"
#include "sluice/model/unknown_times.h"
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

std::optional<Diagnostic> unknown_energy(const Arch& arch) {
  for (const Component& component : arch.components)
    for (const Action& action : component.actions)
      if (std::isnan(action.energy_j))
        return error_without_place(
            fmt::format("the energy of the action {} of {} is null", action.name, component.name),
            "a search needs every energy; evaluate prices mappings without");
  return std::nullopt;
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

std::optional<Diagnostic> unknown_price(const Arch& arch, const MapperOptions& options) {
  if (auto energy = unknown_energy(arch)) return energy;
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
