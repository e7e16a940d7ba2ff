#include "tile_lattice.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>

#include "model/bind/divisors.h"
#include "model/bind/index_extent.h"

namespace sluice {
namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();

bool is_prime(std::int64_t value) { return value > 1 && smallest_prime_of(value) == value; }

/// Of the values of a rank that a tile covers, those that are new at a step of the loop over
/// `variable` directly above, on average over its steps, of which there are `most` at most.
template <class SizeOf>
double new_share(const BoundIndex& index, const SizeOf& size_of, std::size_t variable,
                 double most) {
  double share = 1;
  const auto all = static_cast<double>(extent_of(index, size_of));
  for (const BoundTerm& term : index.terms) {
    if (static_cast<std::size_t>(term.variable) != variable) continue;
    const auto step = static_cast<double>(std::abs(term.coefficient) * size_of(term.variable));
    share = std::min(share, (1 + (most - 1) * std::min(1.0, step / all)) / most);
  }
  return share;
}

/// The variables of a rank's index, each once.
std::vector<std::size_t> variables_of(const BoundIndex& index) {
  std::vector<std::size_t> variables;
  for (const BoundTerm& term : index.terms) {
    const auto v = static_cast<std::size_t>(term.variable);
    if (std::find(variables.begin(), variables.end(), v) == variables.end()) variables.push_back(v);
  }
  return variables;
}

}  // namespace

TileLattice::TileLattice(const ChainTensors& chain, const Spread& spread, Windows windows,
                         const std::atomic<bool>* cancel)
    : chain_(chain),
      spread_(spread),
      keeps_rows_(windows == Windows::kStepByStep),
      cancel_(cancel) {
  lay_out(windows);
}

