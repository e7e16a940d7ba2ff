#include "text_of_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "failure.h"

namespace sluice::cli {

std::string text_of_file(const std::string& path) {
  const auto fail = [&](const char* why) {
    throw Failure(ExitCode::kFileTrouble, fmt::format("cannot read {}: {}", path, why));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail("it cannot be read to its end");
  return text;
}

}  // namespace sluice::cli
