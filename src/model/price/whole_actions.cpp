#include "model/price/whole_actions.h"

#include <cmath>

namespace sluice {
namespace {

__extension__ using Wide = __int128;

/// Widths nearly always are whole numbers: then nothing is rounded on the way.
bool is_whole(double width) { return width == std::floor(width) && width < 0x1p53; }

/// A quotient that differs from a whole number by what its division was rounded by is that number.
double rounded_up(double quotient) {
  constexpr double kRounding = 1e-9;
  const double nearest = std::round(quotient);
  return std::abs(quotient - nearest) <= kRounding * nearest ? nearest : std::ceil(quotient);
}

}  // namespace

double whole_actions(std::int64_t count, std::int64_t instances, const Rate& rate) {
  // There need not be an instance then, nor bits of an action.
  if (count == 0 || rate.times == 0) return 0;
  const auto all = static_cast<double>(instances);
  if (!is_whole(rate.times) || !is_whole(rate.per))
    return all * rounded_up(rate.of(static_cast<double>(count) / all));
  const Wide bits = Wide{count} * static_cast<std::int64_t>(rate.times);
  const Wide step = Wide{instances} * static_cast<std::int64_t>(rate.per);
  return all * static_cast<double>((bits + step - 1) / step);
}

}  // namespace sluice
