#include "check_scheme.h"

#include <fmt/format.h>

#include <algorithm>

#include "kapla/layer/layer_shape.h"
#include "sluice/support/checked.h"

namespace sluice::kapla {
namespace {

/// Collects what is wrong with one scheme.
class SchemeCheck {
 public:
  SchemeCheck(const Run& run, const Scheme& scheme) : run_(run), scheme_(scheme) {}

  Diagnostics run() {
    check_layer();
    check_counts();
    return std::move(mistakes_);
  }

 private:
  void complain(std::string message, std::string hint = "") {
    Diagnostic diagnostic;
    diagnostic.location = scheme_.place;
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    mistakes_.push_back(std::move(diagnostic));
  }

  void check_layer() {
    const auto place = find_layer(run_.network, scheme_.layer);
    if (place && !is_input(run_.network.layers[*place]))
      return check_partition(layer_shape(run_.network.layers[*place]));
    std::vector<std::string> names;
    for (const NetworkLayer& layer : run_.network.layers)
      if (!is_input(layer)) names.push_back(layer.name);
    const std::string near = nearest_name(scheme_.layer, names);
    complain(fmt::format("network {} has no layer `{}`", run_.network.name, scheme_.layer),
             near.empty() ? "" : fmt::format("did you mean `{}`?", near));
  }

  void check_partition(const LayerShape& layer) {
    const auto& parts = scheme_.partition.parts;
    const std::int64_t grid = run_.machine.grid.size();
    for (const Extent& extent : parts)
      if (extent.h < 1 || extent.w < 1 || extent.h > grid || extent.w > grid)
        return complain(fmt::format("`part_dims` has {} × {}; extents are from 1 to {}", extent.h,
                                    extent.w, grid));
    if (layer.rule != ChannelRule::kAllToAll && parts[kByInputChannels].size() > 1)
      complain(fmt::format("`{}` has no input channels of their own that nodes could share out",
                           scheme_.layer));
    check_steps(node_share(layer));
  }

  /// What a node has to step over; rows of a plane, and on a systolic array its columns, are steps
  /// of the samples' loop.
  PerLoop<std::int64_t> node_share(const LayerShape& layer) const {
    const auto& parts = scheme_.partition.parts;
    const Extent plane = layer.slid();
    const bool has_rows = run_.mapping == ArrayMapping::kRowStationary;
    const std::int64_t of_sample = ceil_divide(plane.w, parts[kByPlane].w) *
                                   (has_rows ? 1 : ceil_divide(plane.h, parts[kByPlane].h));
    return {layer.rule == ChannelRule::kAllToAll
                ? ceil_divide(layer.channels_in, parts[kByInputChannels].size())
                : 1,
            ceil_divide(layer.channels_out, parts[kByOutputChannels].size()),
            ceil_divide(run_.batch, parts[kBySamples].size()) * of_sample};
  }

  /// No level has more steps than those further out leave values, rounded up.
  void check_steps(PerLoop<std::int64_t> left) {
    static constexpr std::array<const char*, 3> kLevels = {"DRAM to buffer", "buffer to registers",
                                                           "in registers"};
    static constexpr PerLoop<const char*> kOver = {"input channels", "output channels",
                                                   "samples and rows"};
    for (std::size_t level = 0; level < kLevels.size(); ++level)
      for (const Loop loop : kLoops) {
        const std::int64_t steps = scheme_.blocking[level][loop];
        if (steps > left[loop])
          return complain(
              fmt::format("`tvals` has {} steps over {}, {}: a node has {} there of `{}`", steps,
                          kOver[loop], kLevels[level], left[loop], scheme_.layer));
        if (steps > 0) left[loop] = ceil_divide(left[loop], steps);
      }
  }

  void check_counts() {
    if (scheme_.nodes < 1 || scheme_.nodes > run_.machine.grid.size())
      complain(fmt::format("`nodes` is {}; {} has {}", scheme_.nodes, run_.machine.name,
                           run_.machine.grid.size()));
    for (const auto& level : scheme_.blocking)
      for (const std::int64_t steps : level)
        if (steps < 1) return complain(fmt::format("`tvals` has {}; steps are at least 1", steps));
    for (PerLoop<std::int64_t> order : scheme_.orders) {
      std::sort(order.begin(), order.end());
      if (order != PerLoop<std::int64_t>{0, 1, 2})
        return complain("`orders` must have 0, 1 and 2 once at each level");
    }
    check_sizes();
  }

  static constexpr double kMostWords = 9007199254740992.0;

  /// Of what a layer has a pass takes something.
  void check_sizes() {
    const auto place = find_layer(run_.network, scheme_.layer);
    if (!place) return;  // reported
    for (const auto& level : scheme_.unit_size)
      for (const Operand operand : kOperands) {
        const double words = level[operand];
        if (words < 0) return complain("`unit_size` has a negative size");
        if (words > kMostWords) return complain("`unit_size` has more than 2^53 words");
        if (words > 0 || (operand == kWeights && !has_weights(run_.network.layers[*place].kind)))
          continue;
        static constexpr std::array<const char*, 3> kWhat = {"weights", "inputs", "outputs"};
        return complain(fmt::format("`unit_size` has 0 words of {}, which `{}` has", kWhat[operand],
                                    scheme_.layer),
                        "words of a pass in the buffer and in registers, [W, I, O]");
      }
  }

  const Run& run_;
  const Scheme& scheme_;
  Diagnostics mistakes_;
};

}  // namespace

Diagnostics mistakes_in(const Run& run, const Scheme& scheme) {
  return SchemeCheck(run, scheme).run();
}

}  // namespace sluice::kapla
