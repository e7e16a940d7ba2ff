#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sluice::cli {

/// CLI11's help with descriptions that are broken at 100 columns.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(32); }
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
};

}  // namespace sluice::cli
