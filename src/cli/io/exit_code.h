#pragma once

namespace sluice::cli {

/// Exit status of the program (docs/cli.md).
enum class ExitCode : int {
  kSuccess = 0,       ///< found, or legal
  kHonestNo = 1,      ///< no legal mapping, or an illegal one
  kBadInput = 2,      ///< the input or the call is wrong
  kFileTrouble = 3,   ///< a file could not be read or written
  kNoVerdict = 4,     ///< a mapping that cannot be priced, or run, yet
  kInternalBug = 70,  ///< a bug in Sluice
  kInterrupted = 130,
};

}  // namespace sluice::cli
