#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cost_program.h"

namespace sluice::fused {

/// A monomial's factor in one class, for any state of the class's loops: what does not depend on
/// the state is found once.
class MonomialFactor {
 public:
  MonomialFactor(const BoundEinsum& bound, const EinsumShape& shape, const Template& templ,
                 const VariableClass& cls, const Monomial& monomial);

  double of(const std::int64_t* trips) const;
  /// Of so many states from one on, of which no loop is uneven; at most kBlock.
  void of_even(const ClassStates& states, std::size_t first, std::size_t n_states,
               double* factors) const;
  static constexpr std::size_t kBlock = 256;

 private:
  using Row = std::array<double, kBlock>;
  using Loops = std::vector<std::uint32_t>;  ///< of the class, outermost first
  /// States side by side, from one on.
  struct Block {
    const ClassStates& states;
    std::size_t first, n;
    const std::int32_t* loop(std::uint32_t l) const { return states.loop(l) + first; }
  };
  enum class Volume { kNone, kProduct, kTile, kCoupled };
  /// A variable's loops above a tile.
  struct Above {
    std::int64_t size = 1;
    Loops loops;
    std::int64_t tile(const std::int64_t* trips) const;
    /// Whether some loop runs. (A later tile of rows may be as large as all of them.)
    bool is_cut(const std::int64_t* trips) const;
  };

  void find_tiles();
  void find_window(const Monomial& monomial);
  double even(const std::int64_t* trips) const;
  double uneven(const std::int64_t* trips, std::size_t loop) const;
  /// What is around a loop over the class's one variable.
  struct Around {
    std::int64_t tile = 1;    ///< the largest
    std::int64_t extent = 1;  ///< of the one that is looked at
    std::int64_t held = 1;    ///< of it, where only loops above the slot's tile cut it
  };
  double over_tiles(const std::int64_t* trips, std::size_t loop, Around around) const;
  double product(const std::int64_t* trips) const;
  double coupled(const std::vector<Above>& above, const std::int64_t* trips) const;
  double fetched(const std::int64_t* trips) const;
  static void multiply(const Loops& loops, const Block& block, double* row);
  static void divide(double size, const Loops& loops, const Block& block, double* row);
  void coupled(const std::vector<Above>& above, const Block& block, double* row) const;
  void widen(const BoundIndex& index, const std::vector<Above>& above,
             const std::vector<Row>& tiles, std::size_t n, double* extent) const;
  void fetched(const Block& block, double* row) const;

  const EinsumShape& shape_;
  const VariableClass& cls_;
  const Slot* slot_ = nullptr;
  bool is_whole_backing_ = false;  ///< what a backing node holds, not what an access sees
  Volume volume_ = Volume::kNone;
  Loops multiplied_;
  Loops none_runs_;                       ///< the factor is 0 where one of these has several trips
  Loops above_all_;                       ///< above the tile
  std::vector<Above> above_;              ///< per variable of the class
  std::vector<Above> above_with_window_;  ///< the loop that the node slides over among them
  std::vector<std::int32_t> in_class_;    ///< per variable: its place in the class, or -1
  std::vector<const BoundIndex*> indices_;  ///< those that a variable of the class moves
  std::int32_t window_ = -1;                ///< class loop that the node slides over
};

}  // namespace sluice::fused
