// The cheapest chain whose nodes fit together: A* through the states of a TileLattice from the
// inside out, with its energies, which know of less, as what is left to come.
#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <unordered_map>

#include "tile_lattice.h"

namespace sluice {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostMemories = 8, kMostLabels = 300'000;

using PerMemory = std::array<double, kMostMemories>;

bool is_no_worse(const PerMemory& a, const PerMemory& b) {
  for (std::size_t m = 0; m < kMostMemories; ++m)
    if (a[m] > b[m]) return false;
  return true;
}

}  // namespace

/// A state, and what it took to get there from the inside.
struct TileLattice::Label {
  double energy_j = 0;
  PerMemory bits = {};                  ///< that nodes further in take
  PerMemory read_s = {}, write_s = {};  ///< of all instances, as far as they work side by side
  std::size_t position = 0, shape = 0, window = 0;
  std::size_t before = 0;  ///< the label further in; itself: none
  /// 1 + the memory of a node that slides over the window's loop, which stands further out; or 0.
  std::size_t sliding = 0;
  bool slides = false;  ///< the node that was placed last

  bool is_no_worse_than(const Label& other) const {
    return energy_j <= other.energy_j && is_no_worse(bits, other.bits) &&
           is_no_worse(read_s, other.read_s) && is_no_worse(write_s, other.write_s);
  }
};

namespace {

template <class Label>
class Frontier {
 public:
  /// Where nothing known is as good.
  void add(const Label& label, std::size_t state, double price) {
    std::vector<std::size_t>& same = by_state_[state];
    for (const std::size_t other : same)
      if (labels_[other].is_no_worse_than(label)) return;
    same.push_back(labels_.size());
    queue_.push({price, labels_.size()});
    labels_.push_back(label);
  }

  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return labels_.size(); }
  /// Price of all that lead through the cheapest one, at least.
  double least() const { return queue_.top().price; }
  std::size_t take() {
    const std::size_t index = queue_.top().label;
    queue_.pop();
    return index;
  }
  const Label& operator[](std::size_t index) const { return labels_[index]; }

 private:
  struct Entry {
    double price;
    std::size_t label;
    /// Of equals the last one, which is further out.
    bool operator<(const Entry& other) const {
      return price != other.price ? price > other.price : label < other.label;
    }
  };
  std::vector<Label> labels_;
  std::priority_queue<Entry> queue_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> by_state_;
};

}  // namespace

/// Of a node at one memory that gets its tiles from one at another, or hands them back to it.
void TileLattice::add_times(const Tensor& tensor, std::size_t from, std::size_t to,
                            std::size_t window, Label* label) const {
  const ChainTensor& known = *tensor.known;
  const Place& place = tensor.places[to];
  const std::size_t inner = known.memories[to], outer = known.memories[from];
  double values = place.moved[label->shape];
  if (window > 0) values *= place.share[window - 1][label->shape];
  const double apart = values / place.multicast[from];
  if (!known.access->is_output) {
    label->write_s[inner] += values * known.write_s[to] / active_[inner];
    label->read_s[outer] += apart * known.read_s[from] / active_[outer];
    return;
  }
  label->write_s[outer] += apart * known.write_s[from] / active_[outer];
  if (known.drain_j[to] > 0) label->read_s[inner] += values * known.read_s[to] / active_[inner];
  if (known.has_windows) return;
  const double returned = std::max(0.0, values - place.first_sums);
  label->write_s[inner] += returned * known.write_s[to] / active_[inner];
  label->read_s[outer] += returned / place.multicast[from] * known.read_s[from] / active_[outer];
}

void TileLattice::add_operand_times(const Tensor& tensor, std::size_t i, Label* label) const {
  const ChainTensor& known = *tensor.known;
  const std::size_t memory = known.memories[i];
  const ChainTensors::Moves moves = chain_.operand_moves(known, i, spread_);
  (known.access->is_output ? label->write_s : label->read_s)[memory] +=
      moves.moved * (known.access->is_output ? known.write_s[i] : known.read_s[i]) /
      active_[memory];
  label->read_s[memory] += moves.returned * known.read_s[i] / active_[memory];
}

/// Whether spatial loops stand between the nodes of two memories.
bool TileLattice::spreads_between(std::size_t outer, std::size_t inner) const {
  for (std::size_t g = 0; g < spread_.gaps.size(); ++g) {
    const std::size_t memory = chain_.spreads.gaps()[g].memory;
    const Factors64& factors = spread_.gaps[g]->all;
    if (outer < memory && memory <= inner &&
        std::any_of(factors.begin(), factors.end(), [](std::int64_t f) { return f > 1; }))
      return true;
  }
  return false;
}

double TileLattice::busy_seconds(const Label& label) const {
  double most = 0;
  for (std::size_t m = 0; m < chain_.memories.size(); ++m)
    most = std::max(most, chain_.separate_ports[m] ? std::max(label.read_s[m], label.write_s[m])
                                                   : label.read_s[m] + label.write_s[m]);
  return most;
}

