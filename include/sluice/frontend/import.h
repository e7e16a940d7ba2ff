#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/onnx_graph/import_onnx.h"
#include "sluice/support/diagnostic.h"

namespace sluice {

struct ImportOptions {
  /// `--set NAME=VALUE`: variables of templates, sizes of a graph's symbolic dimensions.
  std::map<std::string, std::string> variables;
  std::string energy_file;         ///< energies per action, see docs/importing.md; empty: none
  std::string python = "python3";  ///< runs Jinja2 for files that are templates
  LoadLimits limits;
};

/// Specs of another tool as Sluice specs: YAML texts, empty where the input has no such part.
struct ImportedSpecs {
  std::string format;  ///< `Timeloop v3`, `Timeloop v4`, `AccelForge`, `a table of layers`, `ONNX`
  std::string workload;
  std::string arch;
  std::string mapping;
  std::string constraints;
  Diagnostics notes;               ///< what has no counterpart, each at its place (Severity::kNote)
  std::optional<OnnxImport> onnx;  ///< of a model: counts and operators
};

/// Reads a table of layers (`.csv`, docs/networks.md), an ONNX model (`.onnx`, docs/onnx.md), or
/// the files of one job of Timeloop
/// (`architecture`, `problem`, `mapping`, `constraints`) or AccelForge (`arch`, `workload`,
/// `mapping`). Everything in them is either translated or noted. All mistakes are returned
/// together.
Result<ImportedSpecs> import_specs(const std::vector<std::string>& files,
                                   const ImportOptions& options);

}  // namespace sluice
