#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "log.h"
#include "sluice/support/diagnostic.h"

namespace sluice::cli {

/// The two output streams, and what may be written to them.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool ascii = false;       ///< no characters beyond ASCII
  bool colour = false;      ///< `out` understands colour
  std::size_t width = 100;  ///< columns of `out`
  Log log{};                ///< for `--verbose`
};

/// The streams of this process: looks at whether they are terminals, at their width, at the
/// locale's character set, and at NO_COLOR.
Console process_console();

enum class Ink { kBold, kDim, kGreen, kYellow, kRed, kBlue };
/// The text in a colour where the console has colours, else as it is.
std::string inked(const Console& console, Ink ink, std::string_view text);

/// `1 error`, `2 errors`
std::string counted(std::size_t count, std::string_view noun);

/// Prints every diagnostic to `err`, then `2 errors` (warnings are counted apart).
void print_diagnostics(const Console& console, const Diagnostics& diagnostics);

}  // namespace sluice::cli
