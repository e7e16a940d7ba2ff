#include <string>
#include <vector>

#include "command_line.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto code = sluice::cli::run_command_line(arguments, sluice::cli::process_console());
  return static_cast<int>(code);
}
