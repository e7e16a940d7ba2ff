#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <variant>
#include <vector>

#include "chain_tensors.h"
#include "row_allocator.h"
#include "tile_rows.h"

namespace sluice {

/// Where a window slides, each more exact and dearer to find than the one before: wherever it may;
/// as the loop directly above moves it, if that takes all steps there are; in the steps it takes.
enum class Windows { kAnywhere, kAsMoved, kStepByStep };

/// The cheapest chain of one spread. A state is a tile shape of the temporal loops further in, in
/// which memory the innermost node of each tensor is, and over which window the loop directly above
/// goes. Energies of all tile shapes stand side by side: index 0 is one point, the last one all.
class TileLattice {
 public:
  struct Node {
    std::size_t tensor = 0;  ///< among those with nodes
    std::size_t memory = 0;  ///< among all of the way
    bool slides = false;
  };
  struct Loop {
    std::size_t variable = 0;
    std::int64_t trips = 1;
  };
  using Steps = std::vector<std::variant<Node, Loop>>;

  /// Where `cancel` (may be null) is set, what comes out is a bound all the same.
  TileLattice(const ChainTensors& chain, const Spread& spread, Windows windows,
              const std::atomic<bool>* cancel);

  /// Before least(): chains begin with these steps, and nodes of other tensors in between. Of the
  /// tensors that are not backed first these nodes are the first ones. What least() says is then no
  /// bound. False: no chain of the spread does.
  bool begin_with(const Steps& steps);

  /// Energy of operands and of what fills memories, or is handed back (J), or one of those that are
  /// `too_much`, if that is less: infinite where nothing fits, `otherwise` where there are too many
  /// states.
  double least(const std::function<bool(double energy_j)>& too_much, double otherwise,
               double most_states = 4e7);
  /// What an objective makes of such an energy (J), and the time that memories and computes are
  /// busy at least (s): grows with both.
  using Price = std::function<double(double energy_j, double seconds)>;
  /// How hard to look for a chain.
  struct Effort {
    std::size_t most_labels = 300'000;
    /// With less than these the least price is not known, and a good chain found sooner: what is
    /// left to come counts so many times, and a state is reached in so many ways.
    double greed = 1;
    std::size_t most_per_state = std::numeric_limits<std::size_t>::max();
    bool weighs_time = true;  ///< of memories; else they are as busy as it comes
    bool fits = true;         ///< else each node for itself fits, and they may take more together
  };
  /// After least(), of windows step by step: the least price of chains whose nodes fit together, or
  /// `limit`, if that is less. `compute_s`: of the computes.
  double least_that_fits(const Price& price, double compute_s, double limit, const Effort& effort);

  /// Of the cheapest chain that fits, outermost first; empty where none was found.
  const Steps& steps() const { return steps_; }
  /// How long it keeps each memory busy (s), and what it takes of each (bits).
  const std::vector<double>& busy_seconds() const { return busy_s_; }
  const std::vector<double>& taken_bits() const { return taken_bits_; }

 private:
  using Row = std::vector<double, RowAllocator<double>>;

  /// A tensor's node at the i-th of its memories.
  struct Place {
    Row bits;                         ///< that it takes, at least
    Row moved;                        ///< values of all visits
    std::vector<Row> share;           ///< per window: of the values that are new; empty: all
    mutable std::vector<Row> energy;  ///< per memory further out and window, once asked for
    double first_sums = 0;
    ChainTensors::WholeActions whole;
    std::vector<double> multicast;  ///< per memory further out: instances that share one value
  };
  struct Tensor {
    const ChainTensor* known = nullptr;
    std::vector<Place> places;
    std::vector<double> operand_j;  ///< per memory
    Row first_j;                    ///< of its first node: 0, or infinite where none may stand
    std::size_t stride = 1;         ///< of its place in a position
    std::size_t n_positions = 1;
  };
  template <bool weighs_time>
  class Search;  ///< least_that_fits()
  /// The innermost node of each tensor: 0 for none yet, i + 1 for the i-th of its memories.
  using Position = std::vector<std::size_t>;

  bool is_cancelled() const { return cancel_ != nullptr && *cancel_; }
  void lay_out(Windows windows);
  void add_windows(std::size_t v, bool step_by_step);
  void add_places();
  void price();
  auto sizes_at(const std::vector<std::size_t>& variables, const std::vector<std::size_t>& at,
                const Factors64& inside) const;
  Row volumes_of(const BoundAccess& access, const Factors64& inside) const;
  void shrink_to_new(const BoundAccess& access, const Factors64& inside, std::size_t variable,
                     std::int64_t trips, Row* share) const;
  std::size_t index_of(std::size_t shape, std::size_t variable) const {
    return shape / strides_[variable] % divisors_[variable].size();
  }
  Position position_of(std::size_t p) const;
  void close(std::vector<Row>* rows) const;
  void place_nodes(std::size_t p);
  bool may_follow(const Position& position, const Tensor& tensor, std::size_t i) const;
  std::vector<Row>& rows_of(std::size_t p);
  void release(std::size_t p);
  bool may_be_first(const Tensor& tensor, std::size_t i) const;
  const Row& barred_at(const Position& position, std::size_t tensor, std::size_t i);
  const Row& node_energy(const Tensor& tensor, std::size_t from, std::size_t to,
                         std::size_t window) const;

  const ChainTensors& chain_;
  const Spread& spread_;
  std::vector<Factors64> divisors_;  // per variable: of what the temporal loops cover
  std::vector<std::size_t> strides_;
  /// Per variable: loops of a prime number of steps, as indices outside and inside, the largest
  /// first.
  std::vector<tile_rows::Parts> prime_loops_;
  /// Per variable and index: the indices outside of such loops.
  std::vector<std::vector<std::vector<std::size_t>>> larger_;
  std::size_t n_tiles_ = 1, n_positions_ = 1;
  /// A loop directly above that moves windows.
  struct Window {
    std::size_t variable = 0;
    std::int64_t trips = 0;             ///< 0: any number
    std::vector<std::size_t> from, to;  ///< indices of its variable further out and further in
  };
  std::vector<Window> windows_;
  std::vector<Tensor> tensors_;
  std::size_t first_ = 0;  // position
  double constant_j_ = 0;
  std::vector<Factors64> inside_;  ///< per memory and variable: of spatial loops further in
  /// Per position and window (0: any loop, or none): energy down to there; empty: not reached.
  std::vector<std::vector<Row>> rows_;
  bool keeps_rows_;
  const std::atomic<bool>* cancel_;
  std::vector<std::vector<Row>> unused_;
  /// By a tensor, the place of its node, and the other tensors that have theirs in that memory.
  std::map<std::vector<std::size_t>, Row> barred_;
  /// A way to begin: steps down to the first tile shape of the lattice's own.
  struct Start {
    double energy_j = 0;
    std::vector<double> bits;  ///< per memory
    Steps steps;
  };
  using Starts = std::map<std::size_t, Start>;  ///< per position
  void find_starts();
  void place_between(const std::vector<char>& is_given, std::size_t shape, Starts* starts) const;
  Steps outermost_;
  Starts starts_;
  std::size_t start_shape_ = 0;
  Steps steps_;
  std::vector<double> busy_s_, taken_bits_;  // of these
};

}  // namespace sluice
