#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/io/spec_arguments.h"
#include "extensions.h"
#include "sluice/report/result_document.h"

namespace sluice::python {

/// What a call of the package is about: the specs that its arguments name, as the command line
/// reads them.
class Loaded {
 public:
  /// `names`: files, names of the library or of `texts`. Throws cli::Failure.
  Loaded(cli::SpecArguments arguments, Extensions extensions);

  const cli::SpecArguments& arguments() const { return arguments_; }
  const Specs& specs() const { return specs_; }
  const Extensions& extensions() const { return extensions_; }
  /// Throws cli::Failure where a workload or an architecture is missing or they do not fit.
  const BoundProblem& problem();
  /// The mappings of the specs. Throws cli::Failure where there is none.
  const std::vector<Mapping>& mappings() const;
  /// Throws cli::Failure where no policy has this name.
  LatencyPolicy policy(const std::string& name) const;

 private:
  cli::SpecArguments arguments_;
  Extensions extensions_;
  Specs specs_;
  std::optional<BoundProblem> problem_;
};

/// A training step as Python says it: optimizer, tensors to recompute, inputs that get gradients.
using TrainingTexts = std::map<std::string, std::vector<std::string>>;

/// What a call says about its specs, as the command line's arguments. Throws cli::Failure.
cli::SpecArguments spec_arguments(const std::vector<std::string>& names,
                                  const std::map<std::string, std::string>& texts,
                                  const std::vector<std::string>& assignments,
                                  const std::optional<TrainingTexts>& training,
                                  const std::string& energy_file);

void bind_loaded(nanobind::module_& module);

}  // namespace sluice::python
