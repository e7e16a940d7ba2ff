#include "onnx_graph/model/external_data.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "onnx_graph/model/onnx_messages.h"

namespace sluice::onnx_graph {
namespace {

std::int64_t byte_count(const std::string& key, const std::string& text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 0)
    throw std::invalid_argument(fmt::format("its {} '{}' is no number of bytes", key, text));
  return number;
}

bool stays_inside(const std::filesystem::path& location) {
  if (location.empty() || location.is_absolute()) return false;
  for (const std::filesystem::path& part : location)
    if (part == "..") return false;
  return true;
}

}  // namespace

ExternalData external_data(const onnx::TensorProto& tensor) {
  ExternalData data;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") data.location = entry.value();
    if (entry.key() == "offset") data.offset = byte_count("offset", entry.value());
    if (entry.key() == "length") data.length = byte_count("length", entry.value());
  }
  if (!stays_inside(data.location))
    throw std::invalid_argument(
        fmt::format("its values stand in '{}', outside of the model's folder", data.location));
  return data;
}

bool check_external(const ExternalData& data, std::int64_t length,
                    const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path path = folder / data.location;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  if (error) return false;
  if (data.offset > size || length > size - data.offset)
    throw std::length_error(fmt::format("{} bytes of values from byte {} of '{}' on, which has {}",
                                        length, data.offset, data.location, size));
  return true;
}

std::optional<std::string> read_external(const ExternalData& data, std::int64_t length,
                                         const std::filesystem::path& folder) {
  if (!check_external(data, length, folder)) return std::nullopt;
  std::ifstream file(folder / data.location, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(length), '\0');
  if (!file.seekg(data.offset) || !file.read(bytes.data(), length)) return std::nullopt;
  return bytes;
}

}  // namespace sluice::onnx_graph
