#include "sweep_run_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands/search_options.h"
#include "cli/io/failure.h"
#include "sluice/mapper/options_table.h"
#include "sluice/support/version.h"

namespace sluice::python {
namespace {

using nlohmann::json;

/// JSON has no infinity.
json number(double value) {
  return std::isfinite(value) ? json(value) : json(fmt::format("{}", value));
}
json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

double number_from(const json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}
std::optional<double> optional_from(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(number_from(value));
}

json row_of(const SweepComponent& component) {
  return json::array({component.name, number(component.energy_j), number(component.of_peak),
                      number(component.busy), number(component.peak_bits),
                      number(component.capacity_bits)});
}

SweepComponent component_from(const json& row) {
  return {row.at(0),
          number_from(row.at(1)),
          optional_from(row.at(2)),
          optional_from(row.at(3)),
          optional_from(row.at(4)),
          optional_from(row.at(5))};
}

json row_of(const SweepMapping& mapping) {
  json components = json::array();
  for (const SweepComponent& component : mapping.components)
    components.push_back(row_of(component));
  return json::array({number(mapping.energy_j), number(mapping.latency_s), number(mapping.edp_js),
                      number(mapping.leak_energy_j), number(mapping.operations_per_s),
                      number(mapping.operations_per_j), number(mapping.power_w), mapping.mapping,
                      std::move(components)});
}

SweepMapping mapping_from(const json& row) {
  SweepMapping mapping{number_from(row.at(0)),
                       number_from(row.at(1)),
                       number_from(row.at(2)),
                       number_from(row.at(3)),
                       optional_from(row.at(4)),
                       optional_from(row.at(5)),
                       optional_from(row.at(6)),
                       row.at(7),
                       {}};
  for (const json& component : row.at(8)) mapping.components.push_back(component_from(component));
  return mapping;
}

}  // namespace

std::string inputs_text(const SweepInputs& inputs) {
  const BoundProblem& problem = inputs.problem;
  json options = json::object();
  for (const MapperOption& option : mapper_option_table())
    if (option.name != "threads" && option.name != "memory" &&
        (option.name != "mapper" || inputs.is_mapper_chosen))
      options[option.name] = option.get(inputs.options);
  return json{{"key", sweep_key(inputs)},
              {"version", std::string(version())},
              {"workload", to_yaml(problem.workload)},
              {"arch", to_yaml(problem.arch)},
              {"constraints", to_yaml(inputs.options.constraints, problem.workload, problem.arch)},
              {"options", std::move(options)}}
      .dump();
}

SweepInputs inputs_from(const std::string& text) {
  const json inputs = json::parse(text);
  std::vector<NamedText> texts;
  for (const char* part : {"workload", "arch", "constraints"})
    if (!inputs.at(part).get<std::string>().empty()) texts.push_back({part, inputs.at(part)});
  const Specs specs = cli::value_or_fail(load_specs_from_text(texts, {}));
  const std::map<std::string, std::string> given = inputs.at("options");
  SweepInputs result{cli::value_or_fail(bind(*specs.workload, *specs.arch)),
                     cli::search_options_or_fail(given, specs, {}), given.contains("mapper")};
  if (const std::string key = inputs.at("key"); sweep_key(result) != key)
    throw cli::Failure(
        cli::ExitCode::kBadInput,
        fmt::format("a worker reads the point {} otherwise: it has Sluice {}, the client {}", key,
                    version(), inputs.at("version").get<std::string>()),
        "install the same wheel everywhere");
  return result;
}

std::string run_text(const SweepRun& run) {
  json mappings = json::array();
  for (const SweepMapping& mapping : run.mappings) mappings.push_back(row_of(mapping));
  return json{{"key", run.key},
              {"workload", run.workload},
              {"arch", run.arch},
              {"status", run.status},
              {"reason", run.reason},
              {"mapper", run.mapper},
              {"guarantee", run.guarantee},
              {"bound", number(run.bound)},
              {"area_m2", number(run.area_m2)},
              {"operations", number(run.operations)},
              {"ended_by", run.ended_by},
              {"mappings", std::move(mappings)},
              {"seconds", number(run.timing.seconds)},
              {"mappings_evaluated", number(run.timing.mappings_evaluated)}}
      .dump();
}

SweepRun run_from(const std::string& text) {
  const json row = json::parse(text);
  SweepRun run;
  run.key = row.at("key");
  run.workload = row.at("workload");
  run.arch = row.at("arch");
  run.status = row.at("status");
  run.reason = row.at("reason");
  run.mapper = row.at("mapper");
  run.guarantee = row.at("guarantee");
  run.bound = optional_from(row.at("bound"));
  run.area_m2 = optional_from(row.at("area_m2"));
  run.operations = number_from(row.at("operations"));
  run.ended_by = row.at("ended_by");
  for (const json& mapping : row.at("mappings")) run.mappings.push_back(mapping_from(mapping));
  run.timing = {number_from(row.at("seconds")), number_from(row.at("mappings_evaluated"))};
  return run;
}

}  // namespace sluice::python
