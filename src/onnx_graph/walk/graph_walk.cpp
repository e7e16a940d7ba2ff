#include "onnx_graph/walk/graph_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "onnx_graph/fold/fold.h"
#include "onnx_graph/model/schema_shapes.h"
#include "onnx_graph/operators/dequantised.h"
#include "onnx_graph/operators/operators.h"
#include "onnx_graph/walk/bodies.h"
#include "onnx_graph/walk/dimension_names.h"
#include "onnx_graph/walk/graph_notes.h"
#include "onnx_graph/walk/live_nodes.h"
#include "onnx_graph/walk/worked_out.h"
#include "sluice/support/error.h"

namespace sluice::onnx_graph {
namespace {

constexpr int kDeepestBranches = 16;
constexpr std::size_t kMostBodies = 4096;
constexpr std::size_t kMostMistakes = 50;

std::string full_type(const Node& node) {
  return node.domain.empty() || node.domain == "ai.onnx" ? node.type
                                                         : node.domain + "::" + node.type;
}

/// Operators whose names say what they are, in whatever domain.
bool is_known_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx" || domain == "com.microsoft" ||
         domain == "com.microsoft.nchwc" || domain == "qonnx.custom_op.general" ||
         domain == "onnx.brevitas" || domain == "finn.custom_op.general";
}

/// Whether the file is one without its weights, which makes them by ConstantOfShape.
bool has_stripped_weights(const std::vector<Node>& nodes) {
  static const std::set<std::string> types = {
      "Conv", "ConvTranspose", "Gemm", "MatMul", "BatchNormalization", "InstanceNormalization"};
  std::set<std::string> made;
  for (const Node& node : nodes)
    if (node.type == "ConstantOfShape") made.insert(node.outputs.begin(), node.outputs.end());
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return types.count(node.type) > 0 &&
           std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](const std::string& input) { return made.count(input) > 0; });
  });
}

class GraphWalk {
 public:
  GraphWalk(const Model& model, const std::string& file, SymbolicSizes& sizes, Lowering& lowering)
      : model_(model), file_(file), sizes_(sizes), lowering_(lowering) {
    lowering_.opsets = model.opsets;
    for (const auto& domain : {std::string(), std::string("ai.onnx")})
      if (const auto found = model.opsets.find(domain); found != model.opsets.end())
        lowering_.opsets[""] = found->second;
    lowering_.opsets.emplace("", 17);
  }

  Diagnostics run(const std::vector<Node>& nodes) {
    lowering_.declared_shape = [this](const std::string& name) { return declared_shape(name); };
    lowering_.open_size = [this](const std::string& name, std::size_t d) {
      return open_size(name, d);
    };
    note_opset(model_, file_, lowering_);
    const std::vector<bool> is_live = live_nodes(model_.graph, nodes);
    note_dead_nodes(nodes, is_live, file_, lowering_);
    note_unknown_attributes(nodes, is_live, file_, lowering_);
    for (const ValueInfo& info : model_.graph.outputs) lowering_.outputs.insert(info.name);
    add_constants(model_.graph);
    for (const ValueInfo& info : model_.graph.inputs)
      if (model_.graph.constants.count(info.name) == 0) add_input(info);
    is_stripped_ = has_stripped_weights(nodes);
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (is_live[n]) visit(nodes[n], 0);
    for (const ValueInfo& info : model_.graph.outputs)
      guarded(fmt::format("the output '{}'", info.name), [&] { make_view_of(info.name); });
    if (mistakes_.empty()) write_views();
    for (const ValueInfo& info : model_.graph.outputs)
      if (!is_there(info.name))
        mistake(fmt::format("no node makes the output '{}'", info.name), did_you_mean(info.name));
    note_contradictions(
        model_, file_, [this](const std::string& symbol) { return size_of_symbol(symbol); },
        lowering_);
    lowering_.declared_shape = nullptr;
    lowering_.open_size = nullptr;
    return std::move(mistakes_);
  }

 private:
  void mistake(const std::string& message, const std::string& hint) {
    if (mistakes_.size() < kMostMistakes)
      mistakes_.push_back({Severity::kError, {file_, 0, 0}, message, "", hint});
  }

