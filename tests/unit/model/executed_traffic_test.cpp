// Random mappings of one Einsum, executed literally: every loop is walked, every fill, drain and
// operand is counted value by value. The model must count the same, also where tiles do not divide.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "support/random_cases.h"
#include "unit/model/builders.h"

namespace sluice::testing {
namespace {

using Random = std::mt19937_64;

std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

struct Interval {
  std::int64_t offset = 0, size = 1;
};
using Box = std::map<RankVariableId, Interval>;
using Element = std::vector<std::int64_t>;

/// Moves values between memories as the mapping says, without any formula. Instances take their
/// turns one after the other; what the network shares among them in one step counts once at the
/// parent.
class Executor {
 public:
  Executor(const Workload& workload, const BoundProblem& problem, const NodeList& nodes)
      : einsum_(workload.einsums[0]), bound_(problem.einsums[0]), nodes_(nodes) {}

  void run() {
    Box box;
    for (const VariableRange& range : einsum_.iteration_space)
      box[range.variable] = {range.minimum, range.size};
    step(0, box);
  }

  /// Values by memory, tensor and action.
  std::map<std::tuple<ComponentId, TensorId, std::string>, double> counts;

 private:
  struct Turn {
    const SpatialNode* spatial = nullptr;
    RankVariableId variable;
    std::int64_t ordinal = 0;
  };
  struct Place {
    ComponentId memory;
    std::size_t n_loops = 0;
  };

  void step(std::size_t index, const Box& box) {
    const Node& node = nodes_[index];
    if (const auto* storage = std::get_if<StorageNode>(&node.kind)) {
      visit(*storage, index, box);
    } else if (const auto* loop = std::get_if<TemporalNode>(&node.kind)) {
      walk(nullptr, loop->variables[0], loop->tile_shape, index, box);
    } else if (const auto* spatial = std::get_if<SpatialNode>(&node.kind)) {
      walk(spatial, spatial->variables[0], spatial->tile_shape, index, box);
    } else {
      compute(box);
    }
  }

  void walk(const SpatialNode* spatial, RankVariableId variable, std::int64_t tile,
            std::size_t index, Box box) {
    const Interval whole = box[variable];
    turns_.push_back({spatial, variable, 0});
    for (std::int64_t done = 0; done < whole.size; done += tile, ++turns_.back().ordinal) {
      box[variable] = {whole.offset + done, std::min(tile, whole.size - done)};
      step(index + 1, box);
    }
    turns_.pop_back();
  }

  /// Keeps the node's tile while everything below runs.
  void visit(const StorageNode& storage, std::size_t index, const Box& box) {
    const TensorId tensor = storage.tensors[0];
    std::vector<Place>& chain = held_in_[tensor];
    const TensorAccess& access = *find_access(einsum_, tensor);
    const std::vector<Element> tile = elements(access, box);
    if (!chain.empty())
      for (const Element& element : tile) fill(access, element, index, &storage.component);
    chain.push_back({storage.component, turns_.size()});
    step(index + 1, box);
    chain.pop_back();
    if (!chain.empty() && access.is_output)
      for (const Element& element : tile) drain(access, element, index, &storage.component);
  }

  void compute(const Box& point) {
    for (const TensorAccess& access : einsum_.accesses) {
      const Element element = elements(access, point)[0];
      fill(access, element, nodes_.size(), nullptr);
      if (access.is_output) drain(access, element, nodes_.size(), nullptr);
    }
  }

  void fill(const TensorAccess& access, const Element& element, std::size_t index,
            const ComponentId* child) {
    // Each instance's first sight of an output has nothing to read yet.
    if (access.is_output && seen_.insert(key(access, element, index, 0, false)).second) return;
    move(access, element, index, "read", "write", child);
  }
  void drain(const TensorAccess& access, const Element& element, std::size_t index,
             const ComponentId* child) {
    move(access, element, index, "write", "read", child);
  }

  void move(const TensorAccess& access, const Element& element, std::size_t index,
            const std::string& at_parent, const std::string& at_child, const ComponentId* child) {
    const Place& parent = held_in_.at(access.tensor).back();
    std::vector<std::int64_t> transfer = key(access, element, index, parent.n_loops, true);
    transfer.push_back(at_parent == "read");
    if (transfers_.insert(transfer).second) ++counts[{parent.memory, access.tensor, at_parent}];
    if (child) ++counts[{*child, access.tensor, at_child}];
  }

  /// Who moves what when. For a transfer: every step, and of the instances below the parent only
  /// those that are served on their own; else: every instance, whatever the step.
  std::vector<std::int64_t> key(const TensorAccess& access, const Element& element,
                                std::size_t index, std::size_t parent_loops, bool transfer) const {
    std::vector<std::int64_t> result(element);
    result.push_back(static_cast<std::int64_t>(index));
    result.push_back(static_cast<std::int64_t>(access.tensor.index()));
    for (std::size_t l = 0; l < turns_.size(); ++l) {
      const Turn& turn = turns_[l];
      bool counts_apart = transfer || turn.spatial;
      if (transfer && turn.spatial && l >= parent_loops &&
          relevance(access, turn.variable) == Relevance::kIrrelevant) {
        const auto tensor = bound_.local_tensor[access.tensor.index()];
        counts_apart = !((bound_.components[turn.spatial->component.index()]
                              .spatial[turn.spatial->dimension]
                              .may_reuse >>
                          tensor) &
                         1);
      }
      result.push_back(counts_apart ? turn.ordinal : -1);
    }
    return result;
  }

