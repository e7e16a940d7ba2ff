#include "progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/text/text_bars.h"
#include "support/seconds_since.h"

namespace sluice::cli {

void ProgressLine::show(const std::string& phase, double fraction, const ProgressDetail& detail) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  fraction_ = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  show(detail);
}

void ProgressLine::show_again(const ProgressDetail& detail) {
  const std::lock_guard lock(mutex_);
  show(detail);
}

void ProgressLine::show(const ProgressDetail& detail) {
  const std::string behind = detail.text.empty() ? "" : ", " + detail.text;
  if (style_ == ProgressStyle::kJson) show_json(detail);
  if (style_ == ProgressStyle::kPlain) show_plain(behind);
  if (style_ == ProgressStyle::kTerminal) show_on_terminal(behind);
}

double ProgressLine::seconds() const { return seconds_since(start_); }

void ProgressLine::show_on_terminal(const std::string& detail) {
  constexpr std::chrono::milliseconds kShortest(50);
  const auto now = Clock::now();
  if (now - last_shown_ < kShortest) return;
  last_shown_ = now;
  is_shown_ = true;
  console_.err << fmt::format("\r\x1b[K{} {:3.0f} %  {}{}, {:.1f} s",
                              bar(fraction_, 20, console_.ascii), fraction_ * 100, phase_, detail,
                              seconds())
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
  console_.err << fmt::format("progress: {} {:.0f} %{}, {:.1f} s\n", phase_, fraction_ * 100,
                              detail, seconds())
               << std::flush;
}

void ProgressLine::show_json(const ProgressDetail& detail) {
  constexpr std::chrono::seconds kLongest(10);
  const auto now = Clock::now();
  const bool is_news = phase_ != shown_phase_ || detail.objective != shown_.objective ||
                       detail.bound != shown_.bound;
  if (!is_news && now - last_shown_ < kLongest) return;
  shown_phase_ = phase_;
  shown_ = detail;
  last_shown_ = now;
  const auto number = [](std::optional<double> value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json line{{"seconds", seconds()}, {"phase", phase_}, {"fraction", fraction_}};
  line["detail"] = detail.text;
  line["objective"] = number(detail.objective);
  line["bound"] = number(detail.bound);
  const bool has_both = detail.objective && detail.bound;
  line["found_over_bound"] =
      number(has_both ? std::optional(*detail.objective / *detail.bound) : std::nullopt);
  console_.err << line.dump() << "\n" << std::flush;
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (is_shown_) console_.err << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

}  // namespace sluice::cli