void TileLattice::lay_out(Windows windows) {
  const std::size_t n_variables = chain_.sizes.size();
  larger_.resize(n_variables);
  prime_loops_.resize(n_variables);
  for (std::size_t v = 0; v < n_variables; ++v) {
    const Factors64& divisors =
        divisors_.emplace_back(divisors_of(chain_.sizes[v] / spread_.all[v]));
    strides_.push_back(n_tiles_);
    n_tiles_ *= divisors.size();
    larger_[v].resize(divisors.size());
    for (std::size_t i = 0; i < divisors.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (divisors[i] % divisors[j] == 0 && is_prime(divisors[i] / divisors[j])) {
          larger_[v][j].push_back(i);
          prime_loops_[v].emplace_back(i, j);
        }
    std::reverse(prime_loops_[v].begin(), prime_loops_[v].end());
    const auto moves = [&](const ChainTensor& tensor) {
      return tensor.slides() && tensor.access->relevance[v] == Relevance::kPartial;
    };
    if (windows != Windows::kAnywhere &&
        std::any_of(chain_.tensors.begin(), chain_.tensors.end(), moves))
      add_windows(v, windows == Windows::kStepByStep);
  }
  for (const ChainTensor& known : chain_.tensors) {
    if (!known.has_nodes) {
      constant_j_ += chain_.least_operand_energy(known, spread_);
      continue;
    }
    Tensor& tensor = tensors_.emplace_back();
    tensor.known = &known;
    tensor.n_positions = known.memories.size() + 1;
    tensor.stride = n_positions_;
    n_positions_ *= tensor.n_positions;
    if (known.is_backed_first) first_ += tensor.stride;
  }
}

void TileLattice::add_windows(std::size_t v, bool step_by_step) {
  const Factors64& divisors = divisors_[v];
  Window any{v, 0, {}, {}};
  for (const auto& [outside, inside] : prime_loops_[v]) {
    any.from.push_back(outside);
    any.to.push_back(inside);
  }
  if (!step_by_step) windows_.push_back(std::move(any));
  for (std::size_t t = 1; step_by_step && t < divisors.size(); ++t) {
    Window window{v, divisors[t], {}, {}};
    for (std::size_t i = 0; i < divisors.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (divisors[j] * window.trips == divisors[i]) {
          window.from.push_back(i);
          window.to.push_back(j);
        }
    windows_.push_back(std::move(window));
  }
}

void TileLattice::add_places() {
  const std::size_t n_memories = chain_.memories.size();
  inside_.assign(n_memories, Factors64(divisors_.size(), 1));
  for (std::size_t m = 0; m < n_memories; ++m) {
    for (std::size_t g = 0; g < spread_.gaps.size(); ++g)
      for (std::size_t v = 0; v < divisors_.size() && chain_.spreads->gaps()[g].memory > m; ++v)
        inside_[m][v] *= spread_.gaps[g]->all[v];
  }
  for (Tensor& tensor : tensors_) {
    const ChainTensor& known = *tensor.known;
    bool may_be_last = true;  // from the inside out
    tensor.operand_j.assign(known.memories.size(), kUnreached);
    for (std::size_t i = known.memories.size(); i-- > 0 && may_be_last;) {
      tensor.operand_j[i] = chain_.operand_energy(known, i, spread_);
      may_be_last = !known.must[i];
    }
    for (std::size_t i = 0; i < known.memories.size(); ++i) {
      Place& place = tensor.places.emplace_back();
      place.energy.resize(i * (windows_.size() + 1));
      place.whole = chain_.whole_actions(known, i, spread_);
      // On all instances outside of it.
      place.first_sums =
          known.values * known.same_in(spread_.all) / known.same_in(inside_[known.memories[i]]);
      for (std::size_t from = 0; from < i; ++from)
        place.multicast.push_back(
            chain_.spread_between(known, known.memories[from], known.memories[i], spread_));
    }
  }
}

void TileLattice::price() {
  Row tiles(n_tiles_, 1);  // that all points make
  for (std::size_t v = 0; v < divisors_.size(); ++v)
    combine_with(
        divisors_, {v}, [&](const auto& at) { return static_cast<double>(divisors_[v][at[0]]); },
        std::divides<>(), &tiles);
  for (Tensor& tensor : tensors_) {
    const ChainTensor& known = *tensor.known;
    tensor.first_j.assign(n_tiles_, 0);
    for (std::size_t v = 0; v < divisors_.size(); ++v) {
      const std::size_t last = divisors_[v].size() - 1;
      if (known.may_be_cut[v] == 0)
        combine_with(
            divisors_, {v}, [&](const auto& at) { return at[0] == last ? 0 : kUnreached; },
            std::plus<>(), &tensor.first_j);
    }
    Row volumes, moved;
    for (std::size_t i = 0; i < known.memories.size(); ++i) {
      const Factors64& inside = inside_[known.memories[i]];
      Place& place = tensor.places[i];
      if (i == 0 || inside != inside_[known.memories[i - 1]]) {
        volumes = volumes_of(*known.access, inside);
        const double visits = chain_.points / static_cast<double>(product_of(inside));
        moved.resize(n_tiles_);
        for (std::size_t x = 0; x < n_tiles_; ++x) moved[x] = visits * tiles[x] * volumes[x];
      }
      place.moved = moved;
      place.bits = volumes;
      for (double& bits : place.bits) bits *= known.bits[i];
      for (const TileLimit& limit : known.limits[i]) {
        const std::size_t v = limit.variable;
        const auto is_allowed = [&](const auto& at) {
          const std::int64_t own = divisors_[v][at[0]] * inside[v];
          return own <= limit.maximum && own >= limit.minimum;
        };
        combine_with(  // where it is not, as if it did not fit
            divisors_, {v}, [&](const auto& at) { return is_allowed(at) ? 0 : kUnreached; },
            std::plus<>(), &place.bits);
      }
      if (!known.slides()) continue;
      for (const Window& window : windows_) {
        Row& share = place.share.emplace_back(n_tiles_, 1);
        shrink_to_new(*known.access, inside, window.variable, window.trips, &share);
      }
      if (!windows_.empty()) continue;
      Row share(n_tiles_, 1);
      for (std::size_t v = 0; v < divisors_.size(); ++v)
        if (known.access->relevance[v] == Relevance::kPartial)
          shrink_to_new(*known.access, inside, v, 0, &share);
      for (std::size_t x = 0; x < n_tiles_; ++x) place.moved[x] *= share[x];
    }
  }
}

/// How many values each of some variables walks, with the divisors at these indices.
auto TileLattice::sizes_at(const std::vector<std::size_t>& variables,
                           const std::vector<std::size_t>& at, const Factors64& inside) const {
  return [&](int variable) {
    const auto v = static_cast<std::size_t>(variable);
    const auto k = static_cast<std::size_t>(std::find(variables.begin(), variables.end(), v) -
                                            variables.begin());
    return divisors_[v][at[k]] * inside[v];
  };
}

/// Per tile shape: values of an access' tile, with the factors of spatial loops further in.
TileLattice::Row TileLattice::volumes_of(const BoundAccess& access, const Factors64& inside) const {
  Row row(n_tiles_, 1);
  for (const BoundIndex& index : access.index) {
    const std::vector<std::size_t> variables = variables_of(index);
    const auto extent = [&](const DivisorIndices& at) {
      return static_cast<double>(extent_of(index, sizes_at(variables, at, inside)));
    };
    combine_with(divisors_, variables, extent, std::multiplies<>(), &row);
  }
  return row;
}

/// Per tile shape: the share of its values that is new where a loop moves it over a variable, in so
/// many steps (0: all there are).
void TileLattice::shrink_to_new(const BoundAccess& access, const Factors64& inside, std::size_t v,
                                std::int64_t trips, Row* share) const {
  for (const BoundIndex& index : access.index) {
    const std::vector<std::size_t> variables = variables_of(index);
    const auto own = std::find(variables.begin(), variables.end(), v);
    if (index.terms.size() < 2 || own == variables.end()) continue;
    const auto k_own = static_cast<std::size_t>(own - variables.begin());
    const auto new_in = [&](const DivisorIndices& at) {
      const std::int64_t all = divisors_[v].back() / divisors_[v][at[k_own]];
      return new_share(index, sizes_at(variables, at, inside), v,
                       static_cast<double>(trips > 0 ? trips : all));
    };
    combine_with(
        divisors_, variables, new_in, [](double a, double b) { return std::min(a, b); }, share);
  }
}

TileLattice::Position TileLattice::position_of(std::size_t p) const {
  Position position;
  for (const Tensor& tensor : tensors_) position.push_back(p / tensor.stride % tensor.n_positions);
  return position;
}

double TileLattice::least(const std::function<bool(double)>& too_much, double otherwise,
                          double most_states) {
  if (static_cast<double>(n_tiles_) * static_cast<double>(n_positions_) *
          static_cast<double>(windows_.size() + 1) >
      most_states)
    return otherwise;
  add_places();
  price();
  rows_.assign(n_positions_, {});
  find_starts();
  for (const auto& [position, start] : starts_) {
    std::vector<Row>& rows = rows_of(position);
    for (Row& row : rows) std::fill(row.begin(), row.end(), kUnreached);
    rows.front()[start_shape_] = start.energy_j;
  }
  double least_operands_j = constant_j_;
  for (const Tensor& tensor : tensors_)
    least_operands_j += *std::min_element(tensor.operand_j.begin(), tensor.operand_j.end());
  // A node placed makes a position larger.
  double least = kUnreached, least_cut = kUnreached;
  for (std::size_t p = first_; p < n_positions_; ++p) {
    if (rows_[p].empty()) continue;
    if (is_cancelled()) {
      rows_.clear();
      return otherwise;
    }
    close(&rows_[p]);
    // Nothing below is cheaper than one point's tile shape.
    const double below = rows_[p][0][0] + least_operands_j;
    if (below < kUnreached && too_much(below)) {
      release(p);
      least_cut = std::min(least_cut, below);
      continue;
    }
    place_nodes(p);
    const Position position = position_of(p);
    double operands_j = 0;
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      operands_j += position[k] == 0 ? kUnreached : tensors_[k].operand_j[position[k] - 1];
    least = std::min(least, rows_[p][0][0] + operands_j);
    if (!keeps_rows_) release(p);
  }
  return std::min(least + constant_j_, least_cut);
}

bool TileLattice::begin_with(const Steps& steps) {
  outermost_ = steps;
  Factors64 tile;
  for (const Factors64& divisors : divisors_) tile.push_back(divisors.back());
  for (const auto& step : steps) {
    const auto* loop = std::get_if<Loop>(&step);
    if (loop == nullptr) continue;
    if (tile[loop->variable] % loop->trips != 0) return false;
    tile[loop->variable] /= loop->trips;
  }
  return true;
}

/// Of each position, the cheapest way that seems to fit.
void TileLattice::find_starts() {
  start_shape_ = n_tiles_ - 1;
  starts_ = {{first_, {0, std::vector<double>(chain_.memories.size(), 0), {}}}};
  std::vector<char> is_given(tensors_.size(), 0);
  for (const auto& step : outermost_)
    if (const auto* node = std::get_if<Node>(&step)) is_given[node->tensor] = 1;
  for (const auto& step : outermost_) {
    place_between(is_given, start_shape_, &starts_);
    if (const auto* loop = std::get_if<Loop>(&step)) {
      const std::size_t v = loop->variable, i = index_of(start_shape_, v);
      const Factors64& divisors = divisors_[v];
      const auto inside = std::find(divisors.begin(), divisors.end(), divisors[i] / loop->trips);
      start_shape_ -= (i - static_cast<std::size_t>(inside - divisors.begin())) * strides_[v];
      for (auto& [position, start] : starts_) start.steps.push_back(step);
      continue;
    }
    const auto& node = std::get<Node>(step);
    const Tensor& tensor = tensors_[node.tensor];
    const std::vector<std::size_t>& memories = tensor.known->memories;
    const auto at = static_cast<std::size_t>(
        std::find(memories.begin(), memories.end(), node.memory) - memories.begin());
    Starts next;
    for (auto& [position, start] : starts_) {
      double& bits = start.bits[node.memory];
      bits += at < memories.size() ? tensor.places[at].bits[start_shape_] : kUnreached;
      if (bits > chain_.size_bits[node.memory] || !may_follow(position_of(position), tensor, at))
        continue;
      start.steps.push_back(step);
      next.emplace(position + (at + 1) * tensor.stride, std::move(start));
    }
    starts_ = std::move(next);
  }
}

/// Nodes of tensors that are not given, at one tile shape.
void TileLattice::place_between(const std::vector<char>& is_given, std::size_t shape,
                                Starts* starts) const {
  // A node placed makes a position larger.
  for (auto own = starts->begin(); own != starts->end(); ++own) {
    const auto [p, start] = *own;
    const Position position = position_of(p);
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      if (is_given[k] != 0 || position[k] == 0) continue;
      const Tensor& tensor = tensors_[k];
      for (std::size_t i = position[k]; i < tensor.known->memories.size(); ++i) {
        if (i > position[k] && tensor.known->must[i - 1]) break;
        const std::size_t memory = tensor.known->memories[i];
        if (!may_follow(position, tensor, i)) continue;
        Start next = start;
        next.bits[memory] += tensor.places[i].bits[shape];
        if (next.bits[memory] > chain_.size_bits[memory] || !(next.bits[memory] < kUnreached))
          continue;
        next.energy_j += node_energy(tensor, position[k] - 1, i, 0)[shape];
        next.steps.emplace_back(Node{k, memory, false});
        const std::size_t into = p + (i + 1 - position[k]) * tensor.stride;
        const auto known = starts->find(into);
        if (known == starts->end())
          starts->emplace(into, std::move(next));
        else if (next.energy_j < known->second.energy_j)
          known->second = std::move(next);
      }
    }
  }
}

/// With anything in them where nothing has reached the position.
std::vector<TileLattice::Row>& TileLattice::rows_of(std::size_t p) {
  std::vector<Row>& rows = rows_[p];
  if (!rows.empty()) return rows;
  if (!unused_.empty()) {
    rows = std::move(unused_.back());
    unused_.pop_back();
  }
  rows.resize(windows_.size() + 1);
  for (Row& row : rows) row.resize(n_tiles_);
  return rows;
}

void TileLattice::release(std::size_t p) {
  unused_.push_back(std::move(rows_[p]));
  rows_[p].clear();
}

/// Loops: what a tile shape costs is the least of all that have it as a part.
void TileLattice::close(std::vector<Row>* rows) const {
  Row& least = rows->front();
  for (std::size_t w = 1; w < rows->size(); ++w)
    for (std::size_t x = 0; x < n_tiles_; ++x) least[x] = std::min(least[x], (*rows)[w][x]);
  for (std::size_t v = 0; v < divisors_.size(); ++v) {
    const std::size_t stride = strides_[v], block = stride * divisors_[v].size();
    tile_rows::lower_parts(least.data(), n_tiles_ / block, block, stride, prime_loops_[v]);
  }
  for (std::size_t w = 1; w < rows->size(); ++w) {
    const Window& window = windows_[w - 1];
    const std::size_t stride = strides_[window.variable];
    const std::size_t block = stride * divisors_[window.variable].size();
    for (std::size_t n = 0; n < window.from.size(); ++n)
      tile_rows::lower_blocks(&least[window.from[n] * stride], &(*rows)[w][window.to[n] * stride],
                              n_tiles_ / block, block, stride);
  }
}

/// Whether the tensor's node at the i-th of its memories may stand below all others.
bool TileLattice::may_follow(const Position& position, const Tensor& tensor, std::size_t i) const {
  const std::size_t memory = tensor.known->memories[i];
  if (!chain_.forces_order[memory]) return true;
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    if (position[k] == 0) continue;
    const std::size_t other = tensors_[k].known->memories[position[k] - 1];
    if (other > memory && chain_.forces_order[other]) return false;
  }
  return true;
}

