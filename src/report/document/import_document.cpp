#include "report/document/import_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/support/version.h"

namespace sluice::cli {
namespace {

Json operators_to_json(const OnnxImport& imported) {
  Json rows = Json::array();
  for (const OnnxOperator& entry : imported.operators) {
    Json row;
    row["type"] = entry.type;
    row["count"] = entry.count;
    row["einsums"] = entry.einsums;
    row["operations"] = entry.operations;
    row["how"] = to_string(entry.how);
    row["nodes"] = entry.nodes;
    row["reasons"] = entry.reasons;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json tensors_to_json(const OnnxImport& imported) {
  Json rows = Json::array();
  for (const OnnxTensor& tensor : imported.tensors) {
    Json row;
    row["name"] = tensor.name;
    row["tensor"] = tensor.tensor;
    row["is_constant"] = tensor.is_constant;
    row["is_whole"] = tensor.is_whole;
    row["shape"] = tensor.shape;
    row["sizes"] = tensor.sizes;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The numbers of ranks[rank] and all after it, from `values[next]` on.
Json nested(const std::vector<std::int64_t>& sizes, std::size_t rank,
            const std::vector<double>& values, std::size_t& next) {
  if (rank == sizes.size()) {
    const double value = values[next++];
    if (std::isfinite(value)) return value;
    return value > 0 ? "inf" : "-inf";
  }
  Json list = Json::array();
  for (std::int64_t i = 0; i < sizes[rank]; ++i)
    list.push_back(nested(sizes, rank + 1, values, next));
  return list;
}

}  // namespace

Json import_document(const ImportedSpecs& imported, const std::vector<std::string>& files,
                     const std::vector<std::string>& written) {
  Json document;
  document["schema"] = kImportSchema;
  document["sluice"] = version();
  document["command"] = "import";
  document["status"] = "ok";
  document["format"] = imported.format;
  document["inputs"] = files;
  document["files"] = written;
  if (imported.onnx) {
    document["einsums"] = imported.onnx->einsums;
    document["macs"] = imported.onnx->macs;
    document["parameters"] = imported.onnx->parameters;
    document["activation_values"] = imported.onnx->activation_values;
    document["operators"] = operators_to_json(*imported.onnx);
    document["tensors"] = tensors_to_json(*imported.onnx);
  }
  document["diagnostics"] = diagnostics_to_json(imported.notes);
  return document;
}

std::string numbers_text(const OnnxImport& imported) {
  Json document = Json::object();
  for (const OnnxTensor& tensor : imported.tensors) {
    const auto found = imported.numbers.find(tensor.tensor);
    if (found == imported.numbers.end()) continue;
    std::size_t next = 0;
    document[tensor.tensor] = nested(tensor.sizes, 0, found->second, next);
  }
  return document.dump() + "\n";
}

std::string import_summary(const OnnxImport& imported) {
  std::string text =
      fmt::format("{} Einsums, {} multiply-adds, {} parameters, {} activation values\n",
                  imported.einsums, imported.macs, imported.parameters, imported.activation_values);
  std::size_t width = 0;
  for (const OnnxOperator& entry : imported.operators) width = std::max(width, entry.type.size());
  for (const OnnxOperator& entry : imported.operators)
    text += fmt::format("  {:<{}} {:>6} {:>16} operations  {}\n", entry.type, width, entry.count,
                        entry.operations, to_string(entry.how));
  return text;
}

}  // namespace sluice::cli
