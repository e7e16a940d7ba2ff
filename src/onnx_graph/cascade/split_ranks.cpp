#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "onnx_graph/cascade/passes.h"

namespace sluice::onnx_graph {
namespace {

constexpr std::size_t kMostTogether = 4096;  // ranks that are split for the sake of one

using RankPlace = std::pair<std::size_t, std::size_t>;      // tensor, rank
using VariablePlace = std::pair<std::size_t, std::size_t>;  // Einsum, axis

/// One rank and all ranks and variables that must be split with it, into two digits.
class Split {
 public:
  Split(Cascade& cascade, const std::vector<std::vector<std::size_t>>& users, std::int64_t inner)
      : cascade_(cascade), users_(users), inner_(inner) {}

  bool find(RankPlace first) {
    add(first);
    while (!open_ranks_.empty()) {
      const RankPlace place = open_ranks_.back();
      open_ranks_.pop_back();
      if (ranks_.size() > kMostTogether || !visit(place)) return false;
    }
    return true;
  }

  void apply() {
    for (const auto& [tensor, rank] : ranks_) {
      const std::size_t axis = cascade_.tensors[tensor].ranks[rank];
      digits_.emplace(axis, digits_of(axis));
    }
    for (const auto& [einsum, axis] : variables_) digits_.emplace(axis, digits_of(axis));
    std::map<std::size_t, std::set<std::size_t>> variables_of;
    for (const auto& [einsum, axis] : variables_) variables_of[einsum].insert(axis);
    std::set<std::size_t> einsums;
    for (const auto& [tensor, rank] : ranks_)
      einsums.insert(users_[tensor].begin(), users_[tensor].end());
    for (const std::size_t e : einsums) rewrite(cascade_.einsums[e], variables_of[e]);
    std::map<std::size_t, std::set<std::size_t>, std::less<>> ranks_of;
    for (const auto& [tensor, rank] : ranks_) ranks_of[tensor].insert(rank);
    for (const auto& [tensor, ranks] : ranks_of) {
      std::vector<std::size_t> result;
      for (std::size_t r = 0; r < cascade_.tensors[tensor].ranks.size(); ++r) {
        const std::size_t axis = cascade_.tensors[tensor].ranks[r];
        if (ranks.count(r) > 0)
          result.insert(result.end(), {digits_.at(axis).first, digits_.at(axis).second});
        else
          result.push_back(axis);
      }
      cascade_.tensors[tensor].ranks = std::move(result);
    }
  }

 private:
  void add(RankPlace place) {
    if (ranks_.insert(place).second) open_ranks_.push_back(place);
  }

  /// What every user of the rank reads or writes there can be two digits.
  bool visit(RankPlace place) {
    const auto [tensor, rank] = place;
    for (const std::size_t e : users_[tensor]) {
      const CascadeEinsum& einsum = cascade_.einsums[e];
      const auto check = [&](const CascadeAccess& access) {
        return access.tensor != tensor || fits(e, access.indices[rank], tensor, rank);
      };
      if (!check(einsum.output)) return false;
      for (const CascadeAccess& access : einsum.inputs)
        if (!check(access)) return false;
    }
    return true;
  }

  bool fits(std::size_t e, const Index& index, std::size_t tensor, std::size_t rank) {
    const std::int64_t size = cascade_.axes[cascade_.tensors[tensor].ranks[rank]].size;
    if (index.is_plain()) {
      const std::size_t axis = index.terms[0].variable;
      return cascade_.axes[axis].size == size && split_variable(e, axis);
    }
    return as_digits(index).has_value();
  }

  /// The outer and inner part of an index that is two digits, or several that come apart there.
  std::optional<std::pair<Index, Index>> as_digits(const Index& index) const {
    Index outer, inner;
    std::int64_t reach = 0;
    if (index.constant % inner_ != 0 || index.constant < 0) return std::nullopt;
    outer.constant = index.constant / inner_;
    for (const Index::Term& term : index.terms) {
      if (term.coefficient <= 0) return std::nullopt;
      if (term.coefficient % inner_ == 0) {
        outer.terms.push_back({term.variable, term.coefficient / inner_});
      } else {
        inner.terms.push_back(term);
        reach += term.coefficient * (cascade_.axes[term.variable].size - 1);
      }
    }
    if (reach >= inner_) return std::nullopt;
    return std::make_pair(outer, inner);
  }

  /// In an Einsum the variable may only stand alone, or beside others as a digit.
  bool split_variable(std::size_t e, std::size_t axis) {
    if (!variables_.insert({e, axis}).second) return true;
    const CascadeEinsum& einsum = cascade_.einsums[e];
    const auto check = [&](const CascadeAccess& access) {
      for (std::size_t r = 0; r < access.indices.size(); ++r) {
        const Index& index = access.indices[r];
        const bool uses = std::any_of(index.terms.begin(), index.terms.end(),
                                      [&](const Index::Term& t) { return t.variable == axis; });
        if (!uses) continue;
        if (index.terms.size() != 1 || index.terms[0].coefficient != 1) return false;
        const std::int64_t size = cascade_.axes[cascade_.tensors[access.tensor].ranks[r]].size;
        if (index.constant % inner_ != 0 || index.constant < 0 || size % inner_ != 0) return false;
        add({access.tensor, r});
      }
      return true;
    };
    if (!check(einsum.output)) return false;
    return std::all_of(einsum.inputs.begin(), einsum.inputs.end(), check);
  }

