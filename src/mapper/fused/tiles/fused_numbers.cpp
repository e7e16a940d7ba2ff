#include "fused_numbers.h"

#include <algorithm>

#include "tile_search.h"

namespace sluice::fused {

std::vector<ClassFusedNumbers> number_fused_loops(
    const Template& templ, const std::vector<VariableClass>& classes,
    const std::vector<std::shared_ptr<StateTable>>& tables) {
  const std::vector<std::uint32_t> places = fused_places(templ);
  std::vector<ClassFusedNumbers> result(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    result[c].table = tables[c].get();
    for (const ClassLoop& loop : classes[c].loops)
      if (loop.fused)
        result[c].positions.push_back(static_cast<std::uint32_t>(
            std::find(places.begin(), places.end(), loop.places.front()) - places.begin()));
  }
  return result;
}

bool fused_numbers_of(const std::vector<ClassFusedNumbers>& classes, const std::int64_t* row,
                      std::vector<std::int64_t>* scratch, std::vector<std::uint32_t>* numbers) {
  numbers->clear();
  for (const ClassFusedNumbers& cls : classes) {
    scratch->clear();
    for (std::uint32_t position : cls.positions) scratch->push_back(row[position]);
    const auto at = cls.table->fused_number.find(*scratch);
    if (at == cls.table->fused_number.end()) return false;
    numbers->push_back(at->second);
  }
  return true;
}

FusedBound::FusedBound(const SimpleProgram& program)
    : program_(program),
      factors_(program.products.size()),
      least_(program.products.size()),
      most_(program.products.size()) {
  for (std::size_t p = 0; p < program.products.size(); ++p)
    for (std::uint32_t c = 0; c < program.columns.size(); ++c)
      if (program.products[p].column[c] >= 0)
        factors_[p].push_back({c, static_cast<std::uint32_t>(program.products[p].column[c])});
}

bool FusedBound::promising(const std::vector<std::uint32_t>& numbers, const SearchBound& bound) {
  const std::optional<EnergyLatency> cost = least(numbers, bound);
  return cost && !bound.hopeless(cost->energy, cost->latency);
}

std::optional<EnergyLatency> FusedBound::least(const std::vector<std::uint32_t>& numbers,
                                               const SearchBound& bound) {
  for (std::size_t p = 0; p < factors_.size(); ++p) {
    double least = 1, most = 1;
    for (const Factor& factor : factors_[p]) {
      const Column& column = *program_.columns[factor.cls][factor.column];
      const std::uint32_t number = numbers[factor.cls];
      least *= number == kAny ? column.minimum : column.low[number];
      most *= number == kAny ? column.maximum : column.high[number];
    }
    least_[p] = least;
    most_[p] = most;
  }
  using Kind = SimpleProgram::RowKind;
  double energy = 0, latency = bound.own.latency;
  for (const SimpleProgram::SimpleRow& row : program_.rows) {
    if (row.kind == Kind::kSegment || row.kind == Kind::kPersistent) continue;
    double value = row.constant;
    for (const RowTerm& term : row.terms)
      value += term.coefficient * (term.coefficient > 0 ? least_ : most_)[term.monomial];
    if (row.kind == Kind::kLimit) {
      if (value > row.limit) return std::nullopt;
    } else if (row.kind == Kind::kLatency) {
      latency = std::max(latency, value);
    } else {
      energy = program_.cut(value);
    }
  }
  return EnergyLatency{std::max(energy + program_.leak_w * latency, bound.own.energy), latency};
}

}  // namespace sluice::fused
