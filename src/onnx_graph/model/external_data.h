#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace onnx {
class TensorProto;
}

namespace sluice::onnx_graph {

/// Where the values of a tensor stand in a file beside the model.
struct ExternalData {
  std::string location;  ///< from the model's folder
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
};

/// A location that leaves the folder, or numbers that are none: `std::invalid_argument`.
ExternalData external_data(const onnx::TensorProto& tensor);

/// `length` bytes of it; nothing where there is no such file. `std::length_error` where the file is
/// too short.
std::optional<std::string> read_external(const ExternalData& data, std::int64_t length,
                                         const std::filesystem::path& folder);
/// The same without reading.
bool check_external(const ExternalData& data, std::int64_t length,
                    const std::filesystem::path& folder);

}  // namespace sluice::onnx_graph
