#include "support/expression_units.h"

#include <array>

namespace sluice {
namespace {

struct DecimalPrefix {
  std::string_view name;
  int exponent;
};

struct BinaryPrefix {
  std::string_view name;
  double factor;
};

constexpr std::array<DecimalPrefix, 12> kDecimalPrefixes = {{{"f", -15},
                                                             {"p", -12},
                                                             {"n", -9},
                                                             {"u", -6},
                                                             {"\xC2\xB5", -6},  // micro sign
                                                             {"m", -3},
                                                             {"k", 3},
                                                             {"K", 3},
                                                             {"M", 6},
                                                             {"G", 9},
                                                             {"T", 12},
                                                             {"P", 15}}};
constexpr std::array<BinaryPrefix, 4> kBinaryPrefixes = {
    {{"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}}};

struct BaseUnit {
  std::string_view name;
  Unit unit;
  bool decimal_prefixes = false;
  bool binary_prefixes = false;
};

constexpr Dimension kBit{.bit = 1};
constexpr Dimension kSquareMetre{.metre = 2};
constexpr Dimension kCycle{.cycle = 1};

constexpr std::array<BaseUnit, 18> kBaseUnits = {{
    {"J", {.dimension = {.joule = 1}}, true},
    {"s", {.dimension = {.second = 1}}, true},
    {"Hz", {.dimension = {.second = -1}}, true},
    {"W", {.dimension = {.joule = 1, .second = -1}}, true},
    {"bit", {.dimension = kBit}, true, true},
    {"bits", {.dimension = kBit}, true, true},
    {"b", {.dimension = kBit}, true, true},
    {"B", {.factor = 8, .dimension = kBit}, true, true},
    {"byte", {.factor = 8, .dimension = kBit}},
    {"bytes", {.factor = 8, .dimension = kBit}},
    {"m2", {.dimension = kSquareMetre}},
    {"m\xC2\xB2", {.dimension = kSquareMetre}},
    {"mm2", {.decimal_exponent = -6, .dimension = kSquareMetre}},
    {"mm\xC2\xB2", {.decimal_exponent = -6, .dimension = kSquareMetre}},
    {"um2", {.decimal_exponent = -12, .dimension = kSquareMetre}},
    {"um\xC2\xB2", {.decimal_exponent = -12, .dimension = kSquareMetre}},
    {"cycle", {.dimension = kCycle}},
    {"cycles", {.dimension = kCycle}},
}};

std::optional<Unit> with_prefix(const BaseUnit& base, std::string_view prefix) {
  Unit unit = base.unit;
  if (prefix.empty()) return unit;
  if (base.decimal_prefixes) {
    for (const DecimalPrefix& known : kDecimalPrefixes) {
      if (known.name != prefix) continue;
      unit.decimal_exponent += known.exponent;
      return unit;
    }
  }
  if (base.binary_prefixes) {
    for (const BinaryPrefix& known : kBinaryPrefixes) {
      if (known.name != prefix) continue;
      unit.factor *= known.factor;
      return unit;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Unit> unit_from_name(std::string_view name) {
  for (const BaseUnit& base : kBaseUnits) {
    if (!name.ends_with(base.name)) continue;
    if (auto unit = with_prefix(base, name.substr(0, name.size() - base.name.size()))) return unit;
  }
  return std::nullopt;
}

}  // namespace sluice
