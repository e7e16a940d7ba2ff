#include "sluice/model/einsum_chains.h"

#include <algorithm>
#include <limits>

#include "chain_tensors.h"
#include "model/bind/compute_bound.h"
#include "tile_lattice.h"

namespace sluice {
namespace {

/// Writes the spatial loops of the gaps between the memories one after the other.
class ChainWriter {
 public:
  ChainWriter(const ChainTensors& tensors, const Spread& spread, const BoundCompute& compute)
      : tensors_(tensors), spread_(spread), compute_(compute) {
    chain_.compute = compute.component;
  }

  void node(const ChainTensor& tensor, std::size_t memory, bool slides) {
    enter(memory);
    chain_.steps.emplace_back(
        ChainNode{tensor.tensor, compute_.path[tensors_.memories[memory]], slides});
  }
  void loop(std::size_t variable, std::int64_t trips) {
    chain_.steps.emplace_back(ChainLoop{variable, trips});
  }
  Chain finish() {
    enter(tensors_.memories.size());
    return std::move(chain_);
  }

 private:
  void enter(std::size_t memory) {
    for (; gap_ < spread_.gaps.size() && tensors_.spreads.gaps()[gap_].memory <= memory; ++gap_) {
      const SpatialGap& gap = tensors_.spreads.gaps()[gap_];
      for (std::size_t d = 0; d < spread_.gaps[gap_]->by_dimension.size(); ++d) {
        const Factors64& factors = spread_.gaps[gap_]->by_dimension[d];
        for (std::size_t v = 0; v < factors.size(); ++v)
          if (factors[v] > 1)
            chain_.steps.emplace_back(ChainLoop{v, factors[v], gap.dimensions[d]});
      }
    }
  }

  const ChainTensors& tensors_;
  const Spread& spread_;
  const BoundCompute& compute_;
  std::size_t gap_ = 0;
  Chain chain_;
};

}  // namespace

struct EinsumChains::Way {
  Way(const BoundProblem& problem, EinsumId id, const BoundCompute& own)
      : compute(own),
        tensors(problem, id, own),
        compute_j(compute_energy(problem, id, own)),
        seconds(tensors.points * seconds_per_point(problem, own)) {}

  /// What a lattice has found; nothing where it says too little.
  std::optional<Chain> chain(const Spread& spread, const TileLattice& lattice) const {
    if (lattice.steps().empty() || spread.gaps.size() < tensors.spreads.gaps().size())
      return std::nullopt;
    ChainWriter writer(tensors, spread, compute);
    std::vector<const ChainTensor*> with_nodes;
    for (const ChainTensor& tensor : tensors.tensors) {
      if (!tensor.has_nodes) return std::nullopt;
      with_nodes.push_back(&tensor);
      if (tensor.is_backed_first) writer.node(tensor, tensor.memories.front(), false);
    }
    for (const auto& step : lattice.steps()) {
      if (const auto* node = std::get_if<TileLattice::Node>(&step))
        writer.node(*with_nodes[node->tensor], node->memory, node->slides);
      else
        writer.loop(std::get<TileLattice::Loop>(step).variable,
                    std::get<TileLattice::Loop>(step).trips);
    }
    return writer.finish();
  }

  const BoundCompute& compute;
  ChainTensors tensors;
  double compute_j, seconds;  ///< of all points, on one instance
};

EinsumChains::EinsumChains(const BoundProblem& problem, EinsumId einsum) {
  if (problem.workload[einsum].is_copy_operation) return;
  for (const BoundCompute& compute : problem[einsum].computes) {
    ways_.push_back(std::make_unique<Way>(problem, einsum, compute));
    const Way& way = *ways_.back();
    const std::vector<Spread>& spreads = way.tensors.spreads.all();
    if (spreads.empty()) {  // nothing is known of this way
      spreads_.clear();
      return;
    }
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      spreads_.push_back({way.seconds / spreads[i].lanes,
                          way.compute_j + way.tensors.least_operand_energy(spreads[i]), false});
      way_of_.push_back(ways_.size() - 1);
      index_in_way_.push_back(i);
    }
  }
}

bool EinsumChains::equals(const EinsumChains& other) const {
  return !ways_.empty() && !spreads_.empty() &&
         std::equal(ways_.begin(), ways_.end(), other.ways_.begin(), other.ways_.end(),
                    [](const auto& a, const auto& b) {
                      return a->compute_j == b->compute_j && a->seconds == b->seconds &&
                             a->tensors.equals(b->tensors);
                    });
}

EinsumChains::EinsumChains(EinsumChains&&) noexcept = default;
EinsumChains& EinsumChains::operator=(EinsumChains&&) noexcept = default;
EinsumChains::~EinsumChains() = default;

void EinsumChains::refine(std::size_t index, double limit_j) {
  SpreadBound& bound = spreads_[index];
  if (bound.is_refined) return;
  const Way& way = *ways_[way_of_[index]];
  const Spread& spread = way.tensors.spreads.all()[index_in_way_[index]];
  const double limit = limit_j - way.compute_j;
  const auto raise = [&](double least) {
    bound.energy_j = std::max(bound.energy_j, way.compute_j + std::min(least, limit));
    return bound.energy_j < limit_j;
  };
  const double known = bound.energy_j - way.compute_j;
  if (way.tensors.have_windows() &&
      !raise(TileLattice(way.tensors, spread, Windows::kAnywhere).least(limit, known)))
    return;
  TileLattice lattice(way.tensors, spread, Windows::kAsMoved);
  if (!raise(lattice.least(limit, known)) || !raise(lattice.least_that_fits(limit))) return;
  if (auto chain = way.chain(spread, lattice)) chains_[index] = std::move(*chain);
  bound.is_refined =
      bound.energy_j < limit_j || !(bound.energy_j < std::numeric_limits<double>::infinity());
}

std::optional<Chain> EinsumChains::chain_of(std::size_t spread) const {
  const auto found = chains_.find(spread);
  return found == chains_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sluice
