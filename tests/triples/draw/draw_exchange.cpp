#include <algorithm>
#include <numeric>

#include "triples/draw/collective_draw.h"

// Collectives from one layout to another (docs/collectives.md): the maker's child and each reader's
// have loops and a node of the tensor of their own.

namespace sluice::triples {
namespace {

class ExchangeDraw final : CollectiveDraw {
 public:
  ExchangeDraw(Dice& dice, Triple& triple, const Workload& workload)
      : CollectiveDraw(dice, triple, workload),
        loops_(workload.einsums.size()),
        nodes_(workload.einsums.size()) {}

  bool run() {
    std::vector<NodeSpec>& root = triple_.nodes;
    draw_dimensions();
    std::vector<NodeSpec> above = draw_above();
    homes_.assign(w_.tensors.size(), Home::kOutside);
    for (std::size_t e = 0; e < w_.einsums.size(); ++e)
      if (!w_.einsums[e].is_copy_operation && (collectives_.empty() || dice_.chance(50)))
        draw_move(e);
    if (collectives_.empty()) return false;
    draw_other_homes();
    back_outside(root);
    root.insert(root.end(), above.begin(), above.end());
    backing_in_buffer(root, Home::kBufferBelow);
    if (!uses_buffers() && dice_.chance(10)) private_above(root);
    root.push_back(split());
    if (dice_.chance(5)) spoil();
    return true;
  }

 private:
  /// A spatial loop of one Einsum.
  struct Loop {
    std::string dimension;
    RankVariableId variable;
    std::int64_t trips = 1;
  };
  /// A dimension that a collective brings together: what maker and readers walk there.
  struct Layout {
    std::string dimension;
    std::optional<RankVariableId> made;
    std::vector<std::optional<RankVariableId>> read;  ///< per reader
  };

  void draw_dimensions() {
    std::vector<std::string> found;
    for (const char* dimension : kDimensions)
      if (has_dimension(dimension)) found.emplace_back(dimension);
    for (std::size_t i = found.size(); i > 1; --i)
      std::swap(found[i - 1], found[static_cast<std::size_t>(dice_.below(i))]);
    found.resize(std::min<std::size_t>(found.size(), dice_.chance(50) ? 1 : 2));
    over_ = found;
  }

  bool uses_buffers() const { return std::find(over_.begin(), over_.end(), "g") != over_.end(); }

  std::vector<NodeSpec> draw_above() {
    std::vector<NodeSpec> above;
    const std::int64_t loops = dice_.any(std::vector<std::int64_t>{0, 0, 1, 1, 2});
    for (std::int64_t l = 0; l < loops; ++l) steps_above(above);
    if (!uses_buffers() && has_dimension("g") && dice_.chance(40)) groups_above(above);
    return above;
  }

  /// Collectives side by side, one in each instance of g.
  void groups_above(std::vector<NodeSpec>& above) {
    std::vector<NodeSpec> steps;
    const std::vector<Tiles> before = tiles_;
    steps_above(steps);
    if (steps.empty()) return;
    NodeSpec& node = steps.front();
    node.kind = NodeSpec::Kind::kSpatial;
    node.component = "GB";
    node.dimension = "g";
    const int fanout = fanout_of("GB", "g");
    for (std::size_t e = 0; e < before.size(); ++e)
      for (const auto& [variable, whole] : before[e])
        if (whole > fanout * tiles_[e][variable]) {
          tiles_ = before;
          return;
        }
    above.push_back(node);
  }

  /// What is not brought; above loops over g it would be further out than these.
  void draw_other_homes() {
    for (std::size_t t = 0; t < homes_.size(); ++t)
      if (roles_.is_intermediate(TensorId(t)) && homes_[t] == Home::kOutside && !uses_buffers() &&
          dice_.chance(40))
        homes_[t] = Home::kBufferBelow;
  }

  // --- layouts

  /// A collective on what an Einsum makes, if its loops and those of the readers allow one.
  void draw_move(std::size_t maker) {
    const TensorId tensor = w_.einsums[maker].output().tensor;
    const std::vector<std::size_t> readers = readers_of(tensor);
    if (readers.empty()) return;
    for (std::size_t reader : readers)
      if (reader < maker || !loops_[reader].empty() || !nodes_[reader].empty() ||
          w_.einsums[reader].is_copy_operation)
        return;
    for (int attempt = 0; attempt < 8; ++attempt) {
      const std::string type = dice_.text_of({"all_reduce", "reduce_scatter", "all_gather",
                                              "gather", "broadcast", "scatter", "all_to_all"});
      const auto layouts = draw_layouts(type, maker, readers);
      if (layouts.empty()) continue;
      add_move(type, maker, readers, layouts);
      return;
    }
  }