/// Whether no spatial loop that others cannot share stands above a tensor's node in a memory.
bool TileLattice::may_be_first(const Tensor& tensor, std::size_t i) const {
  const ChainTensor& known = *tensor.known;
  if (known.is_above_all) return true;
  const Factors64& inside = inside_[known.memories[i]];
  for (std::size_t v = 0; v < inside.size(); ++v)
    if (known.may_be_spread[v] == 0 && spread_.all[v] != inside[v]) return false;
  return true;
}

/// Per tile shape: 0 where the memory has room for the tensor's node below those of the other
/// tensors in it, else infinite; empty where it never has. Valid until it is asked again.
const TileLattice::Row& TileLattice::barred_at(const Position& position, std::size_t tensor,
                                               std::size_t i) {
  constexpr std::size_t kMostKept = 50'000;  // tile shapes: of more, memory counts
  const std::size_t memory = tensors_[tensor].known->memories[i];
  std::vector<std::size_t> nodes = {tensor, i};
  for (std::size_t k = 0; k < tensors_.size(); ++k)
    if (k != tensor && position[k] > 0 && tensors_[k].known->memories[position[k] - 1] == memory)
      nodes.push_back(k);
  if (n_tiles_ > kMostKept) barred_.clear();
  const auto [known, is_new] = barred_.try_emplace(std::move(nodes));
  Row& room = known->second;
  if (!is_new) return room;
  room.assign(n_tiles_, chain_.size_bits[memory]);
  for (std::size_t n = 2; n < known->first.size(); ++n) {
    const std::size_t k = known->first[n];
    tile_rows::take_room(tensors_[k].places[position[k] - 1].bits.data(), n_tiles_, room.data());
  }
  if (!tile_rows::bar(tensors_[tensor].places[i].bits.data(), n_tiles_, room.data())) room.clear();
  return room;
}

