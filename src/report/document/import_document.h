#pragma once

#include <string>
#include <vector>

#include "report/document/result_document.h"
#include "sluice/frontend/import.h"

namespace sluice::cli {

inline constexpr const char* kImportSchema = "sluice.import/1";

/// What an import found, schema `sluice.import/1` (docs/onnx.md). `written`: the files.
Json import_document(const ImportedSpecs& imported, const std::vector<std::string>& files,
                     const std::vector<std::string>& written);

/// The numbers of a model's constants, as `execute --inputs` reads them.
std::string numbers_text(const OnnxImport& imported);

/// A model's counts and a line for each operator, for people.
std::string import_summary(const OnnxImport& imported);

}  // namespace sluice::cli
