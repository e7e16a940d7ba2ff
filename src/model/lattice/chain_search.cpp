// The cheapest chain whose nodes fit together: A* through the states of a TileLattice from the
// inside out, with its energies, which know of less, as what is left to come.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <queue>
#include <type_traits>
#include <unordered_map>

#include "tile_lattice.h"

namespace sluice {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostMemories = 8;

using PerMemory = std::array<double, kMostMemories>;

bool is_no_worse(const PerMemory& a, const PerMemory& b) {
  for (std::size_t m = 0; m < kMostMemories; ++m)
    if (a[m] > b[m]) return false;
  return true;
}

/// How long memories are busy: of all instances, as far as they work side by side (s).
struct BusyTimes {
  PerMemory read_s = {}, write_s = {};
};
struct NoBusyTimes {};

/// A state, and what it took to get there from the inside.
template <bool has_times>
struct Label : std::conditional_t<has_times, BusyTimes, NoBusyTimes> {
  double energy_j = 0;
  PerMemory bits = {};  ///< that nodes further in take
  std::size_t shape = 0;
  std::uint32_t position = 0, window = 0;
  std::uint32_t before = 0;  ///< the label further in; itself: none
  /// 1 + the memory of a node that slides over the window's loop, which stands further out; or 0.
  std::uint32_t sliding = 0;
  bool slides = false;  ///< the node that was placed last

  bool is_no_worse_than(const Label& other, bool fits) const {
    if (energy_j > other.energy_j || (fits && !is_no_worse(bits, other.bits))) return false;
    if constexpr (has_times)
      return is_no_worse(this->read_s, other.read_s) && is_no_worse(this->write_s, other.write_s);
    else
      return true;
  }
};

/// Whether one is much more likely to leave the nodes further out their room.
bool takes_much_less(const PerMemory& bits, const PerMemory& other) {
  constexpr double kLess = 0.7;
  for (std::size_t m = 0; m < kMostMemories; ++m)
    if (bits[m] < kLess * other[m]) return true;
  return false;
}

template <class Label>
class Frontier {
 public:
  explicit Frontier(const TileLattice::Effort& effort) : effort_(effort) {}

  /// Where nothing known is as good.
  void add(const Label& label, std::size_t state, double price) {
    Alike& alike = by_state_[state];
    const bool is_full = alike.n >= effort_.most_per_state;
    for (std::uint32_t other = alike.last; other != kNoLabel; other = same_[other])
      if (labels_[other].is_no_worse_than(label, effort_.fits) ||
          (is_full && !takes_much_less(label.bits, labels_[other].bits)))
        return;
    const auto index = static_cast<std::uint32_t>(labels_.size());
    same_.push_back(alike.last);
    alike.last = index;
    ++alike.n;
    queue_.push({price, index});
    labels_.push_back(label);
  }

  bool empty() const { return queue_.empty(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(labels_.size()); }
  /// Price of all that lead through the cheapest one, at least.
  double least() const { return queue_.top().price; }
  std::uint32_t take() {
    const std::uint32_t index = queue_.top().label;
    queue_.pop();
    return index;
  }
  const Label& operator[](std::size_t index) const { return labels_[index]; }

 private:
  static constexpr std::uint32_t kNoLabel = ~0U;
  struct Entry {
    double price;
    std::uint32_t label;
    /// Of equals the last one, which is further out.
    bool operator<(const Entry& other) const {
      return price != other.price ? price > other.price : label < other.label;
    }
  };
  /// The labels of a state: the last one, each with the one before it in `same_`.
  struct Alike {
    std::uint32_t last = kNoLabel;
    std::size_t n = 0;
  };
  const TileLattice::Effort& effort_;
  std::vector<Label> labels_;
  std::vector<std::uint32_t> same_;
  std::priority_queue<Entry> queue_;
  std::unordered_map<std::size_t, Alike> by_state_;
};

}  // namespace

/// `weighs_time`: as the effort says.
template <bool weighs_time>
class TileLattice::Search {
  using Label = sluice::Label<weighs_time>;

