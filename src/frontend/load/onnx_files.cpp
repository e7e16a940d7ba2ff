#include "frontend/load/onnx_files.h"

namespace sluice {

std::optional<OnnxImport> read_onnx_file(ReadContext& context, const std::string& path) {
  OnnxOptions options;
  options.sizes = context.options().variables;
  Result<OnnxImport> imported = import_onnx(path, options);
  if (imported) return std::move(*imported);
  for (const Diagnostic& found : imported.error())
    context.error_about(path, found.message, found.hint, found.cause);
  return std::nullopt;
}

}  // namespace sluice
