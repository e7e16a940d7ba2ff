#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "report/text/console.h"

namespace sluice::cli {

enum class ProgressStyle { kNone, kPlain, kJson, kTerminal };

/// What is known beside the phase: in words, and in J, s or J·s.
struct ProgressDetail {
  std::string text = {};
  std::optional<double> objective = {}, bound = {};
  friend bool operator==(const ProgressDetail&, const ProgressDetail&) = default;
};

/// Shows how far a search is, on standard error: one line that is written over on a terminal, or
/// (`--progress plain`) a line whenever the phase changes, ten percent more are done, or something
/// else is known after a second or more; and one at least every ten seconds (of long searches,
/// every tenth of their time); or (`--progress json`) an object a line, at once whenever the phase
/// or something in numbers changes. May be called from any thread.
class ProgressLine {
 public:
  ProgressLine(const Console& console, ProgressStyle style) : console_(console), style_(style) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `detail`: what else is known at this moment, behind the phase.
  void show(const std::string& phase, double fraction, const ProgressDetail& detail = {});
  /// The phase as it was shown last, what else is known by now.
  void show_again(const ProgressDetail& detail);
  bool is_ascii() const { return console_.ascii; }
  /// Removes the line from the terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void show(const ProgressDetail& detail);
  void show_on_terminal(const std::string& detail);
  void show_plain(const std::string& detail);
  void show_json(const ProgressDetail& detail);
  double seconds() const;

  const Console& console_;
  ProgressStyle style_;
  std::mutex mutex_;
  std::string phase_ = "starting";
  double fraction_ = 0;
  std::string shown_phase_, shown_detail_;
  ProgressDetail shown_;
  int shown_tenth_ = -1;
  bool is_shown_ = false;
  Clock::time_point start_ = Clock::now(), last_shown_{};
};

}  // namespace sluice::cli