  bool is_there(const std::string& name) const {
    return lowering_.values.count(name) > 0 || broken_.count(name) > 0;
  }

  std::string did_you_mean(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : lowering_.values) names.push_back(entry.first);
    const std::string nearest =
        names.size() > 5000 || name.size() > 200 ? "" : nearest_name(name, names);
    return nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest);
  }

  void add_constants(const Graph& graph) {
    for (const auto& [name, constant] : graph.constants) {
      if (lowering_.values.count(name) > 0) continue;
      Value value;
      value.type = constant.type;
      value.shape = constant.shape;
      value.constant = std::make_shared<Constant>(constant);
      value.sources = {name};
      lowering_.values[name] = std::move(value);
      try {
        lowering_.sources[name] = volume(constant.shape);
      } catch (const OverflowError&) {
        mistake(fmt::format("the initializer '{}' has more values than can be counted", name), "");
      }
    }
  }

  void add_input(const ValueInfo& info) {
    if (!info.shape) {
      broken_.insert(info.name);
      return mistake(fmt::format("the shape of the input '{}' is not in the file", info.name),
                     "onnx.tools.update_model_dims can put it there");
    }
    Value value;
    value.type = info.type;
    std::vector<std::size_t> ranks;
    std::vector<std::vector<std::size_t>> dimensions;
    static const std::vector<std::vector<const char*>> letters = {
        {"D"}, {"M", "D"}, {"B", "M", "D"}, {"N", "C", "H", "W"}};
    for (std::size_t d = 0; d < info.shape->size(); ++d) {
      const auto size = size_of_dimension(info, d);
      if (!size) {
        broken_.insert(info.name);
        continue;
      }
      value.shape.push_back(*size);
      std::vector<std::size_t>& axes = dimensions.emplace_back();
      if (*size <= 1) continue;
      const std::size_t rank = info.shape->size();
      axes = {
          lowering_.cascade.add_axis(rank <= letters.size() ? letters[rank - 1][d] : "I", *size)};
      ranks.push_back(axes[0]);
    }
    if (broken_.count(info.name) > 0) return;
    if (volume(value.shape) == 0) {  // no earlier steps, say: nothing to read
      value.constant = std::make_shared<Constant>(empty_constant(info.type, value.shape));
      lowering_.values[info.name] = std::move(value);
      return;
    }
    const std::size_t tensor =
        lowering_.cascade.add_tensor(info.name, TensorKind::kInput, bits_of(info.type), ranks);
    value.view = view_of(lowering_.cascade, tensor, dimensions);
    lowering_.values[info.name] = std::move(value);
  }

  std::optional<std::int64_t> size_of_dimension(const ValueInfo& info, std::size_t d) {
    const Dimension& dimension = (*info.shape)[d];
    if (dimension.size && *dimension.size > 0) return dimension.size;
    const bool is_named = !dimension.symbol.empty();
    const std::string name =
        as_variable(is_named ? dimension.symbol : fmt::format("{}_dim_{}", info.name, d));
    const auto given = sizes_.given.find(name);
    if (given != sizes_.given.end()) return given_size(name, given->second);
    const auto known = [&](const std::string& term) -> std::optional<std::int64_t> {
      const auto found = sizes_.given.find(as_variable(term));
      return found == sizes_.given.end() ? std::nullopt : given_size(found->first, found->second);
    };
    if (const auto size = composed_size(dimension.symbol, known)) return size;
    mistake(fmt::format("dimension {} of the input '{}' has no size{}", d, info.name,
                        is_named ? fmt::format(", only the name '{}'", dimension.symbol) : ""),
            meant_setting(name, terms_of(dimension.symbol)));
    return std::nullopt;
  }

  std::optional<std::int64_t> given_size(const std::string& name, const std::string& text) {
    std::int64_t size = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || size < 0) {
      mistake(fmt::format("--set {}={}: the size of a dimension is a whole number", name, text),
              "");
      return std::nullopt;
    }
    sizes_.used[name] = size;
    return size;
  }

  std::optional<std::int64_t> size_of_symbol(const std::string& symbol) const {
    const auto known = [&](const std::string& term) -> std::optional<std::int64_t> {
      const auto used = sizes_.used.find(as_variable(term));
      return used == sizes_.used.end() ? std::nullopt : std::optional(used->second);
    };
    if (symbol.empty()) return std::nullopt;
    const auto own = known(symbol);
    return own ? own : composed_size(symbol, known);
  }

  OpenSize open_size(const std::string& output, std::size_t d) {
    const ValueInfo* info = declared(output);
    const bool is_declared = info != nullptr && info->shape && d < info->shape->size();
    const Dimension dimension = is_declared ? (*info->shape)[d] : Dimension();
    OpenSize result;
    result.name = as_variable(dimension.symbol.empty() ? fmt::format("{}_dim_{}", output, d)
                                                       : dimension.symbol);
    const auto given = sizes_.given.find(result.name);
    result.size = dimension.size && *dimension.size > 0 ? dimension.size
                  : given == sizes_.given.end()         ? std::nullopt
                                                        : given_size(result.name, given->second);
    return result;
  }

  /// Real numbers that nobody has read yet, but the graph puts out.
  void make_view_of(const std::string& name) {
    const auto found = lowering_.values.find(name);
    if (found != lowering_.values.end() && !found->second.view && found->second.make_view)
      found->second.view = found->second.make_view(lowering_);
  }

  /// Of a graph that only looks at its inputs in another way all that it puts out is copied; of
  /// others what stands there several times, but was made once.
  void write_views() {
    const bool computes = !lowering_.cascade.einsums.empty();
    for (const ValueInfo& info : model_.graph.outputs) {
      const auto found = lowering_.values.find(info.name);
      if (found == lowering_.values.end() || (computes && !stands_repeatedly(found->second)))
        continue;
      guarded(fmt::format("the output '{}'", info.name), [&] {
        copy_output(info.name, computes ? "what it puts out repeats values: priced as a copy"
                                        : "nothing is computed: what it puts out is priced as a "
                                          "copy");
      });
    }
  }

  static bool stands_repeatedly(const Value& value) {
    if (value.constant || !value.view) return false;
    const std::vector<Digits>& dimensions = value.view->dimensions;
    return std::any_of(dimensions.begin(), dimensions.end(),
                       [&](const Digits& digits) { return is_repeated(*value.view, digits); });
  }

  void copy_output(const std::string& name, const std::string& reason) {
    const auto maker = makers_.find(name);
    if (maker == makers_.end()) return;
    Node node;
    node.type = "Identity";
    node.inputs = {name};
    node.outputs = {name + "_copy"};
    NodeContext context(lowering_, node, maker->second);
    context.approximate(reason);
    const View copy = context.pointwise({context.view(0)}, node.outputs[0], context.in(0).type,
                                        [](const auto& x) { return x[0]; });
    lowering_.values[name].constant = nullptr;
    lowering_.values[name].view = copy;
  }

  /// Does something about `subject`; false and a mistake where that cannot be done.
  bool guarded(const std::string& subject, const std::function<void()>& action) {
    try {
      action();
      return true;
    } catch (const NodeMistake& found) {
      mistake(fmt::format("{}: {}", subject, found.message), found.hint);
    } catch (const std::out_of_range&) {
      mistake(fmt::format("{}: an input has fewer numbers or dimensions than it needs", subject),
              "");
    } catch (const OverflowError&) {
      mistake(fmt::format("{}: it has more values than can be counted", subject),
              "is a dimension of the graph much too large?");
    }
    return false;
  }

  /// What to write for a size; where a setting looks like the name, and is no other dimension's,
  /// that it was meant. `terms`: of a composed one.
  std::string meant_setting(const std::string& name, const std::vector<std::string>& terms) const {
    std::string missing;
    for (const std::string& term : terms)
      if (sizes_.given.count(as_variable(term)) == 0)
        missing += fmt::format("{}--set {}=1", missing.empty() ? "" : " ", as_variable(term));
    if (terms.size() > 1 && !missing.empty())
      return fmt::format("write {}, or other sizes", missing);
    const std::set<std::string> others = dimension_names();
    for (const auto& [given, text] : sizes_.given) {
      const bool is_start =
          given.size() > 1 && (name.starts_with(given) || given.starts_with(name));
      if (others.count(given) == 0 && (is_start || nearest_name(given, {name}) == name))
        return fmt::format("did you mean --set {}={}?", name, text);
    }
    return fmt::format("write --set {}=1, or another size", name);
  }

  std::set<std::string> dimension_names() const {
    std::set<std::string> names;
    for (const ValueInfo& input : model_.graph.inputs)
      for (const Dimension& dimension : input.shape.value_or(std::vector<Dimension>()))
        for (const std::string& term : terms_of(dimension.symbol)) names.insert(as_variable(term));
    return names;
  }

  void visit(const Node& node, int depth) {
    for (const std::string& input : node.inputs) {
      if (broken_.count(input) > 0) return break_outputs(node);
      if (!input.empty() && lowering_.values.count(input) == 0) {
        mistake(fmt::format("{} reads '{}', which nothing makes", description(node), input),
                did_you_mean(input));
        return break_outputs(node);
      }
    }
    const auto known = inner_records_.find(&node);
    const std::size_t n_records = lowering_.records.size();
    const std::size_t n_einsums = lowering_.cascade.einsums.size();
    const std::size_t record = known != inner_records_.end() ? known->second : record_of(node);
    if (depth > 0) inner_records_.emplace(&node, record);
    for (const std::string& output : node.outputs) makers_[output] = record;
    const bool is_written = guarded(description(node), [&] {
      if (fold_away(node)) return;
      NodeContext context(lowering_, node, record);
      write(context, depth);
      for (const std::string& output : node.outputs)
        if (!output.empty()) check_size(output);
    });
    note_guesses(node, is_written);
    if (!is_written) return break_outputs(node);
    if (depth == 0 && !has_own_einsum(n_einsums, record, n_records)) note_views(node);
  }

  /// Shapes that were taken from a first input are so in all that follows, and perhaps why it does
  /// not fit.
  void note_guesses(const Node& node, bool is_written) {
    for (const std::string& input : node.inputs) {
      const auto guess = guesses_.find(input);
      if (guess == guesses_.end()) continue;
      const std::string origin = guess->second;
      if (!is_written && mistakes_.size() < kMostMistakes)
        mistakes_.back().message += fmt::format(
            "; the shape of '{}' is not known, and was taken from the first input of its node",
            origin);
      for (const std::string& output : node.outputs) guesses_.emplace(output, origin);
      return;
    }
  }

  /// Whether one of the latest Einsums, from `first` on, is of the node of this record or of one in
  /// its bodies. Others make real numbers that the node is the first to read.
  bool has_own_einsum(std::size_t first, std::size_t record, std::size_t first_inner) const {
    const std::vector<CascadeEinsum>& einsums = lowering_.cascade.einsums;
    return std::any_of(einsums.begin() + static_cast<std::ptrdiff_t>(first), einsums.end(),
                       [&](const CascadeEinsum& einsum) {
                         return einsum.nodes[0] == record || einsum.nodes[0] >= first_inner;
                       });
  }

  void note_views(const Node& node) {
    for (const std::string& output : node.outputs)
      if (const auto found = lowering_.values.find(output);
          found != lowering_.values.end() && found->second.view)
        lowering_.views.insert(output);
  }

  /// All nodes of a function that the graph calls are one node of the graph.
  std::size_t record_of(const Node& node) {
    if (node.call > 0)
      if (const auto known = calls_.find(node.call); known != calls_.end()) return known->second;
    const bool is_named = !node.name.empty() || node.outputs.empty();
    lowering_.records.push_back({node.call > 0 ? node.call_type : full_type(node),
                                 is_named ? node.name : node.outputs[0],
                                 0,
                                 false,
                                 {}});
    const std::size_t record = lowering_.records.size() - 1;
    if (node.call > 0) calls_[node.call] = record;
    return record;
  }

  void check_size(const std::string& output) {
    const auto found = lowering_.values.find(output);
    if (found == lowering_.values.end())
      throw NodeMistake{fmt::format("its output '{}' has no rule", output),
                        "docs/onnx.md lists what each operator becomes"};
    if (found->second.shape.size() > 32)
      throw NodeMistake{fmt::format("its output '{}' has more than 32 dimensions", output), ""};
    const auto& constant = found->second.constant;  // nothing of nothing is known
    for (const std::int64_t size : found->second.shape)
      if (size < 1 && !(constant && size == 0))
        throw NodeMistake{fmt::format("its output '{}' has no values", output), ""};
    volume(found->second.shape);
  }

  std::string description(const Node& node) const {
    return node.name.empty()
               ? fmt::format("the node that makes '{}' ({})",
                             node.outputs.empty() ? "" : node.outputs[0], full_type(node))
               : fmt::format("the node '{}' ({})", node.name, full_type(node));
  }

  void break_outputs(const Node& node) {
    for (const std::string& output : node.outputs) {
      broken_.insert(output);
      lowering_.values.erase(output);
    }
  }

  /// Whether values of a constant are in what is worked out of it before the run: not those of
  /// shapes, axes, conditions and limits, nor single factors and addends of whole tensors.
  bool is_computed_with(const Node& node, std::size_t input) const {
    static const std::set<std::string> of_first = {"Reshape", "Expand",    "Slice", "Split",
                                                   "Squeeze", "Unsqueeze", "Gather"};
    static const std::set<std::string> of_none = {"Shape", "Size", "Range", "ConstantOfShape"};
    if (of_none.count(node.type) > 0) return false;
    if (of_first.count(node.type) > 0 || node.type.starts_with("Reduce")) return input == 0;
    if (node.type == "Where" && input == 0) return false;
    if (node.type == "Concat") return true;
    const auto values_of = [&](const std::string& name) {
      return name.empty() ? 0 : volume(lowering_.values.at(name).shape);
    };
    return values_of(node.inputs[input]) > 1 ||
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](const std::string& name) { return values_of(name) <= 1; });
  }

  /// The constants of the graph whose values are in what a node makes, and whether a table is that
  /// follows from shapes alone. What is computed of constants and nothing else is one of its own:
  /// the values that are there at run time.
  Value origin_of(const Node& node) const {
    Value origin;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].empty() || !is_computed_with(node, i)) continue;
      const Value& value = lowering_.values.at(node.inputs[i]);
      origin.has_table |= value.has_table || (value.sources.empty() && volume(value.shape) > 1);
      origin.sources.insert(value.sources.begin(), value.sources.end());
    }
    const bool is_weight = is_stripped_ && node.type == "ConstantOfShape";
    if (node.type == "Constant" || is_weight ||
        (!origin.sources.empty() && !origin.has_table && !only_moves(node)))
      origin.sources = {node.outputs.begin(), node.outputs.end()};
    return origin;
  }

  /// What follows from constants and shapes alone.
  bool fold_away(const Node& node) {
    if (!is_known_domain(node.domain)) return false;
    std::vector<Known> known;
    const bool asks_for_shape = node.type == "Shape" || node.type == "Size";
    for (const std::string& input : node.inputs) {
      if (input.empty()) {
        known.push_back({{}, ElementType::kFloat, nullptr, false});
        continue;
      }
      const Value& value = lowering_.values.at(input);
      if (!value.constant && !asks_for_shape) return false;
      known.push_back({value.shape, value.type, value.constant.get(), true});
    }
    auto found = fold(node, known, lowering_.opsets[""]);
    if (!found) found = worked_out(node, lowering_);
    if (!found || found->size() < node.outputs.size()) return false;
    const Value origin = origin_of(node);
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const std::string& output = node.outputs[o];
      if (output.empty()) continue;
      Value value = origin;
      value.type = (*found)[o].type;
      value.shape = (*found)[o].shape;
      if (origin.sources.count(output) > 0) {
        value.sources = {output};
        lowering_.sources[output] = volume(value.shape);
      }
      value.constant = std::make_shared<Constant>(std::move((*found)[o]));
      lowering_.values[output] = std::move(value);
    }
    return true;
  }

  void write(NodeContext& context, int depth) {
    const Node& node = context.node();
    if (walk_bodies(context, depth)) return;
    if (const auto aligned = with_trailing_dimensions(context)) {
      NodeContext own(lowering_, *aligned, context.record());
      return write(own, depth);
    }
    const auto rule = all_operators().find(node.type);
    if (rule != all_operators().end()) {
      if (!is_known_domain(node.domain))
        context.approximate(
            fmt::format("of the domain {}, taken for ONNX's {}", node.domain, node.type));
      if (moved_as_integers(context, rule->second)) return;
      return follow(rule->second, context);
    }
    for (const Attribute& attribute : node.attributes)
      if (attribute.graph)
        context.fail(
            "how often its body runs is not known before the run",
            "docs/refusals.md lists what is refused; export the model with the loop unrolled");
    context.approximate("no rule: one operation of the vector unit for each value");
    price_per_element(context, output_shapes(context));
  }

  /// Before opset 7 a second operand was put beside the dimensions from `axis` on, that of PRelu
  /// beside the channels: the node with dimensions of size 1 behind it.
  std::optional<Node> with_trailing_dimensions(NodeContext& context) {
    const Node& node = context.node();
    const bool is_prelu = node.type == "PRelu";
    if (context.opset() >= 7 || !is_known_domain(node.domain) || node.inputs.size() != 2 ||
        (!is_prelu && (context.integer("broadcast", 0) == 0 || !node.find("axis"))))
      return std::nullopt;
    const Value& first = context.in(0);
    Value second = context.in(1);
    if (first.shape.size() <= second.shape.size() || second.shape.empty() ||
        second.shape == Shape{1})
      return std::nullopt;
    const std::size_t axis =
        context.axis(is_prelu ? 1 : context.integer("axis", 0), first.shape.size());
    if (axis + second.shape.size() >= first.shape.size()) return std::nullopt;
    second.view = context.view(1);
    second.shape.resize(first.shape.size() - axis, 1);
    second.view->dimensions.resize(second.shape.size());
    second.constant = nullptr;
    Node result = node;
    result.inputs[1] += "_beside_" + node.outputs.at(0);
    lowering_.values[result.inputs[1]] = std::move(second);
    return result;
  }

  /// Where numbers that shapes depend on come with the run, the shapes that the file says count.
  void follow(Operator rule, NodeContext& context) {
    try {
      return rule(context);
    } catch (const NodeMistake& mistake) {
      if (!mistake.needs_numbers) throw;
      std::vector<Shape> shapes;
      for (const std::string& output : context.node().outputs) {
        const auto declared = declared_shape(output);
        if (!declared) throw;
        shapes.push_back(*declared);
      }
      context.approximate(mistake.message);
      stand_in(context, shapes);
    }
  }

  static void stand_in(NodeContext& context, const std::vector<Shape>& shapes) {
    static const std::set<std::string> same = {"Squeeze", "Unsqueeze", "Reshape", "Tile"};
    static const std::set<std::string> parts = {"Slice", "Split"};
    const Value input = context.in(0);
    const std::string& type = context.node().type;
    if (same.count(type) > 0 && volume(shapes.at(0)) == volume(input.shape))
      return context.set(0, context.reshape(context.view(0), shapes[0], input.type), input.type);
    if (parts.count(type) == 0) return price_per_element(context, shapes);
    for (std::size_t output = 0; output < shapes.size(); ++output) {  // the first values stand in
      View view = context.view(0);
      if (shapes[output].size() != input.shape.size()) context.fail("its shapes do not fit");
      for (std::size_t d = 0; d < input.shape.size(); ++d)
        view = context.slice(view, d, 0, 1, shapes[output][d], input.type);
      context.set(output, view, input.type, input.is_nonnegative);
    }
  }

  /// From the file, from the ONNX library, or as the first input.
  std::vector<Shape> output_shapes(NodeContext& context) {
    const Node& node = context.node();
    std::vector<TensorShape> inputs;
    std::vector<const Constant*> constants;
    for (const std::string& input : node.inputs) {
      inputs.emplace_back();
      constants.push_back(nullptr);
      if (input.empty()) continue;
      const Value& value = lowering_.values.at(input);
      inputs.back() = {value.type, value.shape};
      constants.back() = value.constant.get();
    }
    const auto by_schema = shapes_by_schema(node, inputs, constants, context.opset());
    std::vector<Shape> shapes;
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const auto declared = declared_shape(node.outputs[o]);
      if (declared)
        shapes.push_back(*declared);
      else if (by_schema)
        shapes.push_back((*by_schema)[o].shape);
      else
        shapes.push_back(guessed_shape(context, node.outputs[o]));
    }
    return shapes;
  }

  /// What the file says about a tensor; null: nothing.
  const ValueInfo* declared(const std::string& name) const {
    for (const ValueInfo& output : model_.graph.outputs)
      if (output.name == name) return &output;
    const auto found = model_.graph.values.find(name);
    return found == model_.graph.values.end() ? nullptr : &found->second;
  }

  std::optional<Shape> declared_shape(const std::string& name) const {
    const ValueInfo* info = declared(name);
    if (info == nullptr || !info->shape) return std::nullopt;
    Shape shape;
    for (const Dimension& dimension : *info->shape) {
      const auto named = size_of_symbol(dimension.symbol);
      if (dimension.size && *dimension.size > 0)
        shape.push_back(*dimension.size);
      else if (named)
        shape.push_back(*named);
      else
        return std::nullopt;
    }
    return shape;
  }

  Shape guessed_shape(NodeContext& context, const std::string& output) {
    const Shape shape = first_shape(context);
    context.approximate(fmt::format("the shape of '{}' is taken from its first input", output));
    guesses_[output] = output;
    return shape;
  }

  Shape first_shape(NodeContext& context) const {
    for (std::size_t i = 0; i < context.n_inputs(); ++i)
      if (context.has(i) && !context.in(i).constant) return context.in(i).shape;
    for (std::size_t i = 0; i < context.n_inputs(); ++i)
      if (context.has(i)) return context.in(i).shape;
    context.fail("it has no inputs, and the shape of its result is not in the file");
  }

  BodyWalk body_walk(const Node& node, int depth) {
    return {[this, depth](const Graph& graph) {
              add_constants(graph);
              for (const Node& inner : graph.nodes) {
                for (const std::string& output : inner.outputs) broken_.erase(output);
                visit(inner, depth + 1);
              }
            },
            [this](const std::string& name) { return broken_.count(name) > 0; },
            [this, &node] { break_outputs(node); }};
  }

  /// False where the node has no graphs of its own.
  bool walk_bodies(NodeContext& context, int depth) {
    static const std::map<std::string, void (*)(NodeContext&, const BodyWalk&)> table = {
        {"If", choose_branch}, {"Scan", unroll_scan}, {"Loop", unroll_loop}};
    const Node& node = context.node();
    const auto found = table.find(node.type);
    if (found == table.end() || !is_known_domain(node.domain)) return false;
    if (depth >= kDeepestBranches) context.fail("branches are nested too deeply");
    if (++n_bodies_ > kMostBodies) context.fail("there are too many loops inside each other");
    found->second(context, body_walk(node, depth));
    return true;
  }

  const Model& model_;
  const std::string& file_;
  SymbolicSizes& sizes_;
  Lowering& lowering_;
  std::set<std::string> broken_;
  bool is_stripped_ = false;                    ///< the file has no weights
  std::map<std::string, std::string> guesses_;  ///< tensor → the one whose shape was guessed
  std::map<std::string, std::size_t> makers_;   ///< record of the node that makes a value
  std::map<const Node*, std::size_t> inner_records_;  ///< of nodes in bodies, which may run often
  std::size_t n_bodies_ = 0;
  std::map<std::size_t, std::size_t> calls_;  ///< Node::call → record
  Diagnostics mistakes_;
};

}  // namespace

Result<bool> walk_graph(const Model& model, const std::vector<Node>& nodes, const std::string& file,
                        SymbolicSizes& sizes, Lowering& lowering) {
  Diagnostics mistakes = GraphWalk(model, file, sizes, lowering).run(nodes);
  if (!mistakes.empty()) return tl::unexpected(std::move(mistakes));
  return true;
}

}  // namespace sluice::onnx_graph
