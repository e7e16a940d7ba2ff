#include "output_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

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

void write_atomically(const fs::path& file, const std::string& text) {
  fs::path temporary = file;
  temporary += fmt::format(".{}.tmp", getpid());
  std::error_code error;
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text << std::flush;
    if (!out) {
      const std::string reason = std::strerror(errno);
      fs::remove(temporary, error);
      throw Failure(ExitCode::kFileTrouble,
                    fmt::format("cannot write {}: {}", file.string(), reason));
    }
  }
  fs::rename(temporary, file, error);
  if (error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw Failure(ExitCode::kFileTrouble,
                  fmt::format("cannot write {}: {}", file.string(), error.message()));
  }
}

}  // namespace sluice::cli
