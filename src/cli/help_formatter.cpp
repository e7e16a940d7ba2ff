#include "help_formatter.h"

#include <sstream>

#include "report/text/text_bars.h"

namespace sluice::cli {

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  constexpr std::size_t kWidth = 100;
  const std::string name =
      "  " + make_option_name(option, is_positional) + make_option_opts(option);
  std::string text;
  std::string line = pad_right(name, column_width_);
  if (text_columns(name) >= column_width_) {
    text = name + "\n";
    line = std::string(column_width_, ' ');
  }
  std::istringstream words(make_option_desc(option));
  bool is_first = true;
  for (std::string word; words >> word; is_first = false) {
    if (!is_first && text_columns(line) + 1 + text_columns(word) > kWidth) {
      text += line + "\n";
      line = std::string(column_width_, ' ');
      is_first = true;
    }
    line += (is_first ? "" : " ") + word;
  }
  return text + line + "\n";
}

}  // namespace sluice::cli
