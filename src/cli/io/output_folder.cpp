#include "output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>
#include <utility>

#include "failure.h"

namespace sluice::cli {
namespace fs = std::filesystem;

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Failure(ExitCode::kFileTrouble,
                  fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  if (!fs::is_directory(folder, error))
    throw Failure(ExitCode::kFileTrouble,
                  fmt::format("cannot write into {}: it is not a folder", folder.string()));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw Failure(ExitCode::kFileTrouble,
                  fmt::format("cannot write into {}: {}", folder.string(), std::strerror(errno)));
}

AtomicFile::AtomicFile(fs::path file) : file_(std::move(file)), temporary_(file_) {
  temporary_ += fmt::format(".{}.tmp", getpid());
  out_.open(temporary_, std::ios::binary);
  if (!out_) fail(std::strerror(errno));
}

AtomicFile::~AtomicFile() {
  if (is_published_) return;
  out_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void AtomicFile::write(std::string_view text) {
  out_ << text;
  if (!out_) fail(std::strerror(errno));
}

void AtomicFile::publish() {
  out_.close();
  if (!out_) fail(std::strerror(errno));
  std::error_code error;
  fs::rename(temporary_, file_, error);
  if (error) fail(error.message());
  is_published_ = true;
}

void AtomicFile::fail(const std::string& reason) const {
  throw Failure(ExitCode::kFileTrouble, fmt::format("cannot write {}: {}", file_.string(), reason));
}

void write_atomically(const fs::path& file, const std::string& text) {
  AtomicFile out(file);
  out.write(text);
  out.publish();
}

void write_where_different(const fs::path& file, const std::string& text) {
  std::ifstream in(file, std::ios::binary);
  const std::string before{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || before != text) write_atomically(file, text);
}

}  // namespace sluice::cli
