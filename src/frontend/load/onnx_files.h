#pragma once

#include <optional>
#include <string>

#include "frontend/yaml/read_context.h"
#include "sluice/onnx_graph/import_onnx.h"

namespace sluice {

/// An ONNX model (`.onnx`); its workload is a spec. Sizes of symbolic dimensions are variables of
/// the context's options. Mistakes and notes go to the context.
std::optional<OnnxImport> read_onnx_file(ReadContext& context, const std::string& path);

}  // namespace sluice
