#include "frontend/yaml/file_text.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace sluice {
namespace fs = std::filesystem;

std::optional<std::string> file_text(ReadContext& context, const std::string& path) {
  std::error_code error;
  const auto unreadable = [&](const std::string& why, const std::string& hint = {}) {
    context.error_about(path, why, hint, DiagnosticCause::kUnreadable);
    return std::nullopt;
  };
  if (!fs::exists(path, error)) return unreadable("there is no such file");
  if (fs::is_directory(path, error)) return unreadable("this is a folder, not a file");
  const std::uintmax_t size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
  const std::size_t limit = context.options().limits.max_file_bytes;
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream) return unreadable("the file cannot be read");
  if (size > limit) {
    context.error_about(
        path, fmt::format("the file has {} bytes, more than the limit of {}", size, limit));
    return std::nullopt;
  }
  std::string text;
  std::array<char, 65536> block{};
  while (stream && text.size() <= limit) {  // a pipe has no size
    stream.read(block.data(), block.size());
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (text.size() > limit) {
    context.error_about(path, fmt::format("the file has more than {} bytes", limit));
    return std::nullopt;
  }
  return text;
}

}  // namespace sluice