double TileLattice::least_that_fits(const Price& price, double compute_s, double limit) {
  steps_.clear();
  const auto add_step = [&](const Label& outer, const Label& inner) {
    if (outer.shape != inner.shape) {
      for (std::size_t v = 0; v < divisors_.size(); ++v) {
        const Factors64& all = divisors_[v];
        const std::int64_t before = all[outer.shape / strides_[v] % all.size()];
        const std::int64_t after = all[inner.shape / strides_[v] % all.size()];
        if (before != after) steps_.emplace_back(Loop{v, before / after});
      }
    } else if (outer.position != inner.position) {
      const Position before = position_of(outer.position), after = position_of(inner.position);
      for (std::size_t k = 0; k < tensors_.size(); ++k)
        if (before[k] != after[k])
          steps_.emplace_back(Node{k, tensors_[k].known->memories[after[k] - 1], outer.slides});
    }
  };
  if (chain_.memories.size() > kMostMemories || rows_.empty()) return 0;
  Frontier<Label> frontier;
  const auto add = [&](Label label) {
    const std::vector<Row>& rows = rows_[label.position];
    if (rows.empty()) return;
    const double energy_j = label.energy_j + rows[label.window][label.shape] + constant_j_;
    if (!(energy_j < kNone)) return;
    const double whole = price(energy_j, std::max(compute_s, busy_seconds(label)));
    if (!(whole < limit)) return;
    const std::size_t state =
        ((label.position * (windows_.size() + 1) + label.window) * n_tiles_ + label.shape) *
            (kMostMemories + 1) +
        label.sliding;
    frontier.add(label, state, whole);
  };
  for (std::size_t p = first_; p < n_positions_; ++p) {
    const Position position = position_of(p);
    Label label;
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      label.energy_j += position[k] == 0 ? kNone : tensors_[k].operand_j[position[k] - 1];
      if (label.energy_j < kNone) add_operand_times(tensors_[k], position[k] - 1, &label);
    }
    label.position = p;
    label.before = frontier.size();
    if (label.energy_j < kNone) add(label);
  }
  while (!frontier.empty()) {
    const double least = frontier.least();
    if (frontier.size() > kMostLabels || is_cancelled()) return least;
    const std::size_t index = frontier.take();
    const Label label = frontier[index];
    if (label.position == first_ && label.shape + 1 == n_tiles_) {
      for (std::size_t i = index; frontier[i].before != i; i = frontier[i].before)
        add_step(frontier[i], frontier[frontier[i].before]);
      return least;
    }
    Label next = label;
    next.before = index;
    next.sliding = 0;
    next.slides = false;
    const auto index_of = [&](std::size_t v) {
      return label.shape / strides_[v] % divisors_[v].size();
    };
    const auto add_loop = [&](std::size_t v, std::size_t i) {
      next.shape = label.shape + (i - index_of(v)) * strides_[v];
      add(next);
    };
    next.window = 0;
    if (label.window > 0) {
      const Window& window = windows_[label.window - 1];
      for (std::size_t n = 0; n < window.to.size(); ++n)
        if (window.to[n] == index_of(window.variable)) add_loop(window.variable, window.from[n]);
    } else {
      for (std::size_t v = 0; v < divisors_.size(); ++v)
        for (const std::size_t i : larger_[v][index_of(v)]) add_loop(v, i);
      next.shape = label.shape;
      for (std::size_t w = 1; w <= windows_.size(); ++w) {
        next.window = w;
        add(next);
      }
    }
    next = label;
    next.before = index;
    const Position position = position_of(label.position);
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      const Tensor& tensor = tensors_[k];
      if (position[k] == 0) continue;
      const std::size_t i = position[k] - 1, memory = tensor.known->memories[i];
      // Spatial loops between it and a node that slides would stand below the window's loop.
      if (label.sliding > 0 && spreads_between(memory, label.sliding - 1)) continue;
      const double bits = label.bits[memory] + tensor.places[i].bits[label.shape];
      if (bits > chain_.size_bits[memory] || !(bits < kNone)) continue;
      for (std::size_t from = tensor.known->is_backed_first ? 1 : 0; from < position[k]; ++from) {
        bool skips = false;
        for (std::size_t m = from; m < i; ++m) skips = skips || tensor.known->must[m];
        Position earlier = position;
        earlier[k] = from;
        if (skips || !may_follow(earlier, tensor, i)) continue;
        for (const bool slides : {false, true}) {
          if (slides && (label.window == 0 || !tensor.known->slides() || from == 0)) continue;
          next = label;
          next.before = index;
          next.bits[memory] = bits;
          next.position = label.position - (position[k] - from) * tensor.stride;
          next.slides = slides;
          if (slides && label.sliding == 0) next.sliding = memory + 1;
          const std::size_t window = slides ? label.window : 0;
          if (from > 0) {
            next.energy_j += node_energy(tensor, from - 1, i, window)[label.shape];
            add_times(tensor, from - 1, i, window, &next);
          }
          add(next);
        }
      }
    }
  }
  return limit;
}

}  // namespace sluice
