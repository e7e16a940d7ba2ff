#include <ostream>
#include <string>
#include <vector>

#include "cli/io/failure.h"
#include "cli/io/scheme_lines.h"
#include "cli/io/text_of_file.h"
#include "commands.h"
#include "sluice/kapla/directives.h"

namespace sluice::cli {
namespace {

/// Lines of JSON begin with a brace, directives with a name.
bool holds_schemes(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

std::vector<kapla::LayerDirectives> directives_of(const std::vector<kapla::Scheme>& schemes) {
  std::vector<kapla::LayerDirectives> layers;
  for (const kapla::Scheme& scheme : schemes)
    if (scheme.directives) layers.push_back(scheme.directives->layer);
  return layers;
}

}  // namespace

ExitCode run_show_directives(const std::string& file, const Console& console) {
  const std::string text = text_of_file(file);
  std::vector<kapla::LayerDirectives> layers;
  if (holds_schemes(text)) {
    layers = directives_of(read_scheme_lines(file).schemes);
  } else {
    const auto parsed = kapla::parse_directives(text, file);
    if (!parsed) throw Failure(with_lines(parsed.error(), text));
    layers = *parsed;
  }
  console.out << kapla::to_text(layers) << std::flush;
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
