#include "search_options.h"

#include <fmt/format.h>

#include "cli/io/failure.h"
#include "mapper/request/perfect_factors.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/network/layers_mapper.h"

namespace sluice::cli {

MapperOptions search_options_or_fail(const std::map<std::string, std::string>& given,
                                     const Specs& specs, MapperOptions options) {
  auto searched = sluice::search_options(given, specs, std::move(options));
  if (!searched) throw Failure(ExitCode::kBadInput, searched.error());
  return std::move(*searched);
}

const Mapper& mapper_or_fail(const std::string& name, const MapperRegistry& mappers) {
  if (const Mapper* mapper = mappers.find(name)) return *mapper;
  const std::vector<std::string>& names = mappers.names();
  const std::string nearest = nearest_name(name, names);
  throw Failure(ExitCode::kBadInput, fmt::format("there is no mapper `{}`", name),
                nearest.empty() ? fmt::format("mappers: {}", fmt::join(names, ", "))
                                : fmt::format("did you mean `{}`?", nearest));
}

void require_time_budget(const MapperOptions& options) {
  if (options.budget_evaluations)
    throw Failure(ExitCode::kBadInput,
                  "--budget: the mapper fused prices what its proof needs; give it a time such as "
                  "60s instead of evals",
                  "");
}

MapperChoice choose_mapper(const std::map<std::string, std::string>& given, const Specs& specs,
                           const MapperRegistry& mappers, RunResult* result) {
  MapperOptions& options = *result->options;
  MapperChoice choice{&mapper_or_fail(options.mapper, mappers)};
  if (!given.contains("mapper") && !specs.mapper_options.contains("mapper")) {
    choice = default_network_mapper(*result->problem, options);
    result->mapper_reason = choice.reason;
    options.mapper = choice.mapper->name();
  }
  if (options.mapper == "fused") require_time_budget(options);
  if (auto note = note_of_perfect_factors(*choice.mapper, *result->problem, options))
    result->diagnostics.push_back(*std::move(note));
  return choice;
}

void require_prices_of_search(const Arch& arch, const Specs& specs, const MapperOptions& options,
                              bool explains) {
  const bool compares_times = options.objectives == std::vector{Objective::kLatency};
  if (compares_times && !explains && has_unknown_energies(arch))
    return require_prices(without_unknown_energies(arch), specs, options);
  require_prices(arch, specs, options);
}

void require_prices(const Arch& arch, const Specs& specs, const MapperOptions& options) {
  if (auto unknown = unknown_price(arch, specs, options))
    throw Failure(ExitCode::kBadInput, Diagnostics{std::move(*unknown)});
}

}  // namespace sluice::cli
