#include "model/batch/template_program.h"

#include <algorithm>

#include "model/price/whole_actions.h"

namespace sluice {

/// One pass of a program over `kWidth` variants: every value is an array of so many lanes, every
/// loop over lanes has a fixed length. Lanes beyond the last variant repeat the first one.
template <std::size_t kWidth>
class TemplateProgram::Run {
 public:
  Run(const TemplateProgram& program, Workspace& workspace)
      : program_(program), workspace_(workspace) {
    workspace.values.resize(program.steps_.size() * kLanes);
    values_ = workspace.values.data();
  }

  std::uint32_t price(const std::int64_t* const* rows, std::size_t n, VariantCost* results) {
    run_steps(rows, n);
    bool uneven[kWidth] = {}, legal[kWidth];
    std::fill(legal, legal + kWidth, true);
    check(uneven, legal);
    check_capacities(legal);
    Lane energy_j = {}, latency_s = {};
    for (const NestPricing& nest : program_.nests_) price_nest(nest, energy_j, latency_s);
    std::uint32_t left_out = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (uneven[i]) left_out |= std::uint32_t{1} << i;
      results[i] = legal[i] ? VariantCost{energy_j[i], latency_s[i], true} : VariantCost{};
    }
    return left_out;
  }

 private:
  using Lane = double[kWidth];

  const std::int64_t* lanes(std::uint32_t step) const {
    return values_ + static_cast<std::size_t>(step) * kWidth;
  }

  template <class Function>
  void combine(const SymbolStep& step, std::int64_t* out, Function function) const {
    const std::int64_t* a = lanes(static_cast<std::uint32_t>(step.a));
    const std::int64_t* b = lanes(static_cast<std::uint32_t>(step.b));
    for (std::size_t i = 0; i < kWidth; ++i)
      out[i] = static_cast<std::int64_t>(
          function(static_cast<std::uint64_t>(a[i]), static_cast<std::uint64_t>(b[i])));
  }

