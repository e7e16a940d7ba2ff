#include "sluice/support/library_dir.h"

#include <dlfcn.h>

#include <system_error>

namespace sluice {
namespace fs = std::filesystem;
namespace {

/// Where this code stands as part of a shared object; empty in a program.
fs::path shared_object() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&library_dir), &info) == 0 || !info.dli_fname) return {};
  const fs::path file = info.dli_fname;
  return file.filename().string().find(".so") == std::string::npos ? fs::path() : file;
}

}  // namespace

fs::path library_dir() {
  std::error_code error;
  if (const fs::path object = shared_object(); !object.empty()) {
    fs::path beside = object.parent_path() / SLUICE_INSTALLED_DATA / "library";
    if (fs::is_directory(beside, error)) return beside;
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path installed =
      (program.parent_path() / ".." / SLUICE_INSTALLED_DATA / "library").lexically_normal();
  if (!error && fs::is_directory(installed, error)) return installed;
  fs::path source_tree = SLUICE_SOURCE_LIBRARY;
  return fs::is_directory(source_tree, error) ? source_tree : installed;
}

}  // namespace sluice
