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

/// A state, and what it took to get there from the inside.
struct Label {
  double energy_j = 0;
  std::array<double, kMostMemories> bits = {};  ///< that nodes further in take, per memory
  std::size_t position = 0, shape = 0, window = 0;
  std::size_t before = 0;  ///< the label further in; itself: none

  bool is_no_worse_than(const Label& other) const {
    for (std::size_t m = 0; m < kMostMemories; ++m)
      if (bits[m] > other.bits[m]) return false;
    return energy_j <= other.energy_j;
  }
};

class Frontier {
 public:
  /// Where nothing known is as good.
  void add(const Label& label, std::size_t state, double whole_j) {
    std::vector<std::size_t>& same = by_state_[state];
    for (const std::size_t other : same)
      if (labels_[other].is_no_worse_than(label)) return;
    same.push_back(labels_.size());
    queue_.push({whole_j, labels_.size()});
    labels_.push_back(label);
  }

  bool empty() const { return queue_.empty(); }
  std::size_t size() const { return labels_.size(); }
  /// Energy of all that lead through the cheapest one, at least.
  double least() const { return queue_.top().whole_j; }
  std::size_t take() {
    const std::size_t index = queue_.top().label;
    queue_.pop();
    return index;
  }
  const Label& operator[](std::size_t index) const { return labels_[index]; }

 private:
  struct Entry {
    double whole_j;
    std::size_t label;
    /// Of equals the last one, which is further out.
    bool operator<(const Entry& other) const {
      return whole_j != other.whole_j ? whole_j > other.whole_j : label < other.label;
    }
  };
  std::vector<Label> labels_;
  std::priority_queue<Entry> queue_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> by_state_;
};

}  // namespace

double TileLattice::least_that_fits(double limit) {
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
          steps_.emplace_back(Node{k, tensors_[k].known->memories[after[k] - 1],
                                   inner.window > 0 && tensors_[k].known->slides()});
    }
  };
  if (chain_.memories.size() > kMostMemories || rows_.empty()) return 0;
  Frontier frontier;
  const auto add = [&](Label label) {
    const std::vector<Row>& rows = rows_[label.position];
    if (rows.empty()) return;
    const double whole_j = label.energy_j + rows[label.window][label.shape];
    if (!(whole_j + constant_j_ < limit)) return;
    const std::size_t state =
        (label.position * (windows_.size() + 1) + label.window) * n_tiles_ + label.shape;
    frontier.add(label, state, whole_j);
  };
  for (std::size_t p = first_; p < n_positions_; ++p) {
    const Position position = position_of(p);
    Label label;
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      label.energy_j += position[k] == 0 ? kNone : tensors_[k].operand_j[position[k] - 1];
    label.position = p;
    label.before = frontier.size();
    if (label.energy_j < kNone) add(label);
  }
  while (!frontier.empty()) {
    const double least_j = frontier.least() + constant_j_;
    if (frontier.size() > kMostLabels) return least_j;
    const std::size_t index = frontier.take();
    const Label label = frontier[index];
    if (label.position == first_ && label.shape + 1 == n_tiles_) {
      for (std::size_t i = index; frontier[i].before != i; i = frontier[i].before)
        add_step(frontier[i], frontier[frontier[i].before]);
      return least_j;
    }
    Label next = label;
    next.before = index;
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
      const double bits = label.bits[memory] + tensor.places[i].bits[label.shape];
      if (bits > chain_.size_bits[memory] || !(bits < kNone)) continue;
      next.bits = label.bits;
      next.bits[memory] = bits;
      for (std::size_t from = tensor.known->is_backed_first ? 1 : 0; from < position[k]; ++from) {
        bool skips = false;
        for (std::size_t m = from; m < i; ++m) skips = skips || tensor.known->must[m];
        Position earlier = position;
        earlier[k] = from;
        if (skips || !may_follow(earlier, tensor, i)) continue;
        next.position = label.position - (position[k] - from) * tensor.stride;
        next.energy_j =
            label.energy_j +
            (from > 0 ? node_energy(tensor, from - 1, i, label.window)[label.shape] : 0.0);
        add(next);
      }
    }
  }
  return limit;
}

}  // namespace sluice
