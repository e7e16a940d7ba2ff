#include "sluice/kapla/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check_scheme.h"
#include "input_layout.h"
#include "kapla/common/mistake.h"
#include "kapla/layer/memory_hops.h"
#include "kapla/layer/node_share.h"
#include "kapla/unit/find_pass.h"
#include "price.h"
#include "segment.h"
#include "sluice/support/error.h"

namespace sluice::kapla {
namespace {

/// Prices the segments of a run in order and remembers where each layer's output lies.
class RunEvaluator {
 public:
  RunEvaluator(const Run& run, const Partition& input)
      : run_(run), dram_(corner_ports(run.machine.grid)), ports_(nodes_of(dram_)) {
    layouts_.resize(run.network.layers.size());
    lay_out_inputs(project(input, dram_));
  }

  Result<bool> price_segment(std::span<const Scheme> schemes, std::vector<SchemeCost>& costs) {
    const Result<Segment> segment = place_segment(run_, schemes);
    if (!segment) return tl::unexpected(segment.error());
    for (std::size_t i = 0; i < schemes.size(); ++i) {
      const Result<SchemeCost> cost = price_countable(*segment, i);
      if (!cost) return tl::unexpected(cost.error());
      costs.push_back(*cost);
    }
    return true;
  }

 private:
  void lay_out_inputs(const Partition& partition) {
    const auto& layers = run_.network.layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!is_input(layers[i])) continue;
      const Box all{{Interval{0, run_.batch}, Interval{0, layers[i].channels_out},
                     Interval{0, layers[i].height}, Interval{0, layers[i].width}}};
      layouts_[i] = {{all, dram_, partition}};
    }
  }

  Result<std::vector<LayoutPiece>> input_of(const Segment& segment, std::size_t i,
                                            const NetworkLayer& layer) const {
    std::vector<std::vector<LayoutPiece>> pieces;
    for (const std::size_t previous : layer.previous) {
      if (layouts_[previous].empty())
        return mistake_at(
            segment.schemes[i].place,
            fmt::format("`{}` reads `{}`, of which no line of run {} before this one says "
                        "where it lies",
                        layer.name, run_.network.layers[previous].name, run_.name));
      pieces.push_back(layouts_[previous]);
    }
    std::vector<LayoutPiece> joined = concatenated(pieces);
    return segment.forwarded_from[i] ? moved_to(joined, *segment.forwarded_from[i]) : joined;
  }

  Result<SchemeCost> price_countable(const Segment& segment, std::size_t i) {
    try {
      return price_scheme(segment, i);
    } catch (const OverflowError& overflow) {
      const Scheme& scheme = segment.schemes[i];
      return mistake_at(scheme.place,
                        fmt::format("`{}` is too large: {}", scheme.layer, overflow.what()));
    }
  }

  Result<SchemeCost> price_scheme(const Segment& segment, std::size_t i) {
    const Scheme& scheme = segment.schemes[i];
    const Region& region = segment.regions[i];
    const Extent taken = nodes_taken(scheme.partition);
    if (taken.h > region.dim.h || taken.w > region.dim.w)
      return mistake_at(scheme.place,
                        fmt::format("the partition of `{}` takes {} × {} nodes; its region has "
                                    "{} × {}",
                                    scheme.layer, taken.h, taken.w, region.dim.h, region.dim.w));
    const std::size_t place = *find_layer(run_.network, scheme.layer);
    if (!layouts_[place].empty())
      return mistake_at(scheme.place, fmt::format("run {} has a line of `{}` before this one",
                                                  run_.name, scheme.layer));
    const LayerShape layer = layer_shape(run_.network.layers[place]);
    const auto input = input_of(segment, i, run_.network.layers[place]);
    if (!input) return tl::unexpected(input.error());
    const Region& home = scheme.destination_is_dram ? dram_ : region;
    layouts_[place] = {{whole_output(layer, run_.batch), home, project(scheme.partition, home)}};
    const auto hops =
        memory_hops(layer, run_.batch, {region, scheme.partition, ports_, *input, layouts_[place]});
    const PassAnswer pass = find_pass({run_, scheme, layer, region.dim});
    if (!pass) return mistake_at(scheme.place, fmt::format("`{}`: {}", scheme.layer, pass.error()));
    const SchemeCost cost = price_pass(segment, i, layer, *pass, hops);
    constexpr double kRounding = 1e-9;
    const auto all = static_cast<double>(operations_of(layer, layer.slid(), run_.batch));
    if (cost.operations >= all * (1 - kRounding)) return cost;  // steps are rounded up
    return mistake_at(scheme.place, fmt::format("`{}`: the steps of `tvals` do {} of {} operations",
                                                scheme.layer, cost.operations, all));
  }

  SchemeCost price_pass(const Segment& segment, std::size_t i, const LayerShape& layer,
                        const UnitPass& pass, const PerOperand<std::int64_t>& hops) const {
    const Scheme& scheme = segment.schemes[i];
    Fetches fetches = fetches_of(layer, scheme, pass.reusable);
    const SharingGroups groups(layer, segment.regions[i], scheme.partition);
    const Sharing sharing =
        best_sharing({layer, scheme, pass, fetches, groups, run_.machine.buffer_words});
    const bool weights_stay = dependent_product(layer, kWeights, scheme.blocking[0]) == 1;
    if (segment.pins_weights && weights_stay && layer.written != kWeights) fetches[0][kWeights] = 0;
    return price({run_, scheme, layer, pass, fetches, groups, sharing, hops});
  }

  const Run& run_;
  Region dram_;
  std::vector<Node> ports_;
  std::vector<std::vector<LayoutPiece>> layouts_;  ///< of each layer; empty: not made yet
};

using Costs = std::vector<SchemeCost>;

Result<Costs> evaluate_with(const Run& run, const std::vector<Scheme>& schemes,
                            const Partition& input) {
  Costs costs;
  RunEvaluator evaluator(run, input);
  for (const std::span<const Scheme> segment : split_into_segments(schemes))
    if (const auto priced = evaluator.price_segment(segment, costs); !priced)
      return tl::unexpected(priced.error());
  return costs;
}

double energy_of(const Costs& costs) {
  double joules = 0;
  for (const SchemeCost& cost : costs) joules += cost.energy_j;
  return joules;
}

/// The exhaustive search tries every layout of the inputs and keeps the best: no other one is
/// cheaper for what it found. The other solvers take the first.
std::vector<Partition> tried_inputs(const Run& run) {
  const auto& layers = run.network.layers;
  const auto input = std::find_if(layers.begin(), layers.end(), is_input);
  if (input == layers.end()) return {Partition{}};
  std::vector<Partition> partitions =
      input_partitions(*input, run.batch, corner_ports(run.machine.grid).dim);
  if (!is_exhaustive(run)) partitions.resize(1);
  return partitions;
}

}  // namespace

Result<std::vector<SchemeCost>> evaluate_schemes(const Run& run,
                                                 const std::vector<Scheme>& schemes) {
  Diagnostics mistakes;
  for (const Scheme& scheme : schemes)
    for (Diagnostic& diagnostic : mistakes_in(run, scheme))
      mistakes.push_back(std::move(diagnostic));
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  Result<Costs> cheapest;
  for (const Partition& input : tried_inputs(run)) {
    Result<Costs> costs = evaluate_with(run, schemes, input);
    if (!costs) return costs;
    if (cheapest->empty() || energy_of(*costs) < energy_of(*cheapest)) cheapest = std::move(costs);
  }
  return cheapest;
}

}  // namespace sluice::kapla
