#include "scheme_lines.h"

#include <sstream>
#include <utility>

#include "failure.h"
#include "sluice/kapla/scheme_text.h"
#include "text_of_file.h"

namespace sluice::cli {

SchemeLines read_scheme_lines(const std::string& path) {
  std::istringstream text(text_of_file(path));
  SchemeLines read;
  Diagnostics mistakes;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (auto scheme = kapla::read_scheme(line, {path, number, 0})) {
      read.schemes.push_back(std::move(*scheme));
      read.lines.push_back(line);
    } else {
      mistakes.insert(mistakes.end(), scheme.error().begin(), scheme.error().end());
    }
  }
  if (!mistakes.empty()) throw Failure(std::move(mistakes));
  return read;
}

}  // namespace sluice::cli
