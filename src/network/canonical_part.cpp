#include "canonical_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace sluice {
namespace {

/// Ids of the whole and their numbers in the part.
template <class Id>
class Numbering {
 public:
  explicit Numbering(std::vector<Id>* ids) : ids_(ids) {}

  /// And whether it is new.
  std::pair<Id, bool> number(Id of_whole) {
    const auto [found, is_new] = numbers_.emplace(of_whole, ids_->size());
    if (is_new) ids_->push_back(of_whole);
    return {Id(found->second), is_new};
  }

 private:
  std::vector<Id>* ids_;
  std::unordered_map<Id, std::size_t> numbers_;
};

class PartWriter {
 public:
  PartWriter(const Workload& whole, const std::set<std::string>& own)
      : whole_(whole),
        own_(own),
        tensors_(&part_.tensors),
        ranks_(&part_.ranks),
        variables_(&part_.variables) {
    part_.workload.n_instances = whole.n_instances;
  }

  CanonicalPart write(std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e) add(whole_.einsums[e], e - first);
    return std::move(part_);
  }

 private:
  TensorId tensor(TensorId of_whole) {
    const auto [id, is_new] = tensors_.number(of_whole);
    if (!is_new) return id;
    Tensor tensor = whole_[of_whole];
    if (own_.count(tensor.name) == 0) tensor.name = fmt::format("T{}", id.index());
    for (RankId& rank : tensor.ranks) rank = this->rank(rank);
    part_.workload.tensors.push_back(std::move(tensor));
    return id;
  }

  RankId rank(RankId of_whole) {
    const auto [id, is_new] = ranks_.number(of_whole);
    if (is_new)
      part_.workload.ranks.push_back({fmt::format("R{}", id.index()), whole_[of_whole].size});
    return id;
  }

  RankVariableId variable(RankVariableId of_whole) {
    const auto [id, is_new] = variables_.number(of_whole);
    if (is_new) part_.workload.rank_variables.push_back({fmt::format("v{}", id.index())});
    return id;
  }

  TensorAccess access(TensorAccess access) {
    access.tensor = tensor(access.tensor);
    for (AffineExpression& index : access.projection) {
      for (AffineTerm& term : index.terms) term.variable = variable(term.variable);
      std::sort(index.terms.begin(), index.terms.end(),
                [](const AffineTerm& a, const AffineTerm& b) { return a.variable < b.variable; });
    }
    return access;
  }

  /// The output first: its indices are mostly plain variables, whose order the whole's ids of
  /// variables do not decide.
  void add(Einsum einsum, std::size_t place) {
    einsum.name = fmt::format("E{}", place);
    einsum.accesses.back() = access(std::move(einsum.accesses.back()));
    for (std::size_t a = 0; a + 1 < einsum.accesses.size(); ++a)
      einsum.accesses[a] = access(std::move(einsum.accesses[a]));
    for (VariableRange& range : einsum.iteration_space) range.variable = variable(range.variable);
    std::sort(
        einsum.iteration_space.begin(), einsum.iteration_space.end(),
        [](const VariableRange& a, const VariableRange& b) { return a.variable < b.variable; });
    for (Rename& rename : einsum.renames) {
      for (TensorId& id : rename.tensors) id = tensor(id);
      std::sort(rename.tensors.begin(), rename.tensors.end());
    }
    part_.workload.einsums.push_back(std::move(einsum));
  }

  const Workload& whole_;
  const std::set<std::string>& own_;
  CanonicalPart part_;
  Numbering<TensorId> tensors_;
  Numbering<RankId> ranks_;
  Numbering<RankVariableId> variables_;
};

}  // namespace

CanonicalPart canonical_part(const Workload& whole, std::size_t first, std::size_t end,
                             const std::set<std::string>& own) {
  return PartWriter(whole, own).write(first, end);
}

Workload with_names_of(const Workload& whole, const CanonicalPart& part, std::size_t first) {
  Workload named = part.workload;
  named.name = whole.name;
  for (std::size_t t = 0; t < named.tensors.size(); ++t)
    named.tensors[t].name = whole[part.tensors[t]].name;
  for (std::size_t r = 0; r < named.ranks.size(); ++r)
    named.ranks[r].name = whole[part.ranks[r]].name;
  for (std::size_t v = 0; v < named.rank_variables.size(); ++v)
    named.rank_variables[v].name = whole[part.variables[v]].name;
  for (std::size_t e = 0; e < named.einsums.size(); ++e)
    named.einsums[e].name = whole.einsums[first + e].name;
  return named;
}

}  // namespace sluice
