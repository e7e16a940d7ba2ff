#include "progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "report/text/text_bars.h"

namespace sluice::cli {

void ProgressLine::show(const std::string& phase, double fraction, const std::string& detail) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  fraction_ = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  show(detail);
}

void ProgressLine::show_again(const std::string& detail) {
  const std::lock_guard lock(mutex_);
  show(detail);
}

void ProgressLine::show(const std::string& detail) {
  const std::string behind = detail.empty() ? "" : ", " + detail;
  if (style_ == ProgressStyle::kPlain) show_plain(behind);
  if (style_ == ProgressStyle::kTerminal) show_on_terminal(behind);
}

std::string ProgressLine::seconds() const {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(Clock::now() - start_).count());
}

void ProgressLine::show_on_terminal(const std::string& detail) {
  constexpr std::chrono::milliseconds kShortest(50);
  const auto now = Clock::now();
  if (now - last_shown_ < kShortest) return;
  last_shown_ = now;
  is_shown_ = true;
  console_.err << fmt::format("\r\x1b[K{} {:3.0f} %  {}{}, {}", bar(fraction_, 20, console_.ascii),
                              fraction_ * 100, phase_, detail, seconds())
               << std::flush;
}

void ProgressLine::show_plain(const std::string& detail) {
  constexpr std::chrono::seconds kShortest(1), kLongest(10);
  constexpr int kShare = 10;  // of a long search's time, so that a log stays short
  const int tenth = static_cast<int>(fraction_ * 10);
  const auto now = Clock::now();
  const bool is_further = phase_ != shown_phase_ || tenth > shown_tenth_;
  const Clock::duration silence = now - last_shown_, least = (now - start_) / kShare;
  const bool is_news =
      detail != shown_detail_ && silence >= std::max<Clock::duration>(kShortest, least);
  if (!is_further && !is_news && silence < std::max<Clock::duration>(kLongest, least)) return;
  shown_phase_ = phase_;
  shown_tenth_ = tenth;
  shown_detail_ = detail;
  last_shown_ = now;
  console_.err << fmt::format("progress: {} {:.0f} %{}, {}\n", phase_, fraction_ * 100, detail,
                              seconds())
               << std::flush;
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (is_shown_) console_.err << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

}  // namespace sluice::cli
