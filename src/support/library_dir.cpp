#include "sluice/support/library_dir.h"

#include <system_error>

namespace sluice {
namespace fs = std::filesystem;

fs::path library_dir() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path installed =
      (program.parent_path() / ".." / SLUICE_INSTALLED_DATA / "library").lexically_normal();
  if (!error && fs::is_directory(installed, error)) return installed;
  fs::path source_tree = SLUICE_SOURCE_LIBRARY;
  return fs::is_directory(source_tree, error) ? source_tree : installed;
}

}  // namespace sluice
