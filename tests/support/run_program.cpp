#include "support/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/folders.h"

namespace sluice::testing {
namespace {

void redirect(int stream, const std::string& file) {
  const int handle = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (handle < 0 || dup2(handle, stream) < 0) _exit(126);
}

[[noreturn]] void become(const std::string& program, const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment) {
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  setenv("LC_ALL", "C.UTF-8", 1);
  for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
  execv(program.c_str(), words.data());
  _exit(127);
}

}  // namespace

ProgramRun run_program(const std::string& program, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const std::string err = folder / "err";
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start " + program);
  if (child == 0) {
    redirect(STDOUT_FILENO, out);
    redirect(STDERR_FILENO, err);
    become(program, arguments, environment);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {exit_status, read_text(out), read_text(err)};
}

ProgramRun run_sluice(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment) {
  return run_program(sluice_program(), arguments, environment);
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "sluice_test_XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  const std::string path = *this / name;
  std::ofstream out(path, std::ios::binary);
  if (!(out << text << std::flush)) throw std::runtime_error("cannot write " + path);
  return path;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace sluice::testing
