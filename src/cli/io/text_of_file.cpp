#include "text_of_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "failure.h"

namespace sluice::cli {

namespace {

[[noreturn]] void fail(const std::string& path, const char* why) {
  throw Failure(ExitCode::kFileTrouble, fmt::format("cannot read {}: {}", path, why));
}

}  // namespace

std::ifstream open_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(path, "it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, std::strerror(errno));
  return file;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file = open_file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail(path, "it cannot be read to its end");
  return text;
}

}  // namespace sluice::cli
