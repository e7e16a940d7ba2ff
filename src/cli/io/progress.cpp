#include "progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "report/text/text_bars.h"

namespace sluice::cli {

void ProgressLine::show(const std::string& phase, double fraction, const std::string& detail) {
  const std::string behind = detail.empty() ? "" : ", " + detail;
  if (style_ == ProgressStyle::kNone) return;
  const std::lock_guard lock(mutex_);
  const double known = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  if (style_ == ProgressStyle::kPlain) show_plain(phase, known, behind);
  if (style_ == ProgressStyle::kTerminal) show_on_terminal(phase, known, behind);
}

void ProgressLine::show_on_terminal(const std::string& phase, double fraction,
                                    const std::string& detail) {
  constexpr std::chrono::milliseconds kShortest(50);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_shown_ < kShortest) return;
  last_shown_ = now;
  is_shown_ = true;
  console_.err << fmt::format("\r\x1b[K{} {:3.0f} %  {}{}", bar(fraction, 20, console_.ascii),
                              fraction * 100, phase, detail)
               << std::flush;
}

void ProgressLine::show_plain(const std::string& phase, double fraction,
                              const std::string& detail) {
  const int tenth = static_cast<int>(fraction * 10);
  if (phase == phase_ && tenth <= last_tenth_) return;
  phase_ = phase;
  last_tenth_ = tenth;
  console_.err << fmt::format("progress: {} {:.0f} %{}\n", phase, fraction * 100, detail)
               << std::flush;
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (is_shown_) console_.err << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

}  // namespace sluice::cli