  /// Exact where the tile divides, sizes being below 2^50; what comes out elsewhere is not used.
  static std::uint64_t quotient(std::uint64_t a, std::uint64_t b) {
    const auto divisor = std::max<std::int64_t>(static_cast<std::int64_t>(b), 1);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(
        static_cast<double>(static_cast<std::int64_t>(a)) / static_cast<double>(divisor)));
  }

  /// Nothing overflows in a lane whose tiles divide: the builder has made sure; unsigned arithmetic
  /// keeps the others defined.
  void run_steps(const std::int64_t* const* rows, std::size_t n) {
    std::int64_t* out = values_;
    for (const SymbolStep& step : program_.steps_) {
      switch (step.kind) {
        case SymbolStep::Kind::kConstant:
          std::fill(out, out + kWidth, step.a);
          break;
        case SymbolStep::Kind::kInput:
          for (std::size_t i = 0; i < kWidth; ++i) out[i] = rows[i < n ? i : 0][step.a];
          break;
        case SymbolStep::Kind::kMultiply:
          combine(step, out, [](std::uint64_t a, std::uint64_t b) { return a * b; });
          break;
        case SymbolStep::Kind::kDivide:
          combine(step, out, quotient);
          break;
        case SymbolStep::Kind::kAdd:
          combine(step, out, [](std::uint64_t a, std::uint64_t b) { return a + b; });
          break;
        case SymbolStep::Kind::kSubtract:
          combine(step, out, [](std::uint64_t a, std::uint64_t b) { return a - b; });
          break;
      }
      out += kWidth;
    }
  }

  void check(bool* uneven, bool* legal) const {
    for (const Product& product : program_.divisions_)
      for (std::size_t i = 0; i < kWidth; ++i)
        uneven[i] |= static_cast<std::uint64_t>(lanes(product.trips)[i]) *
                         static_cast<std::uint64_t>(lanes(product.tile)[i]) !=
                     static_cast<std::uint64_t>(lanes(product.enclosing)[i]);
    for (std::uint32_t tile : program_.ones_)
      for (std::size_t i = 0; i < kWidth; ++i) legal[i] &= lanes(tile)[i] == 1;
    for (const Limit& limit : program_.fanouts_)
      for (std::size_t i = 0; i < kWidth; ++i) legal[i] &= lanes(limit.product)[i] <= limit.fanout;
  }

  void check_capacities(bool* legal) const {
    for (const LiveSum& sum : program_.live_) {
      Lane bits = {};
      for (const std::vector<LiveSum::Tile>& tiles : sum.reservations) {
        Lane largest = {};
        for (const LiveSum::Tile& tile : tiles) {
          const std::int64_t* volume = lanes(tile.volume);
          for (std::size_t i = 0; i < kWidth; ++i)
            largest[i] = std::max(
                largest[i], static_cast<double>(volume[i]) * tile.bits_per_value * tile.multiple);
        }
        for (std::size_t i = 0; i < kWidth; ++i) bits[i] += largest[i];
      }
      for (std::size_t i = 0; i < kWidth; ++i) legal[i] &= !(bits[i] - sum.capacity_bits > 0);
    }
  }

  /// In the order of NestPricer, term by term.
  void price_nest(const NestPricing& nest, double* energy_j, double* latency_s) {
    workspace_.calls.assign(nest.n_calls * kWidth, 0);
    for (const NestPricing::Action& action : nest.actions) count_action(nest, action, energy_j);
    Lane slowest = {};
    for (const NestPricing::Busy& busy : nest.busy) {
      Lane longest = {};
      for (const auto& row : busy.rows) add_row(busy, row, longest);
      for (std::size_t i = 0; i < kWidth; ++i)
        slowest[i] = std::max(slowest[i], longest[i] * nest.instances);
    }
    for (const NestPricing::Leak& leak : nest.leaks)
      for (std::size_t i = 0; i < kWidth; ++i)
        energy_j[i] += leak.instances * slowest[i] * leak.power_w;
    for (std::size_t i = 0; i < kWidth; ++i) latency_s[i] += slowest[i];
  }

  void count_action(const NestPricing& nest, const NestPricing::Action& action, double* energy_j) {
    const std::int64_t* all = lanes(action.values);
    const std::int64_t* unit = lanes(action.unit_values);
    double* calls = workspace_.calls.data() + action.calls * kWidth;
    const auto [times, per] = action.rate;
    if (action.instances) {
      const std::int64_t* instances = lanes(*action.instances);
      for (std::size_t i = 0; i < kWidth; ++i) {
        calls[i] += static_cast<double>(unit[i]) * times / per;
        // In a lane whose tiles do not divide they are any number; its price is not used.
        const std::int64_t used = std::max<std::int64_t>(instances[i], 1);
        energy_j[i] += whole_actions(all[i], used, action.rate) * nest.instances * action.energy_j;
      }
      return;
    }
    if (per == 1) {  // a division by 1 changes no bit
      for (std::size_t i = 0; i < kWidth; ++i) {
        calls[i] += static_cast<double>(unit[i]) * times;
        energy_j[i] += static_cast<double>(all[i]) * nest.instances * times * action.energy_j;
      }
      return;
    }
    for (std::size_t i = 0; i < kWidth; ++i) {
      calls[i] += static_cast<double>(unit[i]) * times / per;
      energy_j[i] += static_cast<double>(all[i]) * nest.instances * times / per * action.energy_j;
    }
  }

  void add_row(const NestPricing::Busy& busy, const std::vector<NestPricing::Busy::Term>& row,
               double* longest) const {
    Lane sum = {};
    for (const NestPricing::Busy::Term& term : row) {
      const double* calls = workspace_.calls.data() + term.calls * kWidth;
      if (busy.divide)
        for (std::size_t i = 0; i < kWidth; ++i) sum[i] += calls[i] / term.factor;
      else
        for (std::size_t i = 0; i < kWidth; ++i) sum[i] += term.factor * calls[i];
    }
    for (std::size_t i = 0; i < kWidth; ++i) longest[i] = std::max(longest[i], sum[i]);
  }

  const TemplateProgram& program_;
  Workspace& workspace_;
  std::int64_t* values_ = nullptr;
};

std::uint32_t TemplateProgram::run(const std::int64_t* const* rows, std::size_t n,
                                   Workspace& workspace, VariantCost* results) const {
  if (n <= 2) return Run<2>(*this, workspace).price(rows, n, results);
  if (n <= 8) return Run<8>(*this, workspace).price(rows, n, results);
  return Run<kLanes>(*this, workspace).price(rows, n, results);
}

}  // namespace sluice