  std::vector<Layout> draw_layouts(const std::string& type, std::size_t maker,
                                   const std::vector<std::size_t>& readers) {
    const TensorId tensor = w_.einsums[maker].output().tensor;
    const bool adds = type == "all_reduce" || type == "reduce_scatter";
    const bool from_slices = type == "all_gather" || type == "gather" || type == "all_to_all";
    const bool to_copies = type == "all_reduce" || type == "all_gather" || type == "broadcast";
    const bool to_slices = type == "reduce_scatter" || type == "scatter" || type == "all_to_all";
    std::vector<std::string> over = over_;
    if (!loops_[maker].empty()) {
      over.clear();
      for (const Loop& loop : loops_[maker]) over.push_back(loop.dimension);
    }
    std::vector<Layout> layouts;
    if (type == "all_to_all" && w_.einsums[maker].output().projection.size() < 2) return {};
    const std::size_t ranks = w_.einsums[maker].output().projection.size();
    const std::size_t from_rank =
        static_cast<std::size_t>(dice_.below(std::max<std::size_t>(ranks, 1)));
    const std::size_t to_rank =
        type == "all_to_all" && ranks > 1 ? (from_rank + 1) % ranks : from_rank;
    for (const std::string& dimension : over) {
      Layout layout{dimension, std::nullopt, {}};
      const bool other_rank = ranks > 1 && type != "all_to_all" && dice_.chance(20);
      const auto rank_of = [&](std::size_t rank) { return other_rank ? (rank + 1) % ranks : rank; };
      if (adds || from_slices) {
        layout.made = adds ? any_irrelevant(maker, tensor, true)
                           : indexing(w_.einsums[maker].output(), rank_of(from_rank));
        if (!layout.made) return {};
        const Loop* given = loop_in(maker, dimension);
        if (given && (adds != is_irrelevant(w_.einsums[maker], tensor, given->variable))) return {};
        if (given) layout.made = given->variable;
      } else if (!loops_[maker].empty()) {
        return {};
      }
      for (std::size_t reader : readers) {
        std::optional<RankVariableId> variable;
        if (to_copies && dice_.chance(85)) variable = any_irrelevant(reader, tensor, false);
        if (to_slices) {
          variable = indexing(access_of(reader, tensor), rank_of(to_rank));
          if (!variable) return {};
        }
        layout.read.push_back(variable);
      }
      const auto is_given = [](const auto& variable) { return variable.has_value(); };
      if (!layout.made && std::none_of(layout.read.begin(), layout.read.end(), is_given)) return {};
      layouts.push_back(layout);
    }
    return layouts;
  }

  const Loop* loop_in(std::size_t e, const std::string& dimension) const {
    for (const Loop& loop : loops_[e])
      if (loop.dimension == dimension) return &loop;
    return nullptr;
  }

  const TensorAccess& access_of(std::size_t e, TensorId tensor) const {
    for (const TensorAccess& access : w_.einsums[e].accesses)
      if (access.tensor == tensor && !access.is_output) return access;
    return w_.einsums[e].output();
  }

  std::optional<RankVariableId> indexing(const TensorAccess& access, std::size_t rank) {
    if (rank >= access.projection.size() || access.projection[rank].terms.empty())
      return std::nullopt;
    return dice_.any(access.projection[rank].terms).variable;
  }

  std::optional<RankVariableId> any_irrelevant(std::size_t e, TensorId tensor, bool output) {
    std::vector<RankVariableId> found;
    for (const VariableRange& range : w_.einsums[e].iteration_space)
      if (output ? !touches(w_.einsums[e].output(), range.variable)
                 : is_irrelevant(w_.einsums[e], tensor, range.variable))
        found.push_back(range.variable);
    if (found.empty()) return std::nullopt;
    return dice_.any(found);
  }

  // --- loops and nodes

  void add_move(const std::string& type, std::size_t maker, const std::vector<std::size_t>& readers,
                const std::vector<Layout>& layouts) {
    const std::vector<Tiles> tiles = tiles_;
    const auto loops = loops_;
    std::vector<std::string> over;
    for (const Layout& layout : layouts) {
      if (!add_layout(maker, readers, layout)) {
        tiles_ = tiles;
        loops_ = loops;
        return;
      }
      over.push_back(layout.dimension);
    }
    for (std::size_t i = over.size(); i > 1; --i)
      std::swap(over[i - 1], over[static_cast<std::size_t>(dice_.below(i))]);
    const TensorId tensor = w_.einsums[maker].output().tensor;
    std::string source = memory_below(maker);
    std::string destination = memory_below(readers.front());
    const bool to_copies = type == "all_reduce" || type == "all_gather";
    for (std::size_t reader : readers)
      if (has_inner_loop(reader)) destination = "RF";
    if (to_copies && over != std::vector<std::string>{"g"} && dice_.chance(95)) destination = "RF";
    if (type == "gather" && dice_.chance(3)) destination = "DRAM";
    Drawn drawn{collective(type, tensor, source, destination), maker, readers, false};
    drawn.node.over = over;
    if (dice_.chance(4))
      drawn.node.root = "{" + over[0] + ": " + dice_.text_of({"0", "0", "1"}) + "}";
    collectives_.push_back(drawn);
    homes_[tensor.index()] = Home::kElsewhere;
    add_node(maker, source, tensor);
    for (std::size_t reader : readers) add_node(reader, destination, tensor);
  }

