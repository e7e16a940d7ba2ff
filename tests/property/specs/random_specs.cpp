#include "property/specs/random_specs.h"

#include <fmt/format.h>

#include <cmath>

namespace sluice::testing {

double RandomSpecs::number() {
  if (chance(50)) return static_cast<double>(pick(1, 4096));
  return std::ldexp(static_cast<double>(pick(1, std::int64_t{1} << 52)),
                    static_cast<int>(pick(-90, 20)));
}

std::string RandomSpecs::number_expression(int depth) {
  if (depth == 0) return any<std::string>({"a", "b", "3", "2.5e-12", "inf", "len(S)"});
  const auto inner = [&] { return number_expression(depth - 1); };
  switch (pick(0, 7)) {
    case 0:
      return fmt::format("({})", inner());
    case 1:
      return fmt::format("-{}", inner());
    case 2:
      return fmt::format("max({}, {})", inner(), inner());
    case 3:
      return fmt::format("({} if {} else {})", inner(), truth_expression(depth - 1), inner());
    case 4:
      return fmt::format("sum(x.n_calls * ({}) for x in actions)", number_expression(0));
    case 5:
      return fmt::format("({}) ** ({})", inner(), inner());
    default:
      return fmt::format("{} {} {}", inner(), any<std::string>({"+", "-", "*", "/", "//", "%"}),
                         inner());
  }
}

std::string RandomSpecs::truth_expression(int depth) {
  if (depth == 0) return any<std::string>({"p", "true", "False", "{x, y} <= S"});
  const auto inner = [&] { return truth_expression(depth - 1); };
  switch (pick(0, 3)) {
    case 0:
      return fmt::format("(not {})", inner());
    case 1:
      return fmt::format("({} {} {})", inner(), any<std::string>({"and", "or"}), inner());
    case 2:
      return fmt::format("({} <= {} < {})", number_expression(depth - 1),
                         number_expression(depth - 1), number_expression(depth - 1));
    default:
      return fmt::format("({} != {})", set_expression(depth - 1), set_expression(depth - 1));
  }
}

std::string RandomSpecs::set_expression(int depth) {
  if (depth == 0) return any<std::string>({"S", "T", "{x}", "{}"});
  const auto inner = [&] { return set_expression(depth - 1); };
  switch (pick(0, 3)) {
    case 0:
      return "~" + inner();
    case 1:
      return fmt::format("({})", inner());
    default:
      return fmt::format("{} {} {}", inner(), any<std::string>({"|", "&", "-"}), inner());
  }
}

}  // namespace sluice::testing
