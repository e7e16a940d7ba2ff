#pragma once

#include <string>
#include <vector>

namespace sluice::testing {

struct ProgramRun {
  int exit_status = -1;  ///< 128 + signal where a signal ended it
  std::string out;       ///< standard output
  std::string err;       ///< standard error
};

/// Runs a program to its end, without a terminal and in an UTF-8 locale. `environment` entries
/// (`NAME=VALUE`) are added to this process's.
ProgramRun run_program(const std::string& program, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {});

/// The same with the program `sluice` of this build.
ProgramRun run_sluice(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment = {});

/// A folder of its own for one test, removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Path of a file in the folder.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

/// The whole file as text; throws std::runtime_error if it cannot be read.
std::string read_text(const std::string& path);

}  // namespace sluice::testing
