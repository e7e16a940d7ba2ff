#include "fused_numbers.h"

#include <algorithm>

#include "tile_search.h"

namespace sluice::fused {

std::vector<ClassFusedNumbers> number_fused_loops(const Template& templ,
                                                  const std::vector<VariableClass>& classes,
                                                  const std::vector<ClassStates>& states,
                                                  const SimpleProgram& program) {
  const std::vector<std::uint32_t> places = fused_places(templ);
  std::vector<ClassFusedNumbers> result(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    ClassFusedNumbers& cls = result[c];
    std::vector<std::size_t> loops;
    for (std::size_t l = 0; l < classes[c].loops.size(); ++l) {
      if (!classes[c].loops[l].fused) continue;
      loops.push_back(l);
      cls.positions.push_back(static_cast<std::uint32_t>(
          std::find(places.begin(), places.end(), classes[c].loops[l].places.front()) -
          places.begin()));
    }
    std::vector<std::int64_t> trips;
    const std::size_t n_columns = program.columns[c].size();
    for (std::uint32_t s = 0; s < states[c].size(); ++s) {
      trips.clear();
      for (std::size_t l : loops) trips.push_back(states[c].state(s)[l]);
      const auto [at, inserted] =
          cls.number.try_emplace(trips, static_cast<std::uint32_t>(cls.number.size()));
      cls.of_state.push_back(at->second);
      if (inserted) {
        for (const auto& column : program.columns[c]) cls.low.push_back(column.values[s]);
        cls.high.insert(cls.high.end(), cls.low.end() - static_cast<std::ptrdiff_t>(n_columns),
                        cls.low.end());
        continue;
      }
      double* low = cls.low.data() + at->second * n_columns;
      double* high = cls.high.data() + at->second * n_columns;
      for (std::size_t k = 0; k < n_columns; ++k) {
        low[k] = std::min(low[k], program.columns[c][k].values[s]);
        high[k] = std::max(high[k], program.columns[c][k].values[s]);
      }
    }
  }
  return result;
}

bool fused_numbers_of(const std::vector<ClassFusedNumbers>& classes, const std::int64_t* row,
                      std::vector<std::int64_t>* scratch, std::vector<std::uint32_t>* numbers) {
  numbers->clear();
  for (const ClassFusedNumbers& cls : classes) {
    scratch->clear();
    for (std::uint32_t position : cls.positions) scratch->push_back(row[position]);
    const auto at = cls.number.find(*scratch);
    if (at == cls.number.end()) return false;
    numbers->push_back(at->second);
  }
  return true;
}

FusedBound::FusedBound(const SimpleProgram& program, const std::vector<ClassFusedNumbers>& classes)
    : program_(program),
      classes_(classes),
      factors_(program.products.size()),
      least_(program.products.size()),
      most_(program.products.size()) {
  for (std::size_t p = 0; p < program.products.size(); ++p)
    for (std::uint32_t c = 0; c < classes.size(); ++c)
      if (program.products[p].column[c] >= 0)
        factors_[p].push_back({c, static_cast<std::uint32_t>(program.products[p].column[c])});
}

bool FusedBound::promising(const std::vector<std::uint32_t>& numbers, const SearchBound& bound) {
  for (std::size_t p = 0; p < factors_.size(); ++p) {
    double least = 1, most = 1;
    for (const Factor& factor : factors_[p]) {
      const ClassFusedNumbers& cls = classes_[factor.cls];
      const std::size_t at =
          numbers[factor.cls] * program_.columns[factor.cls].size() + factor.column;
      least *= cls.low[at];
      most *= cls.high[at];
    }
    least_[p] = least;
    most_[p] = most;
  }
  using RowKind = SimpleProgram::RowKind;
  double energy = 0, latency = 0;
  for (const SimpleProgram::SimpleRow& row : program_.rows) {
    if (row.kind == RowKind::kSegment || row.kind == RowKind::kPersistent) continue;
    double value = row.constant;
    for (const RowTerm& term : row.terms)
      value += term.coefficient * (term.coefficient > 0 ? least_ : most_)[term.monomial];
    if (row.kind == RowKind::kLimit) {
      if (value > row.limit) return false;
    } else if (row.kind == RowKind::kLatency) {
      latency = std::max(latency, value);
    } else {
      energy = value;
    }
  }
  return !bound.hopeless(energy + program_.leak_w * latency, latency);
}

}  // namespace sluice::fused
