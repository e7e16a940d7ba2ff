#include "sluice/network/network_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "network/concatenations.h"
#include "network/forward_layers.h"
#include "network/layer_axes.h"
#include "network/layers_without_einsum.h"
#include "network/workload_text.h"

namespace sluice {
namespace {

/// One direction of a window: which rank it slides over, and where it starts.
struct WindowSide {
  std::string producer_rank;  ///< empty: none
  std::int64_t produced = 1;
  std::string output_rank;  ///< empty: none
  std::int64_t read = 1;    ///< with padding
  std::int64_t window = 1;
  std::int64_t stride = 1;
  std::string rank;  ///< of the window, among the weights': R3, S3
};

/// One direction of a gradient: where windows stand, and what they reach.
struct GradientSide {
  Axis given;                   ///< of the gradient that is read
  std::int64_t given_size = 1;  ///< of its plane
  std::string position;         ///< rank of the places; empty: one
  std::int64_t positions = 1;
  std::string window_rank;  ///< empty: a window of one
  std::int64_t window = 1;
  std::int64_t stride = 1;
  std::int64_t reached = 1;  ///< size of the plane that they slide over

  /// `2*p3+r3`, `p3`, `r7`, `0`
  std::string reach() const {
    std::string index;
    if (!position.empty()) index = (stride > 1 ? fmt::format("{}*", stride) : "") + lower(position);
    if (!window_rank.empty()) index += (index.empty() ? "" : "+") + lower(window_rank);
    return index.empty() ? "0" : index;
  }
  std::string index_on(const std::string& rank) const {
    if (rank.empty()) return "";
    const bool is_bare = reach() == lower(rank);
    return is_bare ? "," + reach() : fmt::format(",{}:{}", rank, reach());
  }
  std::string given_index() const {
    if (given.is_none()) return "";
    return position.empty() ? fmt::format(",{}:0", given.rank) : given.index_at(lower(position));
  }
  bool covers() const {
    return (positions - 1) * stride + window >= reached && (positions == 1 || window >= stride);
  }
};

/// Writes a network as Einsums, layer by layer.
class WorkloadWriter {
 public:
  WorkloadWriter(const NeuralNetwork& network, const std::string& file)
      : network_(network),
        file_(file),
        joined_(network),
        weights_(network.layers.size()),
        text_(network.name) {}

  Result<NetworkWorkload> write() {
    if (Diagnostics mistakes = layers_without_einsum(network_, file_); !mistakes.empty())
      return tl::unexpected(std::move(mistakes));
    for (std::size_t i = 0; i < network_.layers.size(); ++i) add_layer(i);
    return text_.workload();
  }

 private:
  // --- tensors ----------------------------------------------------------------------------------

  /// A tensor that is no layer: of weights, or the image.
  std::string free_name(std::string name) const {
    while (find_layer(network_, name)) name += "_";
    return name;
  }

  std::string rank(char kind, std::size_t layer, std::int64_t size) {
    const std::string name = fmt::format("{}{}", kind, layer);
    text_.add_rank(name, size);
    return name;
  }

  /// All layers of a concatenation, as who reads them together sees them.
  const TensorView& joint_view(const Concatenation& joined) {
    const auto [at, is_new] = joint_views_.try_emplace(joined.name);
    if (!is_new) return at->second;
    const std::size_t first = joined.layers.front();
    const NetworkLayer& layer = network_.layers[first];
    return at->second = {joined.name, Axis(rank('C', first, joined.channels)),
                         layer.height > 1 ? Axis(rank('P', first, layer.height)) : Axis(),
                         layer.width > 1 ? Axis(rank('Q', first, layer.width)) : Axis()};
  }

  TensorView input_of(const NetworkLayer& layer) {
    if (const Concatenation* joined = joined_.read_by(layer)) return joint_view(*joined);
    return plane_of(layer.previous.front());
  }

  /// A gradient of weights has none: who reads it as one means that of the input beside it.
  const TensorView& plane_of(std::size_t layer) const {
    if (network_.layers[layer].gradient != Gradient::kOfWeights) return views_[layer];
    return views_[*gradient_of_same_input(network_, layer)];
  }

  /// Notes how others read what a layer makes; returns how the layer itself writes it.
  TensorView made(std::size_t i, const TensorView& own) {
    const Concatenation* joined = joined_.with(i);
    if (joined == nullptr) {
      views_.push_back(own);
      return own;
    }
    const TensorView& all = joint_view(*joined);
    const TensorView written = part_of(*joined, i, own);
    views_.push_back({all.name, written.channel, all.row, all.column});
    return written;
  }

