#include "sluice/network/network_workload.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace sluice {
namespace {

std::string lower(std::string rank) {
  rank[0] = static_cast<char>(rank[0] - 'A' + 'a');
  return rank;
}

/// A tensor and its ranks; a plane of one row or column has none.
struct TensorRanks {
  std::string name;
  std::string channel;
  std::string row;
  std::string column;
};

/// One direction of a window: which rank it slides over, and where it starts.
struct WindowSide {
  std::string producer_rank;  ///< empty: none
  std::int64_t produced = 1;
  std::string output_rank;  ///< empty: none
  std::int64_t read = 1;    ///< with padding
  std::int64_t window = 1;
  std::int64_t stride = 1;
  std::string variable;  ///< of the window: r3, s3
};

/// Writes a network as Einsums, layer by layer.
class WorkloadWriter {
 public:
  WorkloadWriter(const NeuralNetwork& network, const std::string& file)
      : network_(network), file_(file) {}

  Result<std::string> write() {
    for (std::size_t i = 0; i < network_.layers.size(); ++i) refuse(network_.layers[i]);
    if (!mistakes_.empty()) return tl::unexpected(std::move(mistakes_));
    for (std::size_t i = 0; i < network_.layers.size(); ++i) add_layer(i);
    return text();
  }

 private:
  void refuse(const NetworkLayer& layer) {
    const bool sums = layer.kind == LayerKind::kElementwise;
    if (layer.gradient == Gradient::kOfInput)
      return complain(layer, "is the gradient of an input: the table does not say whose");
    if (layer.gradient == Gradient::kOfWeights)
      return complain(layer, "is the gradient of weights: the table does not say of which values");
    if (layer.kind == LayerKind::kLocal)
      return complain(layer, "joins neighbouring channels of what it reads");
    if (layer.previous.size() > 1 && !sums)
      return complain(layer, fmt::format("reads {} layers side by side (concatenation)",
                                         layer.previous.size()));
    if (sums && operands(layer) != static_cast<std::int64_t>(layer.previous.size()))
      complain(layer, "joins parts of what it reads");
  }

  void complain(const NetworkLayer& layer, const std::string& why) {
    Diagnostic diagnostic;
    diagnostic.location = {file_, layer.line, 0};
    diagnostic.message = fmt::format("`{}` {}", layer.name, why);
    diagnostic.hint =
        "Einsums cannot say this yet; `evaluate --schemes` prices it (docs/networks.md)";
    mistakes_.push_back(std::move(diagnostic));
  }

  std::string rank(char kind, std::size_t layer, std::int64_t size) {
    const std::string name = fmt::format("{}{}", kind, layer);
    sizes_[name] = size;
    return name;
  }

  void add_layer(std::size_t i) {
    const NetworkLayer& layer = network_.layers[i];
    if (is_input(layer)) return add_input(i, layer);
    if (layer.kind == LayerKind::kElementwise) return add_elementwise(layer);
    add_window_layer(i, layer);
  }

  void add_input(std::size_t i, const NetworkLayer& layer) {
    // `input` is a role of tensors, not a name.
    tensors_.push_back({layer.name == "input" ? "Image" : layer.name,
                        rank('K', i, layer.channels_out),
                        layer.height > 1 ? rank('P', i, layer.height) : "",
                        layer.width > 1 ? rank('Q', i, layer.width) : ""});
  }

  /// All operands through the ranks of the first.
  void add_elementwise(const NetworkLayer& layer) {
    TensorRanks output = tensors_[layer.previous.front()];
    output.name = layer.name;
    std::string sum;
    for (const std::size_t previous : layer.previous) {
      const TensorRanks& operand = tensors_[previous];
      std::string indices = "n";
      const auto add = [&](const std::string& own, const std::string& common) {
        if (own.empty()) return;
        indices += own == common ? "," + lower(own) : fmt::format(",{}:{}", own, lower(common));
      };
      add(operand.channel, output.channel);
      add(operand.row, output.row);
      add(operand.column, output.column);
      sum += fmt::format("{}{}[{}]", sum.empty() ? "" : " + ", operand.name, indices);
    }
    einsums_.push_back(fmt::format("  - {} = {}\n", access_of(output), sum));
    tensors_.push_back(output);
  }

