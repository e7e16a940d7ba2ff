#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/network/network_routes.h"
#include "model/traffic/traffic.h"
#include "model/visits/visit_sum.h"
#include "sluice/support/error.h"

namespace sluice {

/// A step of a program over whole numbers; its result has the index of the step.
struct SymbolStep {
  enum class Kind : std::uint8_t { kConstant, kInput, kMultiply, kDivide, kAdd, kSubtract };
  Kind kind = Kind::kConstant;
  std::int64_t a = 0, b = 0;  ///< the constant; the input; the steps of the operands
  friend bool operator==(const SymbolStep&, const SymbolStep&) = default;
};

/// Arithmetic for AccessCounter that writes a program instead of counting: equal terms once.
class Symbols {
 public:
  using Value = std::uint32_t;

  Symbols() { constant(0); }

  const std::vector<SymbolStep>& steps() const { return steps_; }
  bool refused() const { return refused_; }

  Value constant(std::int64_t value) { return step({SymbolStep::Kind::kConstant, value, 0}); }
  Value input(std::int64_t index) { return step({SymbolStep::Kind::kInput, index, 0}); }
  Value multiply(Value a, Value b);
  Value divide(Value a, Value b);
  Value add(Value a, Value b);
  Value subtract(Value a, Value b);

  /// Trips of a nest's loop: set beforehand, per loop of the tree.
  Value trips(const FlatTree&, std::uint32_t loops_begin, int l) const {
    return trips_of_loop[loops_begin + static_cast<std::uint32_t>(l)];
  }
  /// Values of an access's tile at a storage node, from `tile_sizes`.
  Value volume(const FlatTree& tree, const NestStorage& storage, const BoundAccess& access);
  Value visit_sum(const Visits&) { return refuse(); }
  Value first_sights(const Visits&) { return refuse(); }
  Value visits_of_new_tiles(const Visits&) { return refuse(); }
  static Value where_spread(const Nest&, ComponentId, Value value) { return value; }
  static bool counts(const Network&) { return true; }
  static bool counts_steps(const Network&) { return true; }
  BasicRoutes<Value> routes(const RouteQuestion&, const std::vector<int>&) {
    refuse();
    return {};
  }
  /// Notes that something cannot be written as a program.
  Value refuse() {
    refused_ = true;
    return 0;
  }

  std::vector<Value> trips_of_loop;  ///< per loop of the tree
  std::vector<Value> tile_sizes;     ///< as FlatTree::tile_sizes

 private:
  struct Hash {
    std::size_t operator()(const SymbolStep& step) const {
      const auto mixed =
          static_cast<std::uint64_t>(step.a) * 0x9E3779B97F4A7C15U ^
          (static_cast<std::uint64_t>(step.b) + static_cast<std::uint64_t>(step.kind)) *
              0xC2B2AE3D27D4EB4FU;
      return static_cast<std::size_t>(mixed ^ (mixed >> 29));
    }
  };

  Value step(const SymbolStep& wanted);
  const std::int64_t* constant_of(Value value) const {
    const SymbolStep& step = steps_[value];
    return step.kind == SymbolStep::Kind::kConstant ? &step.a : nullptr;
  }

  std::vector<SymbolStep> steps_;
  std::unordered_map<SymbolStep, Value, Hash> known_;
  bool refused_ = false;
};

}  // namespace sluice