 public:
  Search(TileLattice* lattice, const Price& price, double compute_s, double limit,
         const Effort& effort)
      : lattice_(*lattice),
        chain_(lattice->chain_),
        price_(price),
        compute_s_(compute_s),
        limit_(limit),
        effort_(effort),
        frontier_(effort) {
    for (const Factors64& inside : lattice_.inside_)
      active_.push_back(
          std::min(chain_.instances[active_.size()], lattice_.spread_.lanes / product_of(inside)));
  }

  double run() {
    begin();
    while (!frontier_.empty()) {
      const double least = frontier_.least();
      if (frontier_.size() > effort_.most_labels || lattice_.is_cancelled()) return least;
      const std::uint32_t index = frontier_.take();
      const Label label = frontier_[index];
      if (const Start* start = start_of(label)) {
        lattice_.steps_ = start->steps;
        write_steps(index);
        const BusyTimes times = times_of(index);
        for (std::size_t m = 0; m < chain_.memories.size(); ++m) {
          lattice_.busy_s_.push_back(busy_seconds(times, m));
          lattice_.taken_bits_.push_back(label.bits[m] + start->bits[m]);
        }
        return least;
      }
      leave_loop(label, index);
      leave_node(label, index);
    }
    return limit_;
  }

 private:
  /// The way to begin that leads to a label, if its nodes fit beside those further in.
  const Start* start_of(const Label& label) const {
    if (label.shape != lattice_.start_shape_ || label.window != 0) return nullptr;
    const auto at = lattice_.starts_.find(label.position);
    if (at == lattice_.starts_.end() ||
        at->second.energy_j > lattice_.rows_[label.position][0][label.shape])
      return nullptr;
    for (std::size_t m = 0; m < chain_.memories.size() && effort_.fits; ++m)
      if (at->second.bits[m] > 0 && label.bits[m] + at->second.bits[m] > chain_.size_bits[m])
        return nullptr;
    return &at->second;
  }

  /// One point, in each position.
  void begin() {
    for (std::size_t p = lattice_.first_; p < lattice_.n_positions_; ++p) {
      const Position position = lattice_.position_of(p);
      Label label;
      for (std::size_t k = 0; k < position.size(); ++k) {
        const Tensor& tensor = lattice_.tensors_[k];
        label.energy_j += position[k] == 0 ? kNone : tensor.operand_j[position[k] - 1];
        if constexpr (weighs_time)
          if (label.energy_j < kNone) add_operand_times(tensor, position[k] - 1, &label);
      }
      label.position = static_cast<std::uint32_t>(p);
      label.before = frontier_.size();
      if (label.energy_j < kNone) add(label);
    }
  }

  void add(const Label& label) {
    const std::vector<Row>& rows = lattice_.rows_[label.position];
    if (rows.empty()) return;
    const double energy_j =
        label.energy_j + effort_.greed * rows[label.window][label.shape] + lattice_.constant_j_;
    if (!(energy_j < kNone)) return;
    double seconds = compute_s_;
    if constexpr (weighs_time)
      for (std::size_t m = 0; m < chain_.memories.size(); ++m)
        seconds = std::max(seconds, busy_seconds(label, m));
    const double whole = price_(energy_j, seconds);
    if (!(whole < limit_)) return;
    const std::size_t row = label.position * (lattice_.windows_.size() + 1) + label.window;
    const std::size_t state =
        (row * lattice_.n_tiles_ + label.shape) * (kMostMemories + 1) + label.sliding;
    frontier_.add(label, state, whole);
  }

  /// The loop directly above, or that it is one that moves a window.
  void leave_loop(const Label& label, std::uint32_t index) {
    Label next = label;
    next.before = index;
    next.sliding = 0;
    next.slides = false;
    next.window = 0;
    const auto add_loop = [&](std::size_t v, std::size_t i) {
      next.shape = label.shape + (i - lattice_.index_of(label.shape, v)) * lattice_.strides_[v];
      add(next);
    };
    if (label.window > 0) {
      const Window& window = lattice_.windows_[label.window - 1];
      const std::size_t inside = lattice_.index_of(label.shape, window.variable);
      for (std::size_t n = 0; n < window.to.size(); ++n)
        if (window.to[n] == inside) add_loop(window.variable, window.from[n]);
      return;
    }
    for (std::size_t v = 0; v < lattice_.divisors_.size(); ++v)
      for (const std::size_t i : lattice_.larger_[v][lattice_.index_of(label.shape, v)])
        add_loop(v, i);
    next.shape = label.shape;
    for (std::uint32_t w = 1; w <= lattice_.windows_.size(); ++w) {
      next.window = w;
      add(next);
    }
  }

