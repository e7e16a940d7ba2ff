#include "sluice/support/human_units.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <string_view>

namespace sluice {
namespace {

/// Three significant digits without an exponent, for 0.001 <= |value| < 100,000.
std::string three_digits(double value) {
  const double magnitude = std::abs(value);
  if (magnitude == 0) return "0";  // of either sign
  if (magnitude == std::floor(magnitude)) return fmt::format("{:.0f}", value);
  if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
  if (magnitude >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string special(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

}  // namespace

std::string human_si(double value, const std::string& unit, bool ascii) {
  if (std::isnan(value)) return "unknown";
  if (!std::isfinite(value)) return special(value) + " " + unit;
  if (value == 0) return "0 " + unit;
  static constexpr std::array<std::string_view, 21> kPrefixes = {"q", "r", "y", "z", "a", "f", "p",
                                                                 "n", "µ", "m", "",  "k", "M", "G",
                                                                 "T", "P", "E", "Z", "Y", "R", "Q"};
  constexpr int kUnit = 10;  // index of no prefix
  // 0.9995 rounds to 1: such a value belongs to the next prefix.
  int step = static_cast<int>(std::floor(std::log10(std::abs(value) * 1.0005) / 3.0));
  if (step < -kUnit || step > kUnit) return fmt::format("{:.2e} {}", value, unit);
  std::string_view prefix = kPrefixes[static_cast<std::size_t>(step + kUnit)];
  if (ascii && step == -2) prefix = "u";
  return fmt::format("{} {}{}", three_digits(value / std::pow(1000.0, step)), prefix, unit);
}

std::string human_size(double bits) {
  if (!std::isfinite(bits)) return special(bits);
  double bytes = bits / 8;
  if (bits != 0 && std::abs(bits) < 1) return human_si(bits, "bit");
  if (bytes < 1024 && bytes != std::floor(bytes)) return three_digits(bits) + " bit";
  static constexpr std::array<std::string_view, 9> kPrefixes = {"",   "Ki", "Mi", "Gi", "Ti",
                                                                "Pi", "Ei", "Zi", "Yi"};
  std::size_t step = 0;
  for (; bytes >= 1023.5 && step + 1 < kPrefixes.size(); ++step) bytes /= 1024;
  if (bytes >= 1023.5) return fmt::format("{:.2e} B", bits / 8);
  return fmt::format("{} {}B", three_digits(bytes), kPrefixes[step]);
}

std::string human_size_at_least(double bits) {
  constexpr double kKibi = 1024, kBitsInByte = 8;
  const double bytes = std::ceil(bits) / kBitsInByte;
  if (!(bytes >= kKibi) || !std::isfinite(bytes)) return human_size(std::ceil(bits));
  double unit = 1;
  while (bytes / unit >= kKibi - 0.5) unit *= kKibi;
  const double amount = bytes / unit;
  const double digit = amount > 99.9 ? 1 : amount > 9.99 ? 0.1 : 0.01;  // the last one shown
  constexpr double kRounding = 1e-9;
  return human_size(std::ceil(amount / digit - kRounding) * digit * unit * kBitsInByte);
}

std::string human_count(double count) {
  if (!std::isfinite(count)) return special(count);
  if (count < 0) return "-" + human_count(-count);
  if (count >= 1e15) return fmt::format("{:.2e}", count);
  if (count >= 999.5e3) {
    std::string text = human_si(count, "");
    return text;
  }
  if (count >= 999.5) {
    const long long whole = std::llround(count);
    return fmt::format("{},{:03}", whole / 1000, whole % 1000);
  }
  return three_digits(count);
}

std::string human_percent(double share) {
  if (std::isnan(share)) return "-";
  if (std::isinf(share)) return special(share) + " %";
  const double percent = share * 100;
  if (percent == 0) return "0.0 %";  // of either sign
  if (percent >= 0.05) return fmt::format("{:.1f} %", percent);
  return fmt::format("{:.1g} %", percent);
}

}  // namespace sluice
