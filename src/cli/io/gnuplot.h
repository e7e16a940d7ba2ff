#pragma once

#include <string>

namespace sluice::cli {

/// Has gnuplot carry out commands that write an image. Throws Failure(kFileTrouble) where there is
/// no gnuplot, or it says that something is wrong.
void run_gnuplot(const std::string& commands, const std::string& image_file);

}  // namespace sluice::cli
