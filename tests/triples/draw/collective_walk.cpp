#include <algorithm>

#include "triples/draw/collective_draw.h"

// Loops above a split that all Einsums walk in step.

namespace sluice::triples {
namespace {

using Known = std::vector<std::optional<RankVariableId>>;

/// The rank of a tensor that a variable indexes; -1 if none.
int rank_along(const TensorAccess& access, RankVariableId variable) {
  for (std::size_t r = 0; r < access.projection.size(); ++r)
    if (access.projection[r].coefficient_of(variable) != 0) return static_cast<int>(r);
  return -1;
}

std::optional<RankVariableId> variable_at(const TensorAccess& access, int rank) {
  const auto& terms = access.projection[static_cast<std::size_t>(rank)].terms;
  if (terms.empty()) return std::nullopt;
  return terms.front().variable;
}

/// Sets what is not known yet; false where it is known otherwise.
bool settle(std::optional<RankVariableId>& known, std::optional<RankVariableId> value,
            bool& changed) {
  if (!value) return false;
  if (known) return *known == *value;
  known = value;
  changed = true;
  return true;
}

}  // namespace

bool CollectiveDraw::follow_tensor(TensorId tensor, Known& walk, bool may_sum, bool& changed) {
  const std::size_t maker = maker_of(tensor);
  const TensorAccess& made = w_.einsums[maker].output();
  for (std::size_t reader : readers_of(tensor))
    for (const TensorAccess& read : w_.einsums[reader].accesses) {
      if (read.tensor != tensor || read.is_output) continue;
      if (walk[maker] && rank_along(made, *walk[maker]) >= 0) {
        const auto variable = variable_at(read, rank_along(made, *walk[maker]));
        if (!settle(walk[reader], variable, changed)) return false;
      } else if (walk[reader] && rank_along(read, *walk[reader]) >= 0) {
        const auto variable = variable_at(made, rank_along(read, *walk[reader]));
        if (!walk[maker] && !settle(walk[maker], variable, changed)) return false;
      } else if (walk[reader] && !walk[maker]) {
        std::vector<RankVariableId> summed;
        for (const VariableRange& range : w_.einsums[maker].iteration_space)
          if (!touches(made, range.variable)) summed.push_back(range.variable);
        if (summed.empty() || !may_sum) return false;
        if (!settle(walk[maker], dice_.any(summed), changed)) return false;
      }
    }
  return true;
}

bool CollectiveDraw::follow(Known& walk, bool may_sum) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t t = 0; t < w_.tensors.size(); ++t)
      if (roles_.is_intermediate(TensorId(t)) &&
          !follow_tensor(TensorId(t), walk, may_sum, changed))
        return false;
  }
  return true;
}

CollectiveDraw::Walk CollectiveDraw::walk_from(std::size_t e, RankVariableId variable,
                                               bool may_sum) {
  Known walk(w_.einsums.size());
  walk[e] = variable;
  const std::int64_t tile = tiles_[e][variable];
  if (!follow(walk, may_sum)) return {};
  for (std::size_t other : all_einsums()) {
    if (walk[other]) continue;
    std::vector<RankVariableId> equal;
    for (const VariableRange& range : w_.einsums[other].iteration_space)
      if (tiles_[other][range.variable] == tile &&
          (may_sum || touches(w_.einsums[other].output(), range.variable)))
        equal.push_back(range.variable);
    if (equal.empty()) return {};
    walk[other] = dice_.any(equal);
    if (!follow(walk, may_sum)) return {};
  }
  Walk found;
  for (std::size_t other : all_einsums()) {
    if (!may_sum && !touches(w_.einsums[other].output(), *walk[other])) return {};
    found.push_back(*walk[other]);
  }
  if (is_shifted(found) && dice_.chance(92)) return {};
  return found;
}

bool CollectiveDraw::is_shifted(const Walk& walk) const {
  for (std::size_t e = 0; e < walk.size(); ++e)
    for (const TensorAccess& access : w_.einsums[e].accesses)
      for (const AffineExpression& index : access.projection)
        if (roles_.is_intermediate(access.tensor) && index.coefficient_of(walk[e]) != 0 &&
            (index.terms.size() > 1 || index.coefficient_of(walk[e]) != 1 || index.constant != 0))
          return true;
  return false;
}

std::vector<RankVariableId> CollectiveDraw::variables_of(const Walk& walk) {
  std::vector<RankVariableId> variables;
  for (RankVariableId variable : walk)
    if (std::find(variables.begin(), variables.end(), variable) == variables.end())
      variables.push_back(variable);
  const auto fits = [&] {
    for (std::size_t e = 0; e < walk.size(); ++e)
      if (*std::find_if(variables.begin(), variables.end(),
                        [&](RankVariableId v) { return walks(w_.einsums[e], v); }) != walk[e])
        return false;
    return true;
  };
  for (int attempt = 0; attempt < 12 && !walk.empty(); ++attempt) {
    for (std::size_t i = variables.size(); i > 1; --i)
      std::swap(variables[i - 1], variables[static_cast<std::size_t>(dice_.below(i))]);
    if (fits()) return variables;
  }
  return {};
}

void CollectiveDraw::steps_above(std::vector<NodeSpec>& list) {
  const auto e = static_cast<std::size_t>(dice_.below(w_.einsums.size()));
  const RankVariableId variable = dice_.any(w_.einsums[e].iteration_space).variable;
  const Walk walk = walk_from(e, variable, dice_.chance(3));
  const std::vector<RankVariableId> variables = variables_of(walk);
  if (variables.empty()) return;
  const std::int64_t tile = tile_below(tiles_[e][variable]);
  list.push_back(loop_over(variables, tile));
  for (std::size_t i = 0; i < walk.size(); ++i)
    tiles_[i][walk[i]] = std::min(tiles_[i][walk[i]], tile);
}

}  // namespace sluice::triples