  void add_node(std::size_t e, const std::string& memory, TensorId tensor) {
    nodes_[e].emplace_back(memory, w_[tensor].name);
    held_[e].insert(memory + "/" + w_[tensor].name);
    if (memory == "RF") held_[e].insert("GB/" + w_[tensor].name);
  }

  /// Loops over one dimension with equally many steps; false where tiles do not divide.
  bool add_layout(std::size_t maker, const std::vector<std::size_t>& readers,
                  const Layout& layout) {
    const Loop* given = loop_in(maker, layout.dimension);
    const int fanout = fanout_of(component_of(layout.dimension), layout.dimension);
    std::vector<std::int64_t> choices;
    for (std::int64_t trips = 2; trips <= fanout; ++trips) {
      bool divides =
          given ? given->trips == trips : !layout.made || tiles_[maker][*layout.made] % trips == 0;
      for (std::size_t r = 0; r < readers.size(); ++r)
        if (layout.read[r]) divides &= tiles_[readers[r]][*layout.read[r]] % trips == 0;
      if (divides) choices.push_back(trips);
    }
    if (choices.empty()) return false;
    const std::int64_t trips = dice_.any(choices);
    if (layout.made && !given) add_loop(maker, {layout.dimension, *layout.made, trips});
    for (std::size_t r = 0; r < readers.size(); ++r)
      if (layout.read[r]) add_loop(readers[r], {layout.dimension, *layout.read[r], trips});
    return true;
  }

  void add_loop(std::size_t e, const Loop& loop) {
    loops_[e].push_back(loop);
    tiles_[e][loop.variable] /= loop.trips;
  }

  bool has_inner_loop(std::size_t e) const {
    return std::any_of(loops_[e].begin(), loops_[e].end(),
                       [](const Loop& loop) { return loop.dimension != "g"; });
  }

  std::string memory_below(std::size_t e) {
    return has_inner_loop(e) || dice_.chance(60) ? "RF" : "GB";
  }

  // --- children

  std::vector<NodeSpec> branch(std::size_t e) override {
    std::vector<NodeSpec> list;
    add_nodes(list, e, "DRAM");
    add_loops(list, e, "GB");
    add_nodes(list, e, "GB");
    const bool has_inner_node = std::any_of(nodes_[e].begin(), nodes_[e].end(),
                                            [](const auto& node) { return node.first == "RF"; });
    if (has_inner_node) {
      std::vector<NodeSpec> in_buffer;
      insert_storages(in_buffer, e, "GB", 30);
      list.insert(list.end(), in_buffer.begin(), in_buffer.end());
    } else {
      outer_part(list, e);
    }
    const bool on_fork = draw_fork(e);
    add_loops(list, e, "PE");
    for (const char* dimension : {"x", "y"})
      if (!loop_in(e, dimension) && dice_.chance(has_inner_node ? 3 : 25))
        spatial_loop(list, e, "PE", dimension);
    add_port(list, e);
    add_nodes(list, e, "RF");
    inner_part(list, e, on_fork);
    return list;
  }

  void add_nodes(std::vector<NodeSpec>& list, std::size_t e, const std::string& memory) {
    for (const auto& [at, tensor] : nodes_[e])
      if (at == memory) list.push_back(storage(memory, {tensor}));
  }

  /// An Einsum's own spatial loops over one component, in any order; each takes from the tile what
  /// those before it left.
  void add_loops(std::vector<NodeSpec>& list, std::size_t e, const std::string& component_name) {
    std::vector<Loop> own;
    for (const Loop& loop : loops_[e])
      if (component_of(loop.dimension) == component_name) own.push_back(loop);
    if (own.size() > 1 && dice_.chance(50)) std::swap(own[0], own[1]);
    for (const Loop& loop : own) {
      NodeSpec node = loop_over({loop.variable}, tile_after(e, own, loop, component_name));
      node.kind = NodeSpec::Kind::kSpatial;
      node.component = component_name;
      node.dimension = loop.dimension;
      list.push_back(node);
    }
  }

  /// The smallest tile times the steps of the loops that follow.
  std::int64_t tile_after(std::size_t e, const std::vector<Loop>& own, const Loop& loop,
                          const std::string& component_name) {
    std::int64_t tile = tiles_[e][loop.variable];
    bool follows = false;
    for (const Loop& other : own) {
      if (follows && other.variable == loop.variable) tile *= other.trips;
      follows |= other.dimension == loop.dimension;
    }
    for (const Loop& other : loops_[e])
      if (component_name == "GB" && other.dimension != "g" && other.variable == loop.variable)
        tile *= other.trips;
    return tile;
  }

  std::vector<std::string> over_;
  std::vector<std::vector<Loop>> loops_;                                 ///< per Einsum
  std::vector<std::vector<std::pair<std::string, std::string>>> nodes_;  ///< memory, tensor
};

}  // namespace

bool draw_exchanges(Dice& dice, Triple& triple, const Workload& workload) {
  return ExchangeDraw(dice, triple, workload).run();
}

}  // namespace sluice::triples
