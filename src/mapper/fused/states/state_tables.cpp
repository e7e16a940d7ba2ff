#include "state_tables.h"

#include <algorithm>
#include <limits>

#include "mapper/common/parallel.h"
#include "mapper/shape/trip_choices.h"

namespace sluice::fused {
namespace {

/// Everything that decides the states of a class, but for the number of its first loop.
std::vector<std::int64_t> class_key(const VariableClass& cls, const ClassLimits& limits) {
  std::vector<std::int64_t> key{cls.plain, static_cast<std::int64_t>(cls.variables.size())};
  key.insert(key.end(), cls.variables.begin(), cls.variables.end());
  for (std::size_t l = 0; l < cls.loops.size(); ++l) {
    const ClassLoop& loop = cls.loops[l];
    key.insert(key.end(), {loop.variable, loop.fused, loop.steps, loop.rules.rows_only,
                           loop.rules.hands_on, loop.spatial, limits.fanout[l]});
  }
  for (const ClassLimits::Tile& tile : limits.tiles) {
    key.insert(key.end(), {tile.variable, tile.minimum, tile.maximum});
    key.insert(key.end(), tile.above.begin(), tile.above.end());
  }
  return key;
}

std::shared_ptr<StateTable> make_table(const EinsumShape& shape, const VariableClass& cls,
                                       const ClassLimits& limits) {
  auto table = std::make_shared<StateTable>();
  table->states = enumerate_states(shape, cls, limits);
  constexpr std::size_t kBetween = 4096;
  std::vector<std::int64_t> trips, last;
  table->fused_of_state.reserve(table->states.size());
  for (std::size_t s = 0; s < table->states.size(); ++s) {
    if (s % kBetween == kBetween - 1 && is_cancelled(limits.cancel)) {
      table->states.resize(s);
      break;
    }
    trips.clear();
    for (std::size_t l = 0; l < cls.loops.size(); ++l)
      if (cls.loops[l].fused) trips.push_back(table->states.trips(s, l));
    if (s > 0 && trips == last) {  // often
      table->fused_of_state.push_back(table->fused_of_state.back());
      continue;
    }
    const auto number = static_cast<std::uint32_t>(table->fused_number.size());
    table->fused_of_state.push_back(table->fused_number.try_emplace(trips, number).first->second);
    std::swap(trips, last);
  }
  for (const auto& [fused, number] : table->fused_number)
    table->fused_in_order.emplace_back(&fused, number);
  sort_unless_cancelled(
      table->fused_in_order.begin(), table->fused_in_order.end(),
      [](const auto& a, const auto& b) { return *a.first < *b.first; }, limits.cancel);
  return table;
}

}  // namespace

std::shared_ptr<const StateGroups> StateTable::groups(
    const std::vector<std::vector<std::size_t>>& fanouts, bool by_fused) {
  const std::lock_guard lock(groups_mutex_);
  std::shared_ptr<const StateGroups>& known = groups_[{fanouts, by_fused}];
  if (known == nullptr) known = std::make_shared<StateGroups>(make_groups(fanouts, by_fused));
  return known;
}

StateGroups StateTable::make_groups(const std::vector<std::vector<std::size_t>>& fanouts,
                                    bool by_fused) {
  StateGroups result;
  std::unordered_map<std::vector<std::int64_t>, std::uint32_t, KeyHash> use_number;
  std::unordered_map<std::uint64_t, std::size_t> group_of;
  std::vector<FrontMemo::States> states_of;  // per group
  std::vector<std::int64_t> use;
  for (std::uint32_t s = 0; s < states.size(); ++s) {
    use.assign(fanouts.size(), 1);
    for (std::size_t d = 0; d < fanouts.size(); ++d)
      for (const std::size_t loop : fanouts[d]) use[d] *= trip_count(states.trips(s, loop));
    const auto [numbered, is_new_use] =
        use_number.try_emplace(use, static_cast<std::uint32_t>(result.uses.size()));
    if (is_new_use) result.uses.push_back(use);
    const std::uint32_t fused = by_fused ? fused_of_state[s] : 0;
    const std::uint64_t key = std::uint64_t{fused} << 32U | numbered->second;
    const auto [at, is_new] = group_of.try_emplace(key, result.groups.size());
    if (is_new) {
      result.groups.push_back({fused, numbered->second, {}});
      states_of.emplace_back();
    }
    states_of[at->second].push_back(s);
  }
  for (std::size_t g = 0; g < states_of.size(); ++g)
    result.groups[g].states = fronts.numbered(std::move(states_of[g]));
  std::sort(result.groups.begin(), result.groups.end(), [](const auto& a, const auto& b) {
    return std::pair{a.fused, a.use} < std::pair{b.fused, b.use};
  });
  for (std::uint32_t g = 0; g < result.groups.size(); ++g)
    while (result.first.size() <= result.groups[g].fused) result.first.push_back(g);
  result.first.push_back(static_cast<std::uint32_t>(result.groups.size()));
  return result;
}

StateTrie& StateTable::trie(const std::vector<std::uint32_t>& order) {
  const std::lock_guard lock(tries_mutex_);
  std::unique_ptr<StateTrie>& trie = tries_[order];
  if (trie == nullptr) trie = std::make_unique<StateTrie>(states, order);
  return *trie;
}

Column StateTable::column_of(const std::vector<double>& values) const {
  Column column;
  column.values = PackedValues(values);
  column.hash = column.values.hash();
  const std::vector<double>& different = column.values.different();
  const auto [least, most] = std::minmax_element(different.begin(), different.end());
  column.minimum = *least;
  column.maximum = *most;
  column.low.assign(fused_number.size(), *most);
  column.high.assign(fused_number.size(), *least);
  for (std::size_t s = 0; s < values.size();) {  // states of one fused number often stand together
    const std::uint32_t fused = fused_of_state[s];
    double low = column.low[fused], high = column.high[fused];
    for (; s < values.size() && fused_of_state[s] == fused; ++s) {
      low = std::min(low, values[s]);
      high = std::max(high, values[s]);
    }
    column.low[fused] = low;
    column.high[fused] = high;
  }
  return column;
}

const Column* StateTable::add_column(Column column) {
  const auto [first, last] = by_hash_.equal_range(column.hash);
  for (auto at = first; at != last; ++at)
    if (at->second->values == column.values) return at->second;
  columns_.push_back(std::move(column));
  by_hash_.emplace(columns_.back().hash, &columns_.back());
  return &columns_.back();
}

void StateTable::number(const Column* column) {
  if (column->index != Column::kNotNumbered) return;
  column->index = static_cast<std::uint32_t>(numbered_.size());
  numbered_.push_back(column);
}

std::shared_ptr<StateTable> StateTables::table_of(const EinsumShape& shape,
                                                  const VariableClass& cls,
                                                  const ClassLimits& limits) {
  std::vector<std::int64_t> key = class_key(cls, limits);
  const auto own = [&]() -> Table& {
    const std::lock_guard lock(mutex_);
    return tables_[std::move(key)];
  };
  Table& table = own();  // it stays where it is
  std::call_once(table.once, [&] { table.made = make_table(shape, cls, limits); });
  return table.made;
}

void StateTables::forget_tries() {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, table] : tables_)
    if (table.made != nullptr) table.made->forget_tries();
}

}  // namespace sluice::fused
