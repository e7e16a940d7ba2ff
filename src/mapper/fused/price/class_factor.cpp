#include "class_factor.h"

#include <algorithm>

#include "mapper/shape/trip_choices.h"
#include "sluice/mapper/mapper.h"

namespace sluice::fused {
namespace {

/// Whether some of the loops that a monomial unites are of a class.
bool has_united(const VariableClass& cls, const Monomial& monomial) {
  return !monomial.united.empty() &&
         std::any_of(cls.loops.begin(), cls.loops.end(),
                     [&](const ClassLoop& loop) { return monomial.united.contains(loop.number); });
}

/// Loops of a class that a monomial fixes, and their trips.
std::vector<std::pair<std::size_t, std::int64_t>> fixed_loops(const VariableClass& cls,
                                                              const Monomial& monomial) {
  std::vector<std::pair<std::size_t, std::int64_t>> result;
  for (const FixedLoop& fixed : monomial.fixed)
    for (std::size_t l = 0; l < cls.loops.size(); ++l)
      if (cls.loops[l].number == fixed.loop) result.emplace_back(l, fixed.trips);
  return result;
}

/// Those of a class's loops that are wanted, as the class counts them, so that classes of other
/// templates know them: appended to a key.
template <class Wanted>
void append_loops(const VariableClass& cls, const Wanted& wanted, std::vector<std::int64_t>* key) {
  constexpr std::size_t kBits = 63;
  key->push_back(0);
  for (std::size_t l = 0; l < cls.loops.size(); ++l) {
    if (l > 0 && l % kBits == 0) key->push_back(0);
    if (wanted(cls.loops[l])) key->back() |= std::int64_t{1} << l % kBits;
  }
}

/// The loop of a class that a monomial's node slides over.
std::optional<std::int64_t> slid_over(const Template& templ, const VariableClass& cls,
                                      const Monomial& monomial) {
  if (monomial.slot < 0 || cls.plain) return std::nullopt;
  const std::int32_t place = templ.slots[static_cast<std::size_t>(monomial.slot)].sliding_loop;
  for (std::size_t l = 0; place >= 0 && l < cls.loops.size(); ++l)
    if (std::find(cls.loops[l].places.begin(), cls.loops[l].places.end(),
                  static_cast<std::uint32_t>(place)) != cls.loops[l].places.end())
      return static_cast<std::int64_t>(l);
  return std::nullopt;
}

std::vector<std::int64_t> key_for_any_trips(const BoundEinsum& bound, const Template& templ,
                                            const VariableClass& cls, const Monomial& monomial) {
  const auto multiplies = [&](const ClassLoop& l) { return monomial.loops.contains(l.number); };
  // At the compute, all loops stand above the tile.
  const auto above = [&](const ClassLoop& l) {
    return monomial.slot < 0 || l.gap < templ.slots[static_cast<std::size_t>(monomial.slot)].gap ||
           monomial.extra_above.contains(l.number);
  };
  const auto none = [](const ClassLoop&) { return false; };
  const auto write = [&](const auto& loops, const auto& others, std::int64_t access,
                         std::int64_t kind) {
    std::vector<std::int64_t> result;
    append_loops(cls, loops, &result);
    append_loops(cls, others, &result);
    result.insert(result.end(), {access, kind});
    return result;
  };
  if (has_united(cls, monomial)) {
    std::vector<std::int64_t> result = write(multiplies, above, monomial.access, 5);
    const auto united = [&](const ClassLoop& l) { return monomial.united.contains(l.number); };
    append_loops(cls, united, &result);
    return result;
  }
  if (monomial.slot < 0) return write(multiplies, none, 0, -1);
  const Slot& slot = templ.slots[static_cast<std::size_t>(monomial.slot)];
  const bool is_held = monomial.access >= bound.accesses.size();
  if (monomial.still)
    return write(multiplies, above, monomial.access, slot.backing && is_held ? 4 : 3);
  if (!cls.plain) return write(multiplies, above, monomial.access, slot.backing && is_held ? 2 : 1);
  const BoundAccess& access = is_held ? bound.held[monomial.access - bound.accesses.size()]
                                      : bound.accesses[monomial.access];
  if (access.relevance[cls.variables.front()] != Relevance::kRelevant)
    return write(multiplies, none, 0, -1);
  // size / Π above · Π loops: what stands in both cancels; without a numerator the rest is a
  // product of the complement.
  const auto numerator = [&](const ClassLoop& l) { return multiplies(l) && !above(l); };
  const auto denominator = [&](const ClassLoop& l) { return above(l) && !multiplies(l); };
  if (std::none_of(cls.loops.begin(), cls.loops.end(), numerator))
    return write([&](const ClassLoop& l) { return !denominator(l); }, none, 0, -1);
  // In uneven tiles inner loops run as often as what is counted outside of them leaves.
  std::vector<std::int64_t> result = write(numerator, denominator, 0, 0);
  append_loops(
      cls, [&](const ClassLoop& l) { return above(l) && multiplies(l); }, &result);
  return result;
}

}  // namespace

std::vector<std::int64_t> factor_key(const BoundEinsum& bound, const Template& templ,
                                     const VariableClass& cls, const Monomial& monomial) {
  std::vector<std::int64_t> result = key_for_any_trips(bound, templ, cls, monomial);
  for (const auto& [loop, trips] : fixed_loops(cls, monomial))
    result.insert(result.end(), {static_cast<std::int64_t>(loop), trips});
  if (const auto window = slid_over(templ, cls, monomial)) result.push_back(-1 - *window);
  return result;
}

ClassFactor::ClassFactor(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                         const VariableClass& cls, const Monomial& monomial)
    : fixed_(fixed_loops(cls, monomial)) {
  if (has_united(cls, monomial))
    seen_.emplace(bound, shape, templ, cls, monomial);
  else
    plain_.emplace(bound, shape, templ, cls, monomial);
}

std::vector<double> ClassFactor::of_all(const ClassStates& states,
                                        const std::atomic<bool>* cancel) {
  constexpr std::size_t kBlock = MonomialFactor::kBlock;
  const bool is_even = states.is_narrow() && plain_ && fixed_.empty();
  std::vector<double> factors(states.size(), 0);
  std::vector<std::int64_t> trips;
  for (std::size_t begin = 0; begin < factors.size() && !is_cancelled(cancel); begin += kBlock) {
    const std::size_t n = std::min(kBlock, factors.size() - begin);
    if (is_even) {
      plain_->of_even(states, begin, n, &factors[begin]);
      continue;
    }
    for (std::size_t s = begin; s < begin + n; ++s) {
      states.copy(s, &trips);
      factors[s] = of(trips.data());
    }
  }
  return factors;
}

double ClassFactor::of(const std::int64_t* trips) {
  for (const auto& [loop, wanted] : fixed_)
    if (trip_count(trips[loop]) != wanted) return 0;
  return seen_ ? seen_->of(trips) : plain_->of(trips);
}

}  // namespace sluice::fused
