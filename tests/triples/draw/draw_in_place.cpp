#include <algorithm>

#include "triples/draw/collective_draw.h"

// All_reduces of sums that loops above the split spread over instances: the tensor is backed below
// those loops, in GB (over g) or in RF (over g, x, y).

namespace sluice::triples {
namespace {

class InPlaceDraw final : CollectiveDraw {
 public:
  InPlaceDraw(Dice& dice, Triple& triple, const Workload& workload)
      : CollectiveDraw(dice, triple, workload) {}

  bool run() {
    std::vector<NodeSpec>& root = triple_.nodes;
    if (!draw_sum()) return false;
    draw_dimensions();
    std::vector<NodeSpec> outside, between, inside;
    const std::int64_t loops = dice_.any(std::vector<std::int64_t>{0, 0, 1, 1, 2});
    for (std::int64_t l = 0; l < loops; ++l) steps_above(outside);
    spread(outside, "g");
    if (dice_.chance(20)) steps_above(between);
    spread(between, "x");
    spread(between, "y");
    if (!is_spread_) return false;
    if (dice_.chance(15)) steps_above(inside);
    draw_homes();
    back_outside(root);
    append(root, outside);
    backing_in_buffer(root, Home::kBufferBelow);
    if (dice_.chance(10)) private_above(root);
    append(root, between);
    if (memory_ == "RF" && has("Port") && dice_.chance(40)) add_toll(root, "Port", all_einsums());
    append(root, inside);
    back_inside(root);
    complete_sums();
    root.push_back(split());
    if (dice_.chance(6)) spoil();
    return true;
  }

 private:
  /// A dimension that loops above the split use: what each Einsum walks along it.
  struct Spread {
    std::string dimension;
    Walk walk;
    std::int64_t trips = 1;
  };

  /// The Einsum whose sums are spread; most often others read it.
  bool draw_sum() {
    std::vector<std::size_t> makers;
    for (std::size_t e = 0; e < w_.einsums.size(); ++e) {
      const Einsum& einsum = w_.einsums[e];
      if (einsum.is_copy_operation || summed(einsum).empty()) continue;
      const bool is_read = roles_.is_intermediate(einsum.output().tensor);
      makers.insert(makers.end(), is_read ? 5 : 1, e);
    }
    if (makers.empty()) return false;
    maker_ = dice_.any(makers);
    return true;
  }

  std::vector<RankVariableId> summed(const Einsum& einsum) const {
    std::vector<RankVariableId> found;
    for (const VariableRange& range : einsum.iteration_space)
      if (!touches(einsum.output(), range.variable)) found.push_back(range.variable);
    return found;
  }

  void draw_dimensions() {
    memory_ = has_dimension("g") && dice_.chance(35) ? "GB" : "RF";
    for (const char* dimension : kDimensions)
      if (has_dimension(dimension) && (memory_ == "RF" || component_of(dimension) == memory_) &&
          dice_.chance(memory_ == "GB" ? 100 : 60))
        dimensions_.insert(dimension);
    if (dimensions_.empty()) dimensions_.insert("x");
  }

  static void append(std::vector<NodeSpec>& list, const std::vector<NodeSpec>& nodes) {
    list.insert(list.end(), nodes.begin(), nodes.end());
  }

  TensorId sum() const { return w_.einsums[maker_].output().tensor; }

  /// What is spread and read must be backed below the loops that spread it.
  void draw_homes() {
    homes_.assign(w_.tensors.size(), Home::kOutside);
    for (std::size_t t = 0; t < homes_.size(); ++t) {
      const TensorId tensor(t);
      if (!roles_.is_intermediate(tensor)) continue;
      const std::vector<std::string> over = spreading(maker_of(tensor), "RF");
      const bool over_elements = !over.empty() && over != std::vector<std::string>{"g"};
      homes_[t] = over_elements || dice_.chance(55)  ? Home::kElsewhere
                  : over.empty() && dice_.chance(70) ? Home::kOutside
                                                     : Home::kBufferBelow;
    }
    homes_[sum().index()] = Home::kElsewhere;
  }

  /// The dimensions that spread the sums of an Einsum above a memory.
  std::vector<std::string> spreading(std::size_t e, const std::string& memory) const {
    std::vector<std::string> over;
    for (const Spread& spread : spreads_)
      if (spread.trips > 1 && sums_in(spread.walk, e) &&
          (memory == "RF" || spread.dimension == "g"))
        over.push_back(spread.dimension);
    return over;
  }