/// Per tile shape: of a node at one memory that gets its tiles from one at another, or hands them
/// back to it. `window`: 1 + the one that the loop directly above moves, or 0.
const TileLattice::Row& TileLattice::node_energy(const Tensor& tensor, std::size_t from,
                                                 std::size_t to, std::size_t window) const {
  const ChainTensor& known = *tensor.known;
  const Place& place = tensor.places[to];
  if (!known.slides()) window = 0;
  Row& energy = place.energy[from * (windows_.size() + 1) + window];
  if (!energy.empty()) return energy;
  energy = place.moved;
  if (window > 0)
    for (std::size_t x = 0; x < n_tiles_; ++x) energy[x] *= place.share[window - 1][x];
  const ChainTensors::WholeActions &own = place.whole, &outer = tensor.places[from].whole;
  tile_rows::FeedPrice price;
  price.share = known.share;
  price.apart = 1 / place.multicast[from];
  price.compulsory = from == 0 ? known.compulsory : 0;
  if (!known.access->is_output) {
    price.own_j = known.write_j[to];
    price.outer_j = known.read_j[from];
    price.own_whole = own.write;
    price.outer_whole = outer.read;
    tile_rows::price_inputs(n_tiles_, price, energy.data());
    return energy;
  }
  price.own_j = known.drain_j[to];
  price.outer_j = known.write_j[from];
  price.outer_whole = outer.write;
  tile_rows::price_outputs(n_tiles_, price,
                           {known.has_windows ? kUnreached : place.first_sums, known.write_j[to],
                            known.read_j[from], outer.read},
                           energy.data());
  return energy;
}

void TileLattice::place_nodes(std::size_t p) {
  const Position position = position_of(p);
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    const Tensor& tensor = tensors_[k];
    for (std::size_t i = position[k]; i < tensor.known->memories.size(); ++i) {
      if (i > position[k] && tensor.known->must[i - 1]) break;
      if (position[k] == 0 && (i > tensor.known->last_backing || !may_be_first(tensor, i))) break;
      if (!may_follow(position, tensor, i)) continue;
      const Row& barred = barred_at(position, k, i);
      if (barred.empty()) continue;
      const std::size_t into = p + (i + 1 - position[k]) * tensor.stride;
      const bool is_new = rows_[into].empty();
      std::vector<Row>& next = rows_of(into);
      for (std::size_t w = 0; w < next.size(); ++w) {
        const Row& energy =
            position[k] > 0 ? node_energy(tensor, position[k] - 1, i, w) : tensor.first_j;
        (is_new ? tile_rows::set_to_sums : tile_rows::lower_to_sums)(
            rows_[p][w].data(), energy.data(), barred.data(), n_tiles_, next[w].data());
      }
    }
  }
}

}  // namespace sluice
