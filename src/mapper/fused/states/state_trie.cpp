#include "state_trie.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "state_tables.h"

namespace sluice::fused {

StateTrie::StateTrie(const ClassStates& states, const std::vector<std::uint32_t>& order) {
  const auto trip = [&](std::uint32_t state, std::size_t depth) {
    return states.trips(state, order[depth]);
  };
  std::vector<std::uint32_t> sorted(states.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t d = 0; d < order.size(); ++d)
      if (trip(a, d) != trip(b, d)) return trip(a, d) < trip(b, d);
    return false;
  });
  nodes_.push_back({});
  std::vector<std::int64_t> trips{1};  // per node: of the loop that leads to it
  std::vector<std::pair<std::size_t, std::size_t>> states_of{{0, sorted.size()}};
  for (std::size_t depth = 0, begin = 0; depth < order.size(); ++depth) {
    const std::size_t end = nodes_.size();
    for (std::size_t node = begin; node < end; ++node) {
      const auto [first, last] = states_of[node];
      nodes_[node].first = static_cast<std::uint32_t>(nodes_.size());
      for (std::size_t i = first, next = first; i < last; i = next) {
        while (next < last && trip(sorted[next], depth) == trip(sorted[i], depth)) ++next;
        nodes_.push_back({0, 0, sorted[i]});
        trips.push_back(trip(sorted[i], depth));
        states_of.emplace_back(i, next);
        ++nodes_[node].n;
      }
    }
    begin = end;
  }
  find_structures(trips);
}

void StateTrie::find_structures(const std::vector<std::int64_t>& trips) {
  Numbers numbers;
  structure_.resize(nodes_.size());
  for (std::size_t node = nodes_.size(); node-- > 0;) {
    key_.clear();
    for (std::uint32_t c = nodes_[node].first; c < nodes_[node].first + nodes_[node].n; ++c)
      key_.insert(key_.end(), {trips[c], structure_[c]});
    structure_[node] =
        numbers.try_emplace(key_, static_cast<std::uint32_t>(numbers.size())).first->second;
  }
}

const TrieColumn& StateTrie::column(const Column& column) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = columns_.try_emplace(column.index);
  TrieColumn& result = at->second;
  if (!is_new) return result;
  for (const double value : column.values.different())
    result.kinds_.push_back({value, value, TrieColumn::kConstant});
  result.kind_.resize(nodes_.size());
  Numbers numbers;  // of kinds, by structure and the children's kinds
  std::vector<std::int64_t> key;
  for (auto node = static_cast<std::uint32_t>(nodes_.size()); node-- > 0;) {
    const Node& own = nodes_[node];
    if (own.n == 0) {
      result.kind_[node] = column.values.number(own.state);
      continue;
    }
    key.assign(1, structure_[node]);
    key.insert(key.end(), result.kind_.begin() + own.first,
               result.kind_.begin() + own.first + own.n);
    const auto number = static_cast<std::uint32_t>(result.kinds_.size());
    const auto [known, is_new_kind] = numbers.try_emplace(key, number);
    if (is_new_kind) result.kinds_.push_back(kind_of(node, result));
    result.kind_[node] = known->second;
  }
  return result;
}

/// Of a node whose children's kinds are known.
TrieColumn::Kind StateTrie::kind_of(std::uint32_t node, const TrieColumn& column) {
  const Node& own = nodes_[node];
  TrieColumn::Kind kind{column.least(own.first), column.most(own.first), TrieColumn::kConstant};
  for (std::uint32_t c = own.first; c < own.first + own.n; ++c) {
    kind.least = std::min(kind.least, column.least(c));
    kind.most = std::max(kind.most, column.most(c));
  }
  if (kind.least == kind.most) return kind;
  key_.assign(1, structure_[node]);
  for (std::uint32_t c = own.first; c < own.first + own.n; ++c)
    key_.insert(key_.end(),
                {std::bit_cast<std::int64_t>(column.most(c) / kind.most), column.shape(c)});
  const auto next = static_cast<std::uint32_t>(shape_numbers_.size() + 1);
  kind.shape = shape_numbers_.try_emplace(key_, next).first->second;
  return kind;
}

}  // namespace sluice::fused
