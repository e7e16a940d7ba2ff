#include "network/layers_without_einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "network/concatenations.h"
#include "network/forward_layers.h"

namespace sluice {
namespace {

class EinsumChecker {
 public:
  EinsumChecker(const NeuralNetwork& network, const std::string& file)
      : network_(network), file_(file) {}

  Diagnostics check() {
    for (const NetworkLayer& layer : network_.layers) refuse(layer);
    return std::move(mistakes_);
  }

 private:
  void refuse(const NetworkLayer& layer) {
    if (!is_name(layer.name))
      complain(layer, "is no name of an Einsum", "a letter or _, then letters, digits and _");
    for (const std::size_t previous : layer.previous)
      if (network_.layers[previous].gradient == Gradient::kOfWeights &&
          !gradient_of_same_input(network_, previous))
        complain(layer, fmt::format("reads `{}`, a gradient of weights, as values of a plane",
                                    network_.layers[previous].name));
    if (reads_side_by_side(layer))
      for (auto again = layer.previous.begin(); again != layer.previous.end(); ++again)
        if (std::find(layer.previous.begin(), again, *again) != again)
          complain(layer,
                   fmt::format("reads `{}` twice, side by side", network_.layers[*again].name));
    const bool sums = layer.kind == LayerKind::kElementwise;
    if (layer.gradient == Gradient::kNone) {
      const auto is_operand = [&](std::size_t previous) {
        return network_.layers[previous].channels_out == layer.channels_out;
      };
      if (sums && !std::all_of(layer.previous.begin(), layer.previous.end(), is_operand))
        complain(layer, fmt::format("joins parts of what it reads: an operand of it has {} "
                                    "channels, and so must each layer in `prevs`",
                                    layer.channels_out));
    } else if (has_weights(layer.kind) && !forward_layer(network_, layer)) {
      complain(layer, "is the gradient of a layer with other channels than any of its name");
    } else if (sums && operands(layer) != 1) {
      complain(layer, "is the gradient of several operands, side by side");
    }
  }

  void complain(const NetworkLayer& layer, const std::string& why,
                const std::string& hint =
                    "what tables a workload cannot say: docs/refusals.md, "
                    "Networks as workloads") {
    Diagnostic diagnostic;
    diagnostic.location = {file_, layer.line, 0};
    diagnostic.message = fmt::format("`{}` {}", layer.name, why);
    diagnostic.hint = hint;
    mistakes_.push_back(std::move(diagnostic));
  }

  static bool is_name(const std::string& text) {
    const auto is_part = [](char c) {
      return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    };
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::all_of(text.begin(), text.end(), is_part);
  }

  const NeuralNetwork& network_;
  const std::string& file_;
  Diagnostics mistakes_;
};

}  // namespace

Diagnostics layers_without_einsum(const NeuralNetwork& network, const std::string& file) {
  return EinsumChecker(network, file).check();
}

}  // namespace sluice