  /// Every index of the box that an access touches.
  static std::vector<Element> elements(const TensorAccess& access, const Box& box) {
    std::vector<Element> result = {{}};
    for (const AffineExpression& index : access.projection) {
      std::int64_t low = index.constant, high = low;
      for (const AffineTerm& term : index.terms) {
        const Interval& range = box.at(term.variable);
        low += term.coefficient * range.offset;
        high += term.coefficient * (range.offset + range.size - 1);
      }
      std::vector<Element> longer;
      for (const Element& prefix : result)
        for (std::int64_t i = low; i <= high; ++i) {
          longer.push_back(prefix);
          longer.back().push_back(i);
        }
      result = std::move(longer);
    }
    return result;
  }

  const Einsum& einsum_;
  const BoundEinsum& bound_;
  const NodeList& nodes_;
  std::vector<Turn> turns_;
  std::map<TensorId, std::vector<Place>> held_in_;
  std::set<std::vector<std::int64_t>> seen_, transfers_;
};

Workload random_workload(Random& random) {
  std::map<std::string, std::int64_t> sizes;
  for (const char* v : {"m", "k", "n", "p", "r", "c", "o"}) sizes[v] = draw(random, 1, 6);
  WorkloadBuilder builder(sizes, 8);
  switch (draw(random, 0, 2)) {
    case 0:
      return builder.einsum("C[m,n] = A[m,k] * B[k,n]").workload;
    case 1:
      return builder.einsum("Y[p,o] = X[p+r,c] * W[r,c,o]").workload;
    default:
      return builder.einsum("Y[p] = X[2*p+r] * W[r]").workload;
  }
}

/// Loops over random tiles with one memory's storage nodes among them, then spatial loops, then the
/// same with the memory further in.
class RandomNest {
 public:
  RandomNest(const Workload& w, const MappingBuilder& b, Random& random)
      : w_(w), b_(b), random_(random), ranges_(w.einsums[0].iteration_space) {
    for (const VariableRange& range : ranges_) tile_.push_back(range.size);
  }

  NodeList make() {
    NodeList list;
    for (const Tensor& tensor : w_.tensors)
      list.push_back(b_.storage("DRAM", {tensor.name.c_str()}));
    NodeList outer = loops(draw(random_, 0, 3));
    insert_storages("GB", outer);
    for (std::int64_t n = draw(random_, 0, 2); n > 0; --n) {
      const std::size_t v = any_variable();
      const std::int64_t tile = draw(random_, 1, tile_[v]);
      outer.push_back(
          b_.spatial(name(v), tile, "PE", static_cast<std::uint32_t>(draw(random_, 0, 1))));
      tile_[v] = tile;
    }
    NodeList inner = loops(draw(random_, 0, 2));
    std::vector<std::size_t> order(tile_.size());
    for (std::size_t v = 0; v < order.size(); ++v) order[v] = v;
    std::shuffle(order.begin(), order.end(), random_);
    for (std::size_t v : order)
      if (tile_[v] > 1 || draw(random_, 0, 1)) inner.push_back(b_.temporal(name(v), 1));
    insert_storages("RF", inner);
    list.insert(list.end(), outer.begin(), outer.end());
    list.insert(list.end(), inner.begin(), inner.end());
    list.push_back(b_.compute(w_.einsums[0].name, "MAC"));
    return list;
  }

 private:
  const std::string& name(std::size_t v) const { return w_[ranges_[v].variable].name; }
  std::size_t any_variable() {
    return static_cast<std::size_t>(draw(random_, 0, static_cast<std::int64_t>(tile_.size()) - 1));
  }
  NodeList loops(std::int64_t n) {
    NodeList list;
    for (; n > 0; --n) {
      const std::size_t v = any_variable();
      tile_[v] = draw(random_, 1, tile_[v]);
      list.push_back(b_.temporal(name(v), tile_[v]));
    }
    return list;
  }
  void insert_storages(const char* memory, NodeList& list) {
    for (const Tensor& tensor : w_.tensors)
      if (draw(random_, 0, 1))
        list.insert(list.begin() + draw(random_, 0, static_cast<std::int64_t>(list.size())),
                    b_.storage(memory, {tensor.name.c_str()}));
  }

  const Workload& w_;
  const MappingBuilder& b_;
  Random& random_;
  const std::vector<VariableRange>& ranges_;
  std::vector<std::int64_t> tile_;
};

TEST(ExecutedTraffic, IsWhatTheModelCounts) {
  const RandomCases cases = random_cases(400);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    Random random(seed);
    const char* const reuse[] = {"All", "Nothing", "Inputs", "Outputs"};
    Arch arch;
    arch.components = {memory("DRAM", "inf", "Nothing", 1, 1), memory("GB", "inf", "Nothing", 1, 1),
                       container("PE", {dimension("x", 99, reuse[draw(random, 0, 3)]),
                                        dimension("y", 99, reuse[draw(random, 0, 3)])}),
                       memory("RF", "inf", "Nothing", 1, 1),
                       compute("MAC", {{"compute", 1, 1, 1, 0}})};
    const Workload w = random_workload(random);
    const MappingBuilder builder(w, arch);
    const NodeList nodes = RandomNest(w, builder, random).make();
    const BoundProblem problem = bound(w, arch);
    Executor executor(w, problem, nodes);
    executor.run();
    const Cost cost = priced(w, arch, nodes);
    for (const EnergyRow& row : cost.energy) {
      if (!row.tensor) continue;
      ASSERT_EQ(*row.count, (executor.counts[{row.component, *row.tensor, row.action}]))
          << "seed " << seed << ": " << w[*row.tensor].name << " in " << arch[row.component].name
          << ", " << row.action;
    }
  }
}

}  // namespace
}  // namespace sluice::testing
