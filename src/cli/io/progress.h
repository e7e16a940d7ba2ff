#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "report/text/console.h"

namespace sluice::cli {

enum class ProgressStyle { kNone, kPlain, kTerminal };

/// Shows how far a search is, on standard error: one line that is written over on a terminal, or
/// (`--progress plain`) a line whenever the phase changes or ten percent more are done. May be
/// called from any thread.
class ProgressLine {
 public:
  ProgressLine(const Console& console, ProgressStyle style) : console_(console), style_(style) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `detail`: what else is known at this moment, behind the phase.
  void show(const std::string& phase, double fraction, const std::string& detail = "");
  bool is_ascii() const { return console_.ascii; }
  /// Removes the line from the terminal.
  void clear();

 private:
  void show_on_terminal(const std::string& phase, double fraction, const std::string& detail);
  void show_plain(const std::string& phase, double fraction, const std::string& detail);

  const Console& console_;
  ProgressStyle style_;
  std::mutex mutex_;
  std::string phase_;
  int last_tenth_ = -1;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point last_shown_{};
};

}  // namespace sluice::cli
