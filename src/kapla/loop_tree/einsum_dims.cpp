#include "einsum_dims.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

namespace sluice::kapla {
namespace {

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::size_t place_of(const Einsum& einsum, RankVariableId variable) {
  const auto& space = einsum.iteration_space;
  return static_cast<std::size_t>(
      std::find_if(space.begin(), space.end(),
                   [&](const VariableRange& range) { return range.variable == variable; }) -
      space.begin());
}

}  // namespace

std::int64_t EinsumDims::Dim::extent(const VariableTiles& tiles) const {
  std::int64_t extent = 1;
  for (const auto& [variable, coefficient] : terms) extent += coefficient * (tiles[variable] - 1);
  return extent;
}

EinsumDims::EinsumDims(const Workload& workload, const Einsum& einsum) {
  name_variables(workload, einsum);
  for (const TensorAccess& access : einsum.accesses) {
    std::vector<Dim> dims;
    for (std::size_t r = 0; r < access.projection.size(); ++r) {
      const AffineExpression& index = access.projection[r];
      if (index.terms.empty()) continue;
      Dim dim{workload[workload[access.tensor].ranks[r]].name, {}, index.goes_one_by_one()};
      for (const AffineTerm& term : index.terms)
        dim.terms.emplace_back(place_of(einsum, term.variable), std::abs(term.coefficient));
      if (dim.is_variable) dim.name = names_[dim.terms[0].first];
      dims.push_back(std::move(dim));
    }
    dims_.emplace(access.tensor, std::move(dims));
  }
}

void EinsumDims::name_variables(const Workload& workload, const Einsum& einsum) {
  std::vector<std::vector<std::string>> ranks(einsum.iteration_space.size());
  for (auto access = einsum.accesses.rbegin(); access != einsum.accesses.rend(); ++access)
    for (std::size_t r = 0; r < access->projection.size(); ++r)
      if (access->projection[r].goes_one_by_one())
        ranks[place_of(einsum, access->projection[r].terms[0].variable)].push_back(
            workload[workload[access->tensor].ranks[r]].name);
  std::multiset<std::string> taken;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    const std::string& own = workload[einsum.iteration_space[v].variable].name;
    const auto alike = std::find_if(ranks[v].begin(), ranks[v].end(), [&](const auto& rank) {
      return in_capitals(rank) == in_capitals(own);
    });
    names_.push_back(alike != ranks[v].end() ? *alike : ranks[v].empty() ? own : ranks[v].front());
    taken.insert(names_.back());
  }
  for (std::size_t v = 0; v < ranks.size(); ++v)
    if (taken.count(names_[v]) > 1) names_[v] = workload[einsum.iteration_space[v].variable].name;
}

const std::vector<EinsumDims::Dim>* EinsumDims::of(TensorId tensor) const {
  const auto found = dims_.find(tensor);
  return found == dims_.end() ? nullptr : &found->second;
}

std::vector<DimNumber> EinsumDims::moved(std::size_t variable, std::int64_t tile) const {
  std::vector<DimNumber> numbers;
  for (const auto& [tensor, dims] : dims_)
    for (const Dim& dim : dims)
      for (const auto& [term, coefficient] : dim.terms) {
        const bool is_known = std::any_of(numbers.begin(), numbers.end(),
                                          [&](const DimNumber& n) { return n.dim == dim.name; });
        if (term == variable && !is_known) numbers.push_back({dim.name, coefficient * tile});
      }
  return numbers;
}

std::optional<std::pair<std::size_t, std::int64_t>> EinsumDims::find(
    const std::vector<DimNumber>& numbers) const {
  const auto sorted = [](std::vector<DimNumber> list) {
    std::sort(list.begin(), list.end(),
              [](const DimNumber& a, const DimNumber& b) { return a.dim < b.dim; });
    return list;
  };
  const std::vector<DimNumber> wanted = sorted(numbers);
  for (std::size_t v = 0; v < names_.size() && !wanted.empty(); ++v) {
    const std::vector<DimNumber> once = sorted(moved(v, 1));
    if (once.size() != wanted.size() || wanted[0].number % once[0].number != 0) continue;
    const std::int64_t tile = wanted[0].number / once[0].number;
    if (sorted(moved(v, tile)) == wanted) return std::pair(v, tile);
  }
  return std::nullopt;
}

}  // namespace sluice::kapla