  /// The node directly above, of any tensor.
  void leave_node(const Label& label, std::uint32_t index) {
    const Position position = lattice_.position_of(label.position);
    for (std::size_t k = 0; k < position.size(); ++k) {
      const Tensor& tensor = lattice_.tensors_[k];
      if (position[k] == 0) continue;
      const std::size_t i = position[k] - 1, memory = tensor.known->memories[i];
      // Spatial loops between it and a node that slides would stand below the window's loop.
      if (label.sliding > 0 && spreads_between(memory, label.sliding - 1)) continue;
      const double bits = label.bits[memory] + tensor.places[i].bits[label.shape];
      const double least_bits = effort_.fits ? bits : tensor.places[i].bits[label.shape];
      if (least_bits > chain_.size_bits[memory] || !(bits < kNone)) continue;
      Label next = label;
      next.before = index;
      next.bits[memory] = bits;
      // From the first memory further out that must hold it, or one further in.
      std::size_t from = i;
      while (from > 0 && !tensor.known->must[from - 1]) --from;
      if (tensor.known->is_backed_first || i > tensor.known->last_backing ||
          tensor.first_j[label.shape] > 0 || !lattice_.may_be_first(tensor, i))
        from = std::max<std::size_t>(from, 1);
      for (; from <= i; ++from) {
        Position earlier = position;
        earlier[k] = from;
        next.position =
            label.position - static_cast<std::uint32_t>((position[k] - from) * tensor.stride);
        if (lattice_.may_follow(earlier, tensor, i)) add_feeders(tensor, from, i, label, next);
      }
    }
  }

  /// The i-th memory's node gets its tiles from that of position `from`, whole or as they slide.
  void add_feeders(const Tensor& tensor, std::size_t from, std::size_t i, const Label& label,
                   Label next) {
    next.slides = false;
    if (from == 0) return add(next);
    const auto add_fed = [&](std::size_t window) {
      Label fed = next;
      fed.energy_j += lattice_.node_energy(tensor, from - 1, i, window)[label.shape];
      if constexpr (weighs_time) add_times(tensor, from - 1, i, window, label.shape, &fed);
      add(fed);
    };
    add_fed(0);
    if (label.window == 0 || !tensor.known->slides()) return;
    next.slides = true;
    if (label.sliding == 0)
      next.sliding = static_cast<std::uint32_t>(tensor.known->memories[i] + 1);
    add_fed(label.window);
  }

  /// Of a node at one memory that gets its tiles from one at another, or hands them back to it.
  void add_times(const Tensor& tensor, std::size_t from, std::size_t to, std::size_t window,
                 std::size_t shape, BusyTimes* times) const {
    const ChainTensor& known = *tensor.known;
    const Place& place = tensor.places[to];
    const std::size_t inner = known.memories[to], outer = known.memories[from];
    double values = place.moved[shape];
    if (window > 0) values *= place.share[window - 1][shape];
    const ChainTensors::WholeActions &own = place.whole, &feeder = tensor.places[from].whole;
    const double apart = values / place.multicast[from];
    if (!known.access->is_output) {
      times->write_s[inner] +=
          in_whole_actions(values, own.write) * known.write_s[to] / active_[inner];
      times->read_s[outer] +=
          in_whole_actions(apart, feeder.read) * known.read_s[from] / active_[outer];
      return;
    }
    times->write_s[outer] +=
        in_whole_actions(apart, feeder.write) * known.write_s[from] / active_[outer];
    if (known.drain_j[to] > 0) times->read_s[inner] += values * known.read_s[to] / active_[inner];
    if (known.has_windows) return;
    const double returned = std::max(0.0, values - place.first_sums);
    times->write_s[inner] += returned * known.write_s[to] / active_[inner];
    times->read_s[outer] += in_whole_actions(returned / place.multicast[from], feeder.read) *
                            known.read_s[from] / active_[outer];
  }