  void add_window_layer(std::size_t i, const NetworkLayer& layer) {
    const NetworkLayer& producer = network_.layers[layer.previous.front()];
    const TensorRanks input = tensors_[layer.previous.front()];
    const bool all_to_all =
        layer.kind == LayerKind::kConvolution || layer.kind == LayerKind::kFullyConnected;
    TensorRanks output{layer.name, all_to_all ? rank('K', i, layer.channels_out) : input.channel,
                       "", ""};
    output.row = output_rank('P', i, layer.height, input.row, producer.height, layer.window_height,
                             layer.stride);
    output.column = output_rank('Q', i, layer.width, input.column, producer.width,
                                layer.window_width, layer.stride);
    const WindowSide rows{input.row,
                          producer.height,
                          output.row,
                          input_height(layer),
                          layer.window_height,
                          layer.stride,
                          window_variable('r', layer.window_height)};
    const WindowSide columns{input.column,
                             producer.width,
                             output.column,
                             input_width(layer),
                             layer.window_width,
                             layer.stride,
                             window_variable('s', layer.window_width)};
    std::string weights = all_to_all
                              ? fmt::format("{},{}", lower(output.channel), lower(input.channel))
                              : lower(input.channel);
    const std::string row_index = index_of(rows, weights);
    const std::string column_index = index_of(columns, weights);
    const std::string read =
        fmt::format("{}[n,{}{}{}]", input.name, lower(input.channel), row_index, column_index);
    write_window_layer(layer, output, read, input.name, weights);
    tensors_.push_back(output);
  }

  void write_window_layer(const NetworkLayer& layer, const TensorRanks& output,
                          const std::string& read, const std::string& input,
                          const std::string& weights) {
    if (layer.kind == LayerKind::kPool) {
      einsums_.push_back(fmt::format("  - {} = max({})\n", access_of(output), read));
      return;
    }
    einsums_.push_back(
        fmt::format("  - einsum: {} = {} * W_{}[{}]\n    renames: {{input: {}, weight: W_{}}}\n",
                    access_of(output), read, layer.name, weights, input, layer.name));
  }

  /// A window of one with stride one keeps the producer's rank.
  std::string output_rank(char kind, std::size_t layer, std::int64_t extent,
                          const std::string& producer_rank, std::int64_t produced,
                          std::int64_t window, std::int64_t stride) {
    if (extent == 1) return "";
    if (window == 1 && stride == 1 && extent == produced) return producer_rank;
    return rank(kind, layer, extent);
  }

  /// A variable that walks a window: r3 its rows, s3 its columns.
  static std::string window_variable(char kind, std::int64_t window) {
    return window == 1 ? "" : fmt::format("{}{}", kind, window);
  }

  void use_window(const WindowSide& side, std::string& weights) {
    if (side.variable.empty()) return;
    windows_.insert(fmt::format("{}: 0 <= {} < {}", side.variable, side.variable, side.window));
    weights += "," + side.variable;
  }

  /// The index of an input in this direction; what weights have of it is added to theirs.
  std::string index_of(const WindowSide& side, std::string& weights) {
    if (side.producer_rank.empty()) return "";
    if (side.output_rank == side.producer_rank) return "," + lower(side.producer_rank);
    const bool whole = side.output_rank.empty() && side.window == side.produced;
    if (whole) {
      weights += "," + lower(side.producer_rank);
      return "," + lower(side.producer_rank);
    }
    use_window(side, weights);
    const std::int64_t missing = std::max<std::int64_t>(0, side.read - side.produced);
    std::string index;
    if (!side.output_rank.empty())
      index = (side.stride > 1 ? fmt::format("{}*", side.stride) : "") + lower(side.output_rank);
    if (!side.variable.empty()) index += (index.empty() ? "" : "+") + side.variable;
    if (missing > 0) index += fmt::format("-{}", (missing + 1) / 2);
    return fmt::format(",{}:{}", side.producer_rank, index);
  }

  static std::string access_of(const TensorRanks& tensor) {
    std::string access = fmt::format("{}[n", tensor.name);
    for (const std::string& rank : {tensor.channel, tensor.row, tensor.column})
      if (!rank.empty()) access += "," + lower(rank);
    return access + "]";
  }

  std::string text() const {
    std::string text =
        fmt::format("variables: {{BATCH: 1, BITS: 16}}\nworkload:\n  name: {}\n", network_.name);
    text += "  rank_sizes:\n    N: BATCH\n";
    for (const auto& [name, size] : sizes_) text += fmt::format("    {}: {}\n", name, size);
    if (!windows_.empty())
      text += fmt::format("  iteration_space_shape: {{{}}}\n", fmt::join(windows_, ", "));
    text +=
        "  bits_per_value: {All: BITS}\n  persistent_tensors: weight - Intermediates\n  einsums:\n";
    for (const std::string& einsum : einsums_) text += einsum;
    return text +
           "renames:\n  einsums:\n  - name: default\n    tensor_accesses:\n    - {name: input, "
           "source: "
           "Inputs}\n    - {name: output, source: Outputs}\n    - {name: weight, source: "
           "Nothing}\n";
  }

  const NeuralNetwork& network_;
  const std::string& file_;
  Diagnostics mistakes_;
  std::vector<TensorRanks> tensors_;  ///< of each layer
  std::map<std::string, std::int64_t> sizes_;
  std::set<std::string> windows_;
  std::vector<std::string> einsums_;
};

}  // namespace

Result<std::string> to_workload_yaml(const NeuralNetwork& network, const std::string& file) {
  return WorkloadWriter(network, file).write();
}

}  // namespace sluice