  /// How what a layer makes is written into a concatenation.
  TensorView part_of(const Concatenation& joined, std::size_t i, const TensorView& own) {
    const TensorView& all = joint_view(joined);
    return {all.name, Axis(all.channel.rank, own.channel.walker, first_channel(joined, i)),
            Axis(all.row.rank, own.row.walker, 0), Axis(all.column.rank, own.column.walker, 0)};
  }

  /// Into each concatenation that its output is no part of itself.
  void add_copies(std::size_t i) {
    for (const Concatenation* joined : joined_.copies_of(i)) {
      const NetworkLayer& layer = network_.layers[i];
      const TensorView own = views_[i];
      text_.add_einsum(fmt::format("  - name: {}\n    einsum: {} = {}\n",
                                   free_name(layer.name + "_in_" + joined->name),
                                   part_of(*joined, i, own).access(), own.access()),
                       layer.line);
    }
  }

  /// Makers of a part are called as their layers.
  void add_einsum(const NetworkLayer& layer, const std::string& text,
                  const std::string& renames = "") {
    const bool is_part = joined_.with(static_cast<std::size_t>(&layer - network_.layers.data()));
    if (!is_part && renames.empty()) {
      text_.add_einsum(fmt::format("  - {}\n", text), layer.line);
      return;
    }
    text_.add_einsum((is_part ? fmt::format("  - name: {}\n    einsum: {}\n", layer.name, text)
                              : fmt::format("  - einsum: {}\n", text)) +
                         (renames.empty() ? "" : fmt::format("    renames: {{{}}}\n", renames)),
                     layer.line);
  }

  // --- layers -----------------------------------------------------------------------------------

  void add_layer(std::size_t i) {
    add_einsum_of(i);
    add_copies(i);
  }

  void add_einsum_of(std::size_t i) {
    const NetworkLayer& layer = network_.layers[i];
    if (is_input(layer)) return add_input(i, layer);
    if (layer.gradient == Gradient::kOfWeights) return add_gradient_of_weights(i, layer);
    if (layer.gradient == Gradient::kOfInput) return add_gradient_of_input(i, layer);
    if (layer.kind == LayerKind::kElementwise) return add_elementwise(i, layer);
    if (layer.kind == LayerKind::kLocal) return add_local(i, layer);
    add_window_layer(i, layer);
  }

  void add_input(std::size_t i, const NetworkLayer& layer) {
    // `input` is a role of tensors, not a name.
    const TensorView own{layer.name == "input" ? free_name("Image") : layer.name,
                         Axis(rank('K', i, layer.channels_out)),
                         layer.height > 1 ? Axis(rank('P', i, layer.height)) : Axis(),
                         layer.width > 1 ? Axis(rank('Q', i, layer.width)) : Axis()};
    const TensorView written = made(i, own);
    const Concatenation* joined = joined_.with(i);
    if (joined == nullptr) return;
    const auto is_made = [&](std::size_t other) { return !is_input(network_.layers[other]); };
    // Beside what layers make, a state from outside is copied into its place.
    if (std::any_of(joined->layers.begin(), joined->layers.end(), is_made))
      add_einsum(layer, fmt::format("{} = {}", written.access(), own.access()));
  }

  /// All operands through the ranks of the first.
  void add_elementwise(std::size_t i, const NetworkLayer& layer) {
    const TensorView& first = plane_of(layer.previous.front());
    const TensorView common{layer.name, Axis(first.channel.walker), first.row, first.column};
    std::string sum;
    for (const std::size_t previous : layer.previous) {
      const TensorView& operand = plane_of(previous);
      const auto index = [](const Axis& own, const Axis& walked) {
        return own.is_none() ? "" : own.index_at(walked.variable());
      };
      sum += fmt::format("{}{}[n{}{}{}]", sum.empty() ? "" : " + ", operand.name,
                         index(operand.channel, common.channel), index(operand.row, common.row),
                         index(operand.column, common.column));
    }
    const TensorView written = made(i, common);
    add_einsum(layer, fmt::format("{} = {}", written.access(), sum));
  }

  /// Each channel sums neighbours.
  void add_local(std::size_t i, const NetworkLayer& layer) {
    const TensorView input = input_of(layer);
    const Axis channel(rank('K', i, layer.channels_out));
    const TensorView written = made(i, {layer.name, channel, input.row, input.column});
    add_einsum(layer, fmt::format("{} = sum({}[n{}{}{}])", written.access(), input.name,
                                  neighbours_of(channel, operands(layer), input.channel),
                                  input.row.index(), input.column.index()));
  }

  /// The index of the `count` channels that belong to one of a local layer: `,K4:2*k5+j2`.
  std::string neighbours_of(const Axis& one, std::int64_t count, const Axis& all) {
    const std::string window = window_rank('J', count);
    text_.add_window(window);
    std::string index = fmt::format(",{}:{}*{}", all.rank, count, one.variable());
    if (!window.empty()) index += "+" + lower(window);
    return all.begin > 0 ? fmt::format("{}+{}", index, all.begin) : index;
  }

