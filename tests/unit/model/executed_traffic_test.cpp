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

/// Moves values between memories as the mapping says, without any formula.
class Executor {
 public:
  Executor(const Workload& workload, const NodeList& nodes)
      : einsum_(workload.einsums[0]), nodes_(nodes) {}

  void run() {
    Box box;
    for (const VariableRange& range : einsum_.iteration_space)
      box[range.variable] = {range.minimum, range.size};
    step(0, box);
  }

  /// Values by memory, tensor and action.
  std::map<std::tuple<ComponentId, TensorId, std::string>, double> counts;

 private:
  void step(std::size_t index, Box box) {
    const Node& node = nodes_[index];
    if (const auto* storage = std::get_if<StorageNode>(&node.kind)) {
      visit(*storage, 0, index, box);
    } else if (const auto* loop = std::get_if<TemporalNode>(&node.kind)) {
      const Interval whole = box[loop->variables[0]];
      for (std::int64_t done = 0; done < whole.size; done += loop->tile_shape) {
        box[loop->variables[0]] = {whole.offset + done,
                                   std::min(loop->tile_shape, whole.size - done)};
        step(index + 1, box);
      }
    } else {
      compute(box);
    }
  }

  /// Keeps the node's k-th tensor (and those after it) while everything below runs.
  void visit(const StorageNode& storage, std::size_t k, std::size_t index, const Box& box) {
    if (k == storage.tensors.size()) return step(index + 1, box);
    const TensorId tensor = storage.tensors[k];
    std::vector<ComponentId>& chain = held_in_[tensor];
    const TensorAccess& access = *find_access(einsum_, tensor);
    const std::vector<Element> tile = elements(access, box);
    if (!chain.empty()) {
      for (const Element& element : tile) {
        if (access.is_output && !computed_.count(element)) continue;  // nothing is there yet
        ++counts[{chain.back(), tensor, "read"}];
        ++counts[{storage.component, tensor, "write"}];
      }
    }
    chain.push_back(storage.component);
    visit(storage, k + 1, index, box);
    chain.pop_back();
    if (chain.empty() || !access.is_output) return;
    counts[{storage.component, tensor, "read"}] += static_cast<double>(tile.size());
    counts[{chain.back(), tensor, "write"}] += static_cast<double>(tile.size());
  }

  void compute(const Box& point) {
    for (const TensorAccess& access : einsum_.accesses) {
      const ComponentId memory = held_in_.at(access.tensor).back();
      if (!access.is_output) {
        ++counts[{memory, access.tensor, "read"}];
        continue;
      }
      const Element element = elements(access, point)[0];
      if (!computed_.insert(element).second) ++counts[{memory, access.tensor, "read"}];
      ++counts[{memory, access.tensor, "write"}];
    }
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
  const NodeList& nodes_;
  std::map<TensorId, std::vector<ComponentId>> held_in_;
  std::set<Element> computed_;
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

NodeList random_nest(const Workload& w, const MappingBuilder& b, Random& random) {
  const Einsum& einsum = w.einsums[0];
  std::vector<std::int64_t> tile;
  for (const VariableRange& range : einsum.iteration_space) tile.push_back(range.size);
  NodeList list;
  const auto loop = [&](std::size_t v, std::int64_t to) {
    list.push_back(b.temporal(w[einsum.iteration_space[v].variable].name, to));
    tile[v] = to;
  };
  for (std::int64_t n = draw(random, 0, 4); n > 0; --n) {
    const auto v =
        static_cast<std::size_t>(draw(random, 0, static_cast<std::int64_t>(tile.size()) - 1));
    loop(v, draw(random, 1, tile[v]));
  }
  std::vector<std::size_t> order(tile.size());
  for (std::size_t v = 0; v < order.size(); ++v) order[v] = v;
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t v : order)
    if (tile[v] > 1 || draw(random, 0, 1)) loop(v, 1);
  for (const Tensor& tensor : w.tensors) {
    std::int64_t place = 0;
    for (const char* memory : {"GB", "RF"}) {
      if (draw(random, 0, 1)) continue;
      place = draw(random, place, static_cast<std::int64_t>(list.size()));
      list.insert(list.begin() + place++, b.storage(memory, {tensor.name.c_str()}));
    }
  }
  for (const Tensor& tensor : w.tensors)
    list.insert(list.begin(), b.storage("DRAM", {tensor.name.c_str()}));
  list.push_back(b.compute(einsum.name, "MAC"));
  return list;
}

TEST(ExecutedTraffic, IsWhatTheModelCounts) {
  Arch arch;
  arch.components = {memory("DRAM", "inf", "Nothing", 1, 1), memory("GB", "inf", "Nothing", 1, 1),
                     memory("RF", "inf", "Nothing", 1, 1),
                     compute("MAC", {{"compute", 1, 1, 1, 0}})};
  const RandomCases cases = random_cases(400);
  for (std::int64_t i = 0; i < cases.count; ++i) {
    const std::uint64_t seed = cases.seed + static_cast<std::uint64_t>(i);
    Random random(seed);
    const Workload w = random_workload(random);
    const NodeList nodes = random_nest(w, MappingBuilder(w, arch), random);
    Executor executor(w, nodes);
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
