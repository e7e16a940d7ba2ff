#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "loop_classes.h"
#include "mapper/common/key_hash.h"
#include "packed_values.h"
#include "state_trie.h"

namespace sluice::fused {

/// One factor of monomials for every state of a class.
struct Column {
  static constexpr std::uint32_t kNotNumbered = ~0U;
  mutable std::uint32_t index = kNotNumbered;  ///< in its table, by StateTable::number()
  std::uint64_t hash = 0;                      ///< of the values
  PackedValues values;                         ///< per state
  double minimum = 0, maximum = 0;
  std::vector<double> low, high;  ///< extremes per fused number (StateTable)
};

/// Fronts among some of a class's states by some criteria, for all templates and searches that ask
/// for them again. Safe to share between threads.
class FrontMemo {
 public:
  using States = std::vector<std::uint32_t>;

  struct Numbered {
    const States* states = nullptr;  ///< as long as the memo is there
    std::uint32_t number = 0;
  };

  /// Of equal lists the same one.
  Numbered numbered(States states) {
    const std::lock_guard lock(mutex_);
    const auto at =
        numbers_.try_emplace(std::move(states), static_cast<std::uint32_t>(numbers_.size())).first;
    return {&at->first, at->second};
  }

  /// `criteria`: equal keys have equal fronts. `make` finds a front that nobody asked for before.
  template <class Make>
  States front(const std::vector<std::int64_t>& criteria, const Numbered& states,
               const Make& make) {
    Key key{states.number, criteria};
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = fronts_.find(key); known != fronts_.end()) return known->second;
    }
    States front = make();
    const std::lock_guard lock(mutex_);
    return fronts_.try_emplace(std::move(key), std::move(front)).first->second;
  }

 private:
  struct Key {
    std::uint32_t states;
    std::vector<std::int64_t> criteria;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return KeyHash::mix(KeyHash()(key.criteria) ^ key.states);
    }
    std::size_t operator()(const States& states) const {
      std::uint64_t hash = states.size();
      for (const std::uint32_t state : states) hash = KeyHash::mix(hash ^ state);
      return hash;
    }
  };

  std::mutex mutex_;
  std::unordered_map<States, std::uint32_t, Hash> numbers_;
  std::unordered_map<Key, States, Hash> fronts_;
};

/// The states of a class by their fused trip counts and their use of some fanouts.
struct StateGroups {
  struct Group {
    std::uint32_t fused = 0;     ///< number of the fused trip counts (StateTable)
    std::uint32_t use = 0;       ///< number among `uses`
    FrontMemo::Numbered states;  ///< ascending
  };
  std::vector<Group> groups;         ///< ascending by fused number, then by use
  std::vector<std::uint32_t> first;  ///< per fused number the first group; last: their number
  std::vector<std::vector<std::int64_t>> uses;  ///< in the order in which states have them
};

/// The states of one class, numbered by the trip counts of their fused loops, with the columns
/// computed over them so far. Classes of different templates that have the same loops share one.
struct StateTable {
  ClassStates states;
  std::unordered_map<std::vector<std::int64_t>, std::uint32_t, KeyHash> fused_number;
  std::vector<std::uint32_t> fused_of_state;
  /// The fused trip counts with their numbers, ascending by the former.
  std::vector<std::pair<const std::vector<std::int64_t>*, std::uint32_t>> fused_in_order;

  /// The column with this signature (Tabulator), made where nobody asked for it before; columns of
  /// equal values are one. Safe to share between threads.
  template <class Make>
  const Column* column(const std::vector<std::int64_t>& signature, const Make& make) {
    {
      const std::lock_guard lock(columns_mutex_);
      if (const auto known = by_signature_.find(signature); known != by_signature_.end())
        return known->second;
    }
    Column made = column_of(make());
    const std::lock_guard lock(columns_mutex_);
    return by_signature_[signature] = add_column(std::move(made));
  }
  /// Gives a column the next number if it has none: so that these do not depend on threads.
  void number(const Column* column);
  const Column& column(std::uint32_t index) const { return *numbered_[index]; }

  FrontMemo fronts;

  /// The states in groups, found once for all templates. `fanouts`: the loops over each of those
  /// whose use tells states apart, as do the fused trip counts if `by_fused`. Safe to share between
  /// threads.
  std::shared_ptr<const StateGroups> groups(const std::vector<std::vector<std::size_t>>& fanouts,
                                            bool by_fused);

  /// The states as a tree over the loops in this order, made once. Safe to share between threads.
  StateTrie& trie(const std::vector<std::uint32_t>& order);
  /// Tries are large: for whoever needs them no more.
  void forget_tries() { tries_.clear(); }

 private:
  Column column_of(const std::vector<double>& values) const;
  const Column* add_column(Column column);
  StateGroups make_groups(const std::vector<std::vector<std::size_t>>& fanouts, bool by_fused);

  std::mutex tries_mutex_;
  std::map<std::vector<std::uint32_t>, std::unique_ptr<StateTrie>> tries_;
  std::mutex groups_mutex_;
  std::map<std::pair<std::vector<std::vector<std::size_t>>, bool>,
           std::shared_ptr<const StateGroups>>
      groups_;
  std::mutex columns_mutex_;
  std::deque<Column> columns_;
  std::vector<const Column*> numbered_;
  std::unordered_multimap<std::uint64_t, const Column*> by_hash_;
  std::map<std::vector<std::int64_t>, const Column*> by_signature_;
};

/// The state tables of all templates of one Einsum. Safe to share between threads.
class StateTables {
 public:
  std::shared_ptr<StateTable> table_of(const EinsumShape& shape, const VariableClass& cls,
                                       const ClassLimits& limits);
  /// As StateTable's, of all of them. Not while others use them.
  void forget_tries();

 private:
  struct Table {
    std::once_flag once;
    std::shared_ptr<StateTable> made;
  };

  std::mutex mutex_;
  std::map<std::vector<std::int64_t>, Table> tables_;
};

}  // namespace sluice::fused