  void add_window_layer(std::size_t i, const NetworkLayer& layer) {
    const NetworkLayer& producer = network_.layers[layer.previous.front()];
    const TensorView input = input_of(layer);
    const bool all_to_all =
        layer.kind == LayerKind::kConvolution || layer.kind == LayerKind::kFullyConnected;
    TensorView own{layer.name,
                   Axis(all_to_all ? rank('K', i, layer.channels_out) : input.channel.walker),
                   {},
                   {}};
    own.row = Axis(output_rank('P', i, layer.height, input.row.rank, producer.height,
                               layer.window_height, layer.stride));
    own.column = Axis(output_rank('Q', i, layer.width, input.column.rank, producer.width,
                                  layer.window_width, layer.stride));
    WeightRanks& weights = weights_[i];
    weights = {free_name("W_" + layer.name), all_to_all ? own.channel.rank : "",
               input.channel.walker, "", ""};
    const std::string row_index =
        index_of({input.row.rank, producer.height, own.row.rank, input_height(layer),
                  layer.window_height, layer.stride, window_rank('R', layer.window_height)},
                 weights.row);
    const std::string column_index =
        index_of({input.column.rank, producer.width, own.column.rank, input_width(layer),
                  layer.window_width, layer.stride, window_rank('S', layer.window_width)},
                 weights.column);
    const std::string read =
        fmt::format("{}[n{}{}{}]", input.name, input.channel.index(), row_index, column_index);
    const std::string written = made(i, own).access();
    if (layer.kind == LayerKind::kPool)
      add_einsum(layer, fmt::format("{} = max({})", written, read));
    else
      add_einsum(layer,
                 fmt::format("{} = {} * {}", written, read,
                             weights.access(own.channel.walker, Axis(input.channel.walker))),
                 fmt::format("input: {}, weight: {}", input.name, weights.name));
  }

  /// A window of one with stride one keeps the producer's rank.
  std::string output_rank(char kind, std::size_t layer, std::int64_t extent,
                          const std::string& producer_rank, std::int64_t produced,
                          std::int64_t window, std::int64_t stride) {
    if (extent == 1) return "";
    if (const Concatenation* joined = joined_.with(layer)) {
      const TensorView& all = joint_view(*joined);
      return (kind == 'P' ? all.row : all.column).rank;
    }
    if (window == 1 && stride == 1 && extent == produced) return producer_rank;
    return rank(kind, layer, extent);
  }

  /// The rank of a window of so many values (R3: rows, S3: columns, J4: channels), whose variable
  /// walks it; none of one.
  static std::string window_rank(char kind, std::int64_t window) {
    return window == 1 ? "" : fmt::format("{}{}", kind, window);
  }

  /// The index of an input in this direction; what weights have of it is noted.
  std::string index_of(const WindowSide& side, std::string& weight_rank) {
    if (side.producer_rank.empty()) return "";
    if (side.output_rank == side.producer_rank) return "," + lower(side.producer_rank);
    const bool whole = side.output_rank.empty() && side.window == side.produced;
    if (whole) {
      weight_rank = side.producer_rank;
      return "," + lower(side.producer_rank);
    }
    weight_rank = side.rank;
    text_.add_window(side.rank);
    const std::int64_t missing = std::max<std::int64_t>(0, side.read - side.produced);
    std::string index;
    if (!side.output_rank.empty())
      index = (side.stride > 1 ? fmt::format("{}*", side.stride) : "") + lower(side.output_rank);
    if (!side.rank.empty()) index += (index.empty() ? "" : "+") + lower(side.rank);
    if (missing > 0) index += fmt::format("-{}", (missing + 1) / 2);
    return fmt::format(",{}:{}", side.producer_rank, index);
  }

  // --- gradients --------------------------------------------------------------------------------

  GradientSide gradient_side(std::size_t i, bool is_row, const std::string& window_rank) {
    const NetworkLayer& layer = network_.layers[i];
    const NetworkLayer& from = network_.layers[layer.previous.front()];
    const TensorView given = input_of(layer);
    GradientSide side{is_row ? given.row : given.column,
                      is_row ? from.height : from.width,
                      "",
                      is_row ? input_height(layer) : input_width(layer),
                      window_rank,
                      is_row ? layer.window_height : layer.window_width,
                      layer.stride,
                      is_row ? layer.height : layer.width};
    if (side.positions > 1)
      side.position = side.positions == side.given_size
                          ? side.given.walker
                          : rank(is_row ? 'Y' : 'X', i, side.positions);
    return side;
  }