  std::pair<std::size_t, std::size_t> digits_of(std::size_t axis) {
    const auto known = digits_.find(axis);
    if (known != digits_.end()) return known->second;
    std::string letter = cascade_.axes[axis].name;
    while (!letter.empty() && letter.back() >= '0' && letter.back() <= '9') letter.pop_back();
    const std::int64_t size = cascade_.axes[axis].size;
    const std::size_t outer = cascade_.add_axis(letter, size / inner_);
    return {outer, cascade_.add_axis(letter, inner_)};
  }

  void rewrite(CascadeEinsum& einsum, const std::set<std::size_t>& variables) {
    const auto change = [&](CascadeAccess& access) {
      std::vector<Index> result;
      for (std::size_t r = 0; r < access.indices.size(); ++r) {
        Index index = access.indices[r];
        if (index.is_plain() && variables.count(index.terms[0].variable) > 0 &&
            ranks_.count({access.tensor, r}) > 0) {
          const auto [outer, inner] = digits_.at(index.terms[0].variable);
          result.push_back(Index::of(outer));
          result.push_back(Index::of(inner));
          continue;
        }
        Index expanded;
        expanded.constant = index.constant;
        for (const Index::Term& term : index.terms) {
          if (variables.count(term.variable) == 0) {
            expanded.terms.push_back(term);
            continue;
          }
          const auto [outer, inner] = digits_.at(term.variable);
          expanded.terms.push_back({outer, term.coefficient * inner_});
          expanded.terms.push_back({inner, term.coefficient});
        }
        if (ranks_.count({access.tensor, r}) == 0) {
          result.push_back(std::move(expanded));
          continue;
        }
        auto [high, low] = *as_digits(expanded);
        result.push_back(std::move(high));
        result.push_back(std::move(low));
      }
      access.indices = std::move(result);
    };
    change(einsum.output);
    for (CascadeAccess& access : einsum.inputs) change(access);
  }

  Cascade& cascade_;
  const std::vector<std::vector<std::size_t>>& users_;
  std::int64_t inner_;
  std::set<RankPlace> ranks_;
  std::set<VariablePlace> variables_;
  std::vector<RankPlace> open_ranks_;
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> digits_;
};

/// The innermost digit of an index that is several, all of them together the whole rank.
std::optional<std::int64_t> innermost_digit(const Cascade& cascade, const Index& index,
                                            std::int64_t rank) {
  if (index.terms.size() < 2 || index.constant < 0) return std::nullopt;
  std::vector<std::pair<std::int64_t, std::int64_t>> digits;  // weight, size
  for (const Index::Term& term : index.terms) {
    if (term.coefficient <= 0) return std::nullopt;
    digits.emplace_back(term.coefficient, cascade.axes[term.variable].size);
  }
  std::sort(digits.begin(), digits.end());
  for (std::size_t i = 0; i + 1 < digits.size(); ++i)
    if (digits[i + 1].first % (digits[i].first * digits[i].second) != 0) return std::nullopt;
  const std::int64_t inner = digits[1].first;
  if (inner == 1) return std::nullopt;  // a variable of size 1 beside another one
  return rank % inner == 0 && index.constant % inner == 0 ? std::optional(inner) : std::nullopt;
}

}  // namespace

void split_ranks(Cascade& cascade) {
  std::vector<std::vector<std::size_t>> users(cascade.tensors.size());
  for (std::size_t e = 0; e < cascade.einsums.size(); ++e) {
    std::set<std::size_t> tensors = {cascade.einsums[e].output.tensor};
    for (const CascadeAccess& access : cascade.einsums[e].inputs) tensors.insert(access.tensor);
    for (const std::size_t tensor : tensors) users[tensor].push_back(e);
  }
  for (std::size_t e = 0; e < cascade.einsums.size(); ++e)
    for (std::size_t i = 0; i <= cascade.einsums[e].inputs.size(); ++i) {
      bool is_changed = true;
      std::set<std::pair<std::size_t, std::int64_t>> refused;
      while (is_changed) {
        is_changed = false;
        const CascadeEinsum& einsum = cascade.einsums[e];
        const CascadeAccess& access = i < einsum.inputs.size() ? einsum.inputs[i] : einsum.output;
        for (std::size_t r = 0; r < access.indices.size() && !is_changed; ++r) {
          const std::int64_t size = cascade.axes[cascade.tensors[access.tensor].ranks[r]].size;
          const auto inner = innermost_digit(cascade, access.indices[r], size);
          if (!inner || refused.count({r, *inner}) > 0) continue;
          Split split(cascade, users, *inner);
          is_changed = split.find({access.tensor, r});
          if (is_changed)
            split.apply();
          else
            refused.insert({r, *inner});
        }
      }
    }
}

}  // namespace sluice::onnx_graph
