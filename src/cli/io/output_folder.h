#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace sluice::cli {

/// Makes the folder `-o` names (and its parents). Throws Failure(kFileTrouble).
void make_output_folder(const std::filesystem::path& folder);

/// A file that is written piece by piece so that a reader sees the old or the new contents, never a
/// part: a temporary file beside it, then a rename. Unpublished, nothing of it stays. Throws
/// Failure(kFileTrouble).
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path file);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view text);
  void publish();

 private:
  [[noreturn]] void fail(const std::string& reason) const;

  std::filesystem::path file_, temporary_;
  std::ofstream out_;
  bool is_published_ = false;
};

/// Writes a whole file like that.
void write_atomically(const std::filesystem::path& file, const std::string& text);

/// The same, where the file does not say so already.
void write_where_different(const std::filesystem::path& file, const std::string& text);

}  // namespace sluice::cli