  /// What its consumer's gradient spreads over the plane that the layer has read.
  void add_gradient_of_input(std::size_t i, const NetworkLayer& layer) {
    const auto forward = forward_layer(network_, layer);
    const WeightRanks* weights = has_weights(layer.kind) ? &weights_[forward->layer] : nullptr;
    const TensorView given = input_of(layer);
    const GradientSide rows =
        gradient_side(i, true, weights ? weights->row : window_rank('R', layer.window_height));
    const GradientSide columns =
        gradient_side(i, false, weights ? weights->column : window_rank('S', layer.window_width));
    if (!weights) {
      text_.add_window(rows.window_rank);
      text_.add_window(columns.window_rank);
    }
    const bool all_to_all = weights && !weights->made.empty();
    const bool other_channels = all_to_all || operands(layer) > 1;
    const TensorView own{
        layer.name, Axis(other_channels ? rank('K', i, layer.channels_out) : given.channel.walker),
        layer.height > 1 ? Axis(rank('P', i, layer.height)) : Axis(),
        layer.width > 1 ? Axis(rank('Q', i, layer.width)) : Axis()};
    const TensorView written = made(i, own);
    if (!rows.covers() || !columns.covers()) text_.add_holes(written.name);
    const std::string channel = layer.kind == LayerKind::kLocal
                                    ? neighbours_of(given.channel, operands(layer), written.channel)
                                    : written.channel.index();
    const std::string output =
        fmt::format("{}[n{}{}{}]", written.name, channel, rows.index_on(written.row.rank),
                    columns.index_on(written.column.rank));
    const std::string read = read_of(given, rows, columns);
    if (!weights) return add_einsum(layer, fmt::format("{} = sum({})", output, read));
    const std::string factor =
        all_to_all
            ? weights->access(given.channel.walker, part_of_weights(own.channel.walker, *forward))
            : weights->access("", Axis(weights->read, given.channel.walker, 0));
    add_einsum(layer, fmt::format("{} = {} * {}", output, read, factor),
               fmt::format("input: {}, weight: {}", given.name, weights->name));
  }

  static std::string read_of(const TensorView& given, const GradientSide& rows,
                             const GradientSide& columns) {
    return fmt::format("{}[n{}{}{}]", given.name, given.channel.index(), rows.given_index(),
                       columns.given_index());
  }

  /// How a variable walks the input channels of weights: of one operand its own.
  Axis part_of_weights(const std::string& walker, const ForwardLayer& forward) const {
    const Concatenation* joined =
        forward.operand ? joined_.read_by(network_.layers[forward.layer]) : nullptr;
    return {weights_[forward.layer].read, walker,
            joined ? first_channel(*joined, *forward.operand) : 0};
  }

  /// Over the same places, from the values that the layer has read.
  void add_gradient_of_weights(std::size_t i, const NetworkLayer& layer) {
    const auto forward = forward_layer(network_, layer);
    const WeightRanks& weights = weights_[forward->layer];
    const TensorView given = input_of(layer);
    const TensorView values =
        forward->operand ? views_[*forward->operand] : input_of(network_.layers[forward->layer]);
    const GradientSide rows = gradient_side(i, true, weights.row);
    const GradientSide columns = gradient_side(i, false, weights.column);
    const std::string read =
        fmt::format("{}[n{}{}{}]", values.name, values.channel.index(),
                    rows.index_on(values.row.rank), columns.index_on(values.column.rank));
    WeightRanks gradient = weights;
    gradient.name = layer.name;
    gradient.read = values.channel.walker;
    views_.push_back({layer.name, {}, {}, {}});
    const std::string output = gradient.access(given.channel.walker, Axis(gradient.read));
    const std::string from = weights.made.empty()
                                 ? fmt::format("{}[n{}{}{}]", given.name,
                                               given.channel.index_at(values.channel.variable()),
                                               rows.given_index(), columns.given_index())
                                 : read_of(given, rows, columns);
    // The gradient stands in the place of the weights, and takes their role.
    if (is_input(network_.layers[layer.previous.front()])) text_.add_passing(given.name);
    add_einsum(layer, fmt::format("{} = {} * {}", output, from, read),
               fmt::format("input: {}, weight: {}", values.name, given.name));
  }

  const NeuralNetwork& network_;
  const std::string& file_;
  const Concatenations joined_;
  std::vector<TensorView> views_;                  ///< of each layer, as others read it
  std::map<std::string, TensorView> joint_views_;  ///< of each concatenation, by its name
  std::vector<WeightRanks> weights_;               ///< of each layer
  WorkloadText text_;
};

}  // namespace

Result<NetworkWorkload> to_workload_yaml(const NeuralNetwork& network, const std::string& file) {
  return WorkloadWriter(network, file).write();
}

}  // namespace sluice