  void add_operand_times(const Tensor& tensor, std::size_t i, BusyTimes* times) const {
    const ChainTensor& known = *tensor.known;
    const std::size_t memory = known.memories[i];
    const ChainTensors::Moves moves = chain_.operand_moves(known, i, lattice_.spread_);
    const ChainTensors::WholeActions& whole = tensor.places[i].whole;
    if (known.access->is_output)
      times->write_s[memory] +=
          in_whole_actions(moves.moved, whole.write) * known.write_s[i] / active_[memory];
    else
      times->read_s[memory] +=
          in_whole_actions(moves.moved, whole.read) * known.read_s[i] / active_[memory];
    times->read_s[memory] +=
        in_whole_actions(moves.returned, whole.read) * known.read_s[i] / active_[memory];
  }

  /// Whether spatial loops stand between the nodes of two memories.
  bool spreads_between(std::size_t outer, std::size_t inner) const {
    for (std::size_t g = 0; g < lattice_.spread_.gaps.size(); ++g) {
      const std::size_t memory = chain_.spreads->gaps()[g].memory;
      const Factors64& factors = lattice_.spread_.gaps[g]->all;
      if (outer < memory && memory <= inner &&
          std::any_of(factors.begin(), factors.end(), [](std::int64_t f) { return f > 1; }))
        return true;
    }
    return false;
  }

  double busy_seconds(const BusyTimes& times, std::size_t m) const {
    return chain_.separate_ports[m] ? std::max(times.read_s[m], times.write_s[m])
                                    : times.read_s[m] + times.write_s[m];
  }

  /// Of the chain that ends in a label.
  BusyTimes times_of(std::uint32_t index) const {
    std::vector<std::uint32_t> way = {index};  // from the outside in
    while (frontier_[way.back()].before != way.back()) way.push_back(frontier_[way.back()].before);
    BusyTimes times;
    Position position = lattice_.position_of(frontier_[way.back()].position);
    for (std::size_t k = 0; k < position.size(); ++k)
      add_operand_times(lattice_.tensors_[k], position[k] - 1, &times);
    for (std::size_t n = way.size() - 1; n-- > 0;) {
      const Label &outer = frontier_[way[n]], &inner = frontier_[way[n + 1]];
      const Position before = lattice_.position_of(outer.position);
      for (std::size_t k = 0; k < position.size(); ++k)
        if (before[k] != position[k] && before[k] > 0)
          add_times(lattice_.tensors_[k], before[k] - 1, position[k] - 1,
                    outer.slides ? inner.window : 0, inner.shape, &times);
      position = before;
    }
    return times;
  }

  /// From the outside in.
  void write_steps(std::uint32_t index) {
    for (; frontier_[index].before != index; index = frontier_[index].before)
      write_step(frontier_[index], frontier_[frontier_[index].before]);
  }

  void write_step(const Label& outer, const Label& inner) {
    for (std::size_t v = 0; v < lattice_.divisors_.size(); ++v) {
      const std::int64_t before = lattice_.divisors_[v][lattice_.index_of(outer.shape, v)];
      const std::int64_t after = lattice_.divisors_[v][lattice_.index_of(inner.shape, v)];
      if (before != after) lattice_.steps_.emplace_back(Loop{v, before / after});
    }
    const Position before = lattice_.position_of(outer.position);
    const Position after = lattice_.position_of(inner.position);
    for (std::size_t k = 0; k < before.size(); ++k)
      if (before[k] != after[k])
        lattice_.steps_.emplace_back(
            Node{k, lattice_.tensors_[k].known->memories[after[k] - 1], outer.slides});
  }

  TileLattice& lattice_;
  const ChainTensors& chain_;
  const Price& price_;
  double compute_s_, limit_;
  const Effort& effort_;
  std::vector<double> active_;  // per memory: instances that work at the same time, at most
  Frontier<Label> frontier_;
};

double TileLattice::least_that_fits(const Price& price, double compute_s, double limit,
                                    const Effort& effort) {
  steps_.clear();
  busy_s_.clear();
  taken_bits_.clear();
  if (chain_.memories.size() > kMostMemories || rows_.empty()) return 0;
  return effort.weighs_time ? Search<true>(this, price, compute_s, limit, effort).run()
                            : Search<false>(this, price, compute_s, limit, effort).run();
}

}  // namespace sluice
