#include "search_options.h"

#include <fmt/format.h>

#include "cli/io/failure.h"
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

void require_prices(const Arch& arch, const Specs& specs, const MapperOptions& options) {
  if (auto unknown = unknown_price(arch, specs, options))
    throw Failure(ExitCode::kBadInput, Diagnostics{std::move(*unknown)});
}

}  // namespace sluice::cli
