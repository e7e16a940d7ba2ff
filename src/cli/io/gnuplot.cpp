#include "gnuplot.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>

#include "failure.h"

namespace sluice::cli {

void run_gnuplot(const std::string& commands, const std::string& image_file) {
  const auto previous = std::signal(SIGPIPE, SIG_IGN);  // one that ends early is told below
  std::FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) throw Failure(ExitCode::kFileTrouble, "cannot start gnuplot");
  std::fwrite(commands.data(), 1, commands.size(), gnuplot);
  const int status = pclose(gnuplot);
  std::signal(SIGPIPE, previous);
  constexpr int kNotFound = 127;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound)
    throw Failure(ExitCode::kFileTrouble, "plots are drawn by gnuplot, which is not installed",
                  "apt-get install gnuplot-nox; --csv writes the numbers for other programs");
  if (status != 0)
    throw Failure(ExitCode::kFileTrouble, fmt::format("gnuplot could not write {}", image_file));
}

}  // namespace sluice::cli
