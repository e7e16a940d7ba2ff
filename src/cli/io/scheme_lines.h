#pragma once

#include <string>
#include <vector>

#include "sluice/kapla/scheme.h"

namespace sluice::cli {

/// The lines of a schemes file, with their schemes.
struct SchemeLines {
  std::vector<std::string> lines;
  std::vector<kapla::Scheme> schemes;
};

/// Reads a schemes file. Throws Failure with what is wrong with any of its lines.
SchemeLines read_scheme_lines(const std::string& path);

}  // namespace sluice::cli
