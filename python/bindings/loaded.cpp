#include "loaded.h"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "cli/io/failure.h"
#include "description.h"
#include "report/document/result_document.h"
#include "report/text/spec_drawings.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

LoadOptions load_options(const Extensions& extensions) {
  LoadOptions options;
  options.component_classes = extensions.classes;
  options.latency_policies = extensions.policies;
  return options;
}

Optimizer optimizer_called(const std::string& name) {
  if (name == "none") return Optimizer::kNone;
  if (name == "sgd") return Optimizer::kSgd;
  if (name == "adam") return Optimizer::kAdam;
  throw cli::Failure(cli::ExitCode::kBadInput, fmt::format("there is no optimizer `{}`", name),
                     "optimizers: none, sgd, adam");
}

}  // namespace

cli::SpecArguments spec_arguments(const std::vector<std::string>& names,
                                  const std::map<std::string, std::string>& texts,
                                  const std::vector<std::string>& assignments,
                                  const std::optional<TrainingTexts>& training,
                                  const std::string& energy_file) {
  cli::SpecArguments arguments;
  arguments.names = names;
  arguments.assignments = assignments;
  arguments.texts = texts;
  arguments.energy_file = energy_file;
  arguments.is_training = training.has_value();
  if (training) {
    arguments.training.optimizer = optimizer_called(training->at("optimizer").at(0));
    arguments.training.recompute = training->at("recompute");
    arguments.training.gradients_of = training->at("gradients_of");
  }
  return arguments;
}

Loaded::Loaded(cli::SpecArguments arguments, Extensions extensions)
    : arguments_(std::move(arguments)), extensions_(std::move(extensions)) {
  specs_ = cli::load(arguments_, load_options(extensions_));
}

const BoundProblem& Loaded::problem() {
  if (!problem_)
    problem_ =
        cli::with_notes(specs_.warnings, [&] { return cli::bind_or_fail(specs_, arguments_); });
  return *problem_;
}

const std::vector<Mapping>& Loaded::mappings() const {
  if (specs_.mappings.empty())
    throw cli::Failure(cli::ExitCode::kBadInput, "no mapping: none of the specs has `mapping:`",
                       "name a file last, or give a sluice.Mapping");
  return specs_.mappings;
}

LatencyPolicy Loaded::policy(const std::string& name) const {
  const LatencyMethod* method = extensions_.policies.find(name);
  if (method == nullptr)
    throw cli::Failure(cli::ExitCode::kBadInput,
                       fmt::format("there is no latency policy `{}`", name),
                       fmt::format("policies: {}", fmt::join(extensions_.policies.names(), ", ")));
  return *method;
}

namespace {

std::shared_ptr<Loaded> load(const std::vector<std::string>& names,
                             const std::map<std::string, std::string>& texts,
                             const std::vector<std::string>& assignments,
                             const std::optional<TrainingTexts>& training,
                             const std::string& energy_file, const nb::list& extensions) {
  cli::SpecArguments arguments = spec_arguments(names, texts, assignments, training, energy_file);
  Extensions found = extensions_of(extensions);
  const std::shared_ptr<Raised> raised = found.raised;
  std::shared_ptr<Loaded> loaded;
  std::exception_ptr failure;
  {
    const Unlocked unlocked;
    try {
      loaded = std::make_shared<Loaded>(std::move(arguments), std::move(found));
    } catch (...) {
      failure = std::current_exception();
    }
  }
  raised->raise_again();
  if (failure) std::rethrow_exception(failure);
  return loaded;
}

/// Canonical YAML, JSON and drawings of what was read.
nb::dict spec_parts(Loaded& loaded) {
  const Specs& specs = loaded.specs();
  const bool is_whole = specs.workload && specs.arch;
  const BoundProblem* problem = is_whole ? &loaded.problem() : nullptr;
  nb::dict parts;
  parts["description"] = description_of(specs.workload, specs.arch, problem).dump();
  parts["workload"] = specs.workload ? nb::cast(to_yaml(*specs.workload)) : nb::none();
  parts["arch"] = specs.arch ? nb::cast(to_yaml(*specs.arch)) : nb::none();
  std::string drawing;
  if (specs.workload) drawing += cli::workload_drawing(*specs.workload, false);
  if (specs.arch) drawing += (drawing.empty() ? "" : "\n") + cli::arch_drawing(*specs.arch, false);
  parts["drawing"] = drawing;
  nb::list mappings, trees;
  if (is_whole)
    for (const Mapping& mapping : specs.mappings) {
      mappings.append(cli::mapping_to_json(mapping, *specs.workload, *specs.arch).dump());
      trees.append(tree_of(mapping, *problem));
    }
  parts["mappings"] = mappings;
  parts["trees"] = trees;
  parts["warnings"] = cli::diagnostics_to_json(specs.warnings).dump();
  return parts;
}

}  // namespace

void bind_loaded(nb::module_& module) {
  nb::class_<Loaded>(module, "Loaded").def("parts", &spec_parts);
  module.def("load", &load, nb::arg("names"), nb::arg("texts"), nb::arg("assignments"),
             nb::arg("training").none(), nb::arg("energy_file"), nb::arg("extensions"));
}

}  // namespace sluice::python