  void spread(std::vector<NodeSpec>& list, const std::string& dimension) {
    if (dimensions_.count(dimension) == 0) return;
    const bool sums = !is_spread_ || dice_.chance(60);
    const std::size_t e = sums ? maker_ : static_cast<std::size_t>(dice_.below(w_.einsums.size()));
    const RankVariableId variable = sums ? dice_.any(summed(w_.einsums[maker_]))
                                         : dice_.any(w_.einsums[e].iteration_space).variable;
    const Walk walk = walk_from(e, variable, true);
    const std::vector<RankVariableId> variables = variables_of(walk);
    const std::int64_t tile =
        tile_for(tiles_[e][variable], fanout_of(component_of(dimension), dimension));
    if (tile == 0 || variables.empty()) return;
    NodeSpec node = loop_over(variables, tile);
    node.kind = NodeSpec::Kind::kSpatial;
    node.component = component_of(dimension);
    node.dimension = dimension;
    list.push_back(node);
    spreads_.push_back({dimension, walk, (tiles_[e][variable] + tile - 1) / tile});
    for (std::size_t i = 0; i < walk.size(); ++i)
      tiles_[i][walk[i]] = std::min(tiles_[i][walk[i]], tile);
    is_spread_ |= sums;
  }

  /// Tiles that few enough instances share, most often evenly; 0 if there are none.
  std::int64_t tile_for(std::int64_t whole, int fanout) {
    std::vector<std::int64_t> tiles;
    const bool evenly = dice_.chance(94);
    for (std::int64_t tile = 1; tile < whole; ++tile)
      if ((whole + tile - 1) / tile <= fanout && (!evenly || whole % tile == 0))
        tiles.push_back(tile);
    return tiles.empty() ? 0 : dice_.any(tiles);
  }

  void back_inside(std::vector<NodeSpec>& list) {
    std::vector<std::string> names;
    for (std::size_t t = 0; t < homes_.size(); ++t)
      if (homes_[t] == Home::kElsewhere) names.push_back(w_.tensors[t].name);
    for (const std::string& name : names)
      for (auto& held : held_) held.insert(memory_ + "/" + name);
    if (dice_.chance(50)) {
      list.push_back(storage(memory_, names));
    } else {
      for (const std::string& name : names) list.push_back(storage(memory_, {name}));
    }
  }

  /// An all_reduce of every tensor whose sums are spread above its node.
  void complete_sums() {
    for (std::size_t e = 0; e < w_.einsums.size(); ++e) {
      const TensorId tensor = w_.einsums[e].output().tensor;
      const Home home = homes_[tensor.index()];
      if (home == Home::kOutside) continue;
      const std::string memory = home == Home::kElsewhere ? memory_ : "GB";
      std::vector<std::string> over = spreading(e, memory);
      for (std::size_t i = over.size(); i > 1; --i)
        std::swap(over[i - 1], over[static_cast<std::size_t>(dice_.below(i))]);
      const bool together = dice_.chance(70);
      while (!over.empty()) {
        Drawn drawn{collective("all_reduce", tensor, memory, ""), e, readers_of(tensor), true};
        drawn.node.over = together ? over : std::vector<std::string>{over.back()};
        collectives_.push_back(drawn);
        if (together) break;
        over.pop_back();
      }
    }
  }

  std::vector<NodeSpec> branch(std::size_t e) override {
    std::vector<NodeSpec> list;
    const bool below_elements = memory_ == "RF";
    if (!below_elements) outer_part(list, e);
    const bool on_fork = draw_fork(e);
    for (const char* dimension : {"x", "y"})
      if (!below_elements && dice_.chance(25)) spatial_loop(list, e, "PE", dimension);
    if (!below_elements) add_port(list, e);
    inner_part(list, e, on_fork);
    return list;
  }

  std::size_t maker_ = 0;
  std::string memory_;  ///< that backs the sums
  std::set<std::string> dimensions_;
  std::vector<Spread> spreads_;
  bool is_spread_ = false;
};

}  // namespace

bool draw_in_place_collectives(Dice& dice, Triple& triple, const Workload& workload) {
  return InPlaceDraw(dice, triple, workload).run();
}

}  // namespace sluice::triples
