#include "segment.h"
#include "kapla/common/mistake.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::kapla {
namespace {

/// Places one segment.
class SegmentPlacer {
 public:
  SegmentPlacer(const Run& run, std::span<const Scheme> schemes) : run_(run) {
    segment_.schemes = schemes;
    segment_.forwarded_from.resize(schemes.size());
    for (const Scheme& scheme : schemes) {
      layers_.push_back(find_layer(run.network, scheme.layer));
      if (layers_.back()) places_[*layers_.back()] = layers_.size() - 1;
    }
  }

  Result<Segment> place() {
    if (auto placed = place_regions(); !placed) return tl::unexpected(placed.error());
    share_fetched_inputs();
    forward_outputs();
    segment_.pins_weights = pins_weights();
    return std::move(segment_);
  }

 private:
  Result<bool> place_regions() {
    std::map<std::int64_t, std::int64_t> sizes;
    for (const Scheme& scheme : segment_.schemes)
      if (const auto [known, is_new] = sizes.emplace(scheme.region, scheme.nodes);
          !is_new && known->second != scheme.nodes)
        return mistake_at(
            scheme.place,
            fmt::format("region {} of segment {} has {} nodes for `{}`, and {} for an "
                        "earlier layer",
                        scheme.region, scheme.segment, scheme.nodes, scheme.layer, known->second));
    std::vector<std::int64_t> in_order;
    for (const auto& [region, nodes] : sizes) in_order.push_back(nodes);
    const std::vector<Region> regions = stripes(run_.machine.grid, in_order);
    if (regions.empty())
      return mistake_at(
          segment_.schemes.front().place,
          fmt::format("the regions of segment {} need more than the {} × {} nodes of {}",
                      segment_.schemes.front().segment, run_.machine.grid.h, run_.machine.grid.w,
                      run_.machine.name));
    for (const Scheme& scheme : segment_.schemes)
      segment_.regions.push_back(regions[static_cast<std::size_t>(
          std::distance(sizes.begin(), sizes.find(scheme.region)))]);
    return true;
  }

  const std::vector<std::size_t>& previous(std::size_t i) const {
    return run_.network.layers[*layers_[i]].previous;
  }

  bool is_here(std::size_t layer) const { return places_.count(layer) > 0; }

  /// Layers that read the same values from memory: the first fetches them, the others get them from
  /// it.
  void share_fetched_inputs() {
    std::map<std::vector<std::size_t>, std::size_t> fetchers;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const auto& reads = previous(i);
      const bool from_memory = !std::all_of(reads.begin(), reads.end(),
                                            [&](std::size_t layer) { return is_here(layer); });
      const bool from_same_region = std::any_of(reads.begin(), reads.end(), [&](std::size_t layer) {
        return is_here(layer) &&
               segment_.schemes[places_.at(layer)].region == segment_.schemes[i].region;
      });
      if (!from_memory || from_same_region) continue;
      if (const auto [fetcher, is_new] = fetchers.emplace(reads, i); !is_new)
        segment_.forwarded_from[i] = segment_.regions[fetcher->second];
    }
  }

  /// Outputs that go to memory, too, are read where they were made.
  void forward_outputs() {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      for (const std::size_t layer : previous(i))
        if (is_here(layer) && segment_.schemes[places_.at(layer)].destination_is_dram)
          segment_.forwarded_from[i] = segment_.regions[places_.at(layer)];
  }

  bool has_own_weights(std::size_t i) const {
    const NetworkLayer& layer = run_.network.layers[*layers_[i]];
    return layer.gradient == Gradient::kNone &&
           (layer.kind == LayerKind::kConvolution || layer.kind == LayerKind::kFullyConnected);
  }

  bool pins_weights() const {
    const auto n_layers = totals(run_.network).layers;
    if (static_cast<std::int64_t>(layers_.size()) != n_layers) return false;
    std::map<std::int64_t, int> weighted;
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (has_own_weights(i) && ++weighted[segment_.schemes[i].region] > 1) return false;
    return true;
  }

  const Run& run_;
  Segment segment_;
  std::vector<std::optional<std::size_t>> layers_;  ///< of each scheme
  std::map<std::size_t, std::size_t> places_;       ///< scheme of each layer
};

}  // namespace

std::vector<std::span<const Scheme>> split_into_segments(const std::vector<Scheme>& schemes) {
  std::vector<std::span<const Scheme>> segments;
  for (std::size_t begin = 0; begin < schemes.size();) {
    std::size_t end = begin;
    while (end < schemes.size() && schemes[end].segment == schemes[begin].segment) ++end;
    segments.emplace_back(schemes.data() + begin, end - begin);
    begin = end;
  }
  return segments;
}

Result<Segment> place_segment(const Run& run, std::span<const Scheme> schemes) {
  return SegmentPlacer(run, schemes).place();
}

}  // namespace sluice::kapla
