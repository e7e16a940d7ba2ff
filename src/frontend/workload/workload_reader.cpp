#include "frontend/workload/workload_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/names/tensor_set_reader.h"
#include "frontend/workload/repeated_einsums.h"
#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

class WorkloadReader {
 public:
  explicit WorkloadReader(ReadContext& context) : context_(context) {
    constants_ = [this](const std::string& name) -> std::optional<double> {
      const auto value = context_.variable(name);
      return value ? value->constant() : std::nullopt;
    };
  }

  WorkloadSource read(const YamlNode& node, const YamlNode* renames, const std::string& name) {
    WorkloadSource source;
    source.place = &node;
    MapReader map(context_, node, "a workload");
    source.name = read_text(context_, map.optional("name"), "the workload's name").value_or(name);
    std::size_t before = context_.n_errors();
    source.rank_sizes = rank_sizes(map.optional("rank_sizes"));
    source.bounds = bounds(map.optional("iteration_space_shape"));
    source.has_bad_sizes = context_.n_errors() != before;
    before = context_.n_errors();
    source.bits = bits(map.optional("bits_per_value"));
    source.has_bad_bits = context_.n_errors() != before;
    source.persistent = sets(map.optional("persistent_tensors"));
    source.initial = initial(map.optional("initial"));
    source.n_instances =
        read_integer(context_, map.optional("n_instances"), "n_instances", 1).value_or(1);
    source.renames = renames_section(map.optional("renames"));
    before = context_.n_errors();
    if (const YamlNode* list = map.required("einsums"))
      source.einsums = einsums(*list, &source.initial);
    source.has_bad_einsums = context_.n_errors() != before;
    map.finish();
    source.has_bad_sizes |=
        map.is_misspelt("rank_sizes") || map.is_misspelt("iteration_space_shape");
    source.has_bad_bits |= map.is_misspelt("bits_per_value");
    if (renames != nullptr)
      for (RenamesOfEinsum& entry : renames_section(renames))
        source.renames.push_back(std::move(entry));
    return source;
  }

 private:
  /// Runs a parser of a small notation; its mistakes are about `node`'s text.
  template <class Parse>
  auto parse(const YamlNode& node, Parse parser) -> std::optional<decltype(parser())> {
    try {
      return parser();
    } catch (const ExpressionError& error) {
      context_.error(node, error);
    } catch (const OverflowError&) {
      context_.error(node, "a number is too large");
    }
    return std::nullopt;
  }

  std::vector<RankSizeSource> rank_sizes(const YamlNode* node) {
    std::vector<RankSizeSource> sizes;
    if (node == nullptr || !MapReader(context_, *node, "rank_sizes").is_map()) return sizes;
    for (const YamlEntry& entry : node->entries) {
      const auto name = read_name(context_, entry.key.get(), "a rank");
      const std::string what = fmt::format("the size of rank {}", entry.key->text);
      const auto size = read_integer(context_, entry.value.get(), what.c_str(), 1);
      if (name && size) sizes.push_back({*name, *size, entry.value.get()});
    }
    return sizes;
  }

  /// A map by variable, a list, or one text.
  std::vector<BoundSource> bounds(const YamlNode* node) {
    std::vector<BoundSource> result;
    if (node == nullptr) return result;
    const auto add = [&](const YamlNode& text) {
      if (!read_text(context_, &text, "a bound")) return;
      const auto parsed = parse(text, [&] { return parse_bounds(text.text, constants_); });
      if (!parsed) return;
      for (const BoundText& bound : *parsed) result.push_back({bound, &text});
    };
    for (const YamlEntry& entry : node->entries) add(*entry.value);
    for (const YamlPointer& item : node->items) add(*item);
    if (!node->is_map() && !node->is_sequence()) add(*node);
    return result;
  }

  /// One set expression or a list of them.
  std::vector<SetSource> sets(const YamlNode* node) {
    std::vector<SetSource> result;
    const auto add = [&](const YamlNode* item) {
      if (const auto tensors = read_tensor_set(context_, item, "a set of tensors"))
        result.push_back({*tensors, item});
    };
    if (node != nullptr && node->is_sequence())
      for (const YamlPointer& item : node->items) add(item.get());
    else
      add(node);
    return result;
  }

  std::vector<BitsSource> bits(const YamlNode* node) {
    std::vector<BitsSource> result;
    if (node == nullptr || !MapReader(context_, *node, "bits_per_value").is_map()) return result;
    for (const YamlEntry& entry : node->entries) {
      BitsSource source;
      source.place = entry.key.get();
      source.is_other = entry.key->text == "Other";
      if (!source.is_other) {
        const auto tensors = read_expression(context_, entry.key.get(), "a key of bits_per_value");
        if (!tensors) continue;
        source.tensors = *tensors;
      }
      const auto quantity = read_bits(*entry.value);
      if (!quantity) continue;
      source.bits = *quantity;
      result.push_back(std::move(source));
    }
    return result;
  }

  std::optional<double> read_bits(const YamlNode& node) {
    const auto quantity = read_quantity(
        context_, &node,
        {.what = "bits_per_value", .dimensions = {Dimension{.bit = 1}}, .zero = false});
    return quantity ? std::optional(quantity->value) : std::nullopt;
  }

  std::vector<InitialSource> initial(const YamlNode* node) {
    std::vector<InitialSource> result;
    if (node == nullptr || !MapReader(context_, *node, "initial").is_map()) return result;
    for (const YamlEntry& entry : node->entries) {
      const auto expression = read_expression(context_, entry.value.get(), "an initial value");
      if (!expression) continue;
      if (const auto value = expression->constant())
        result.push_back({entry.key->text, *value, entry.key.get()});
      else
        context_.error(*entry.value, fmt::format("an initial value must be a number, not {}",
                                                 describe(*entry.value)));
    }
    return result;
  }

  /// Initial values of tensors that are repeated hold for those of all layers.
  std::vector<EinsumSource> einsums(const YamlNode& node, std::vector<InitialSource>* initial) {
    std::vector<EinsumSource> result;
    if (!is_list_of_einsums(node)) return result;
    std::map<std::string, std::string> in_last_layer;  // of tensors that a repeat makes
    for (const YamlPointer& item : node.items) {
      if (!item->is_map() || item->find("repeat") == nullptr) {
        if (auto source = einsum(*item))
          result.push_back(with_tensors_renamed(std::move(*source), in_last_layer));
        continue;
      }
      std::vector<EinsumSource> layer = layer_of(*item);
      RepeatedEinsums repeat(context_, *item->find("repeat"));
      for (EinsumSource& source : layer)
        source = with_tensors_renamed(std::move(source), in_last_layer);
      for (EinsumSource& source : repeat.unfold(layer, result)) result.push_back(std::move(source));
      for (const auto& [tensor, copies] : repeat.copies()) {
        in_last_layer[tensor] = copies.back();
        repeat_initial(tensor, copies, initial);
      }
    }
    name_makers(result);
    return result;
  }

  bool is_list_of_einsums(const YamlNode& node) {
    if (!node.is_sequence())
      context_.error(node, fmt::format("einsums must be a list, not {}", describe(node)));
    else if (node.items.empty())
      context_.error(node, "a workload needs at least one Einsum");
    return node.is_sequence();
  }

  /// The Einsums below `einsums` of an item with `repeat`.
  std::vector<EinsumSource> layer_of(const YamlNode& item) {
    std::vector<EinsumSource> layer;
    MapReader map(context_, item, "a repeated layer");
    map.required("repeat");
    const YamlNode* list = map.required("einsums");
    map.finish();
    if (list == nullptr || !is_list_of_einsums(*list)) return layer;
    for (const YamlPointer& inner : list->items) {
      if (inner->is_map() && inner->find("repeat") != nullptr)
        context_.error(*inner, "a layer that is repeated has no repeat in it");
      else if (auto source = einsum(*inner))
        layer.push_back(std::move(*source));
    }
    name_makers(layer);
    return layer;
  }

  static void repeat_initial(const std::string& tensor, const std::vector<std::string>& copies,
                             std::vector<InitialSource>* initial) {
    const auto found =
        std::find_if(initial->begin(), initial->end(),
                     [&](const InitialSource& source) { return source.tensor == tensor; });
    if (found == initial->end()) return;
    const InitialSource source = *found;
    initial->erase(found);
    for (const std::string& copy : copies) initial->push_back({copy, source.value, source.place});
  }

  std::optional<EinsumSource> einsum(const YamlNode& item) {
    const std::size_t before = context_.n_errors();
    EinsumSource source = item.is_scalar() ? einsum_of_text(item) : einsum_of_map(item);
    return context_.n_errors() == before ? std::optional(std::move(source)) : std::nullopt;
  }

  /// Without a name an Einsum is called as what it makes: C, and others that make parts of it C_2,
  /// C_3, …
  static void name_makers(std::vector<EinsumSource>& einsums) {
    std::set<std::string> taken, named_after;
    for (const EinsumSource& einsum : einsums) {
      if (!einsum.name.empty()) taken.insert(einsum.name);
      if (!einsum.accesses.empty()) taken.insert(einsum.accesses.back().tensor);
    }
    for (EinsumSource& einsum : einsums) {
      if (!einsum.name.empty() || einsum.accesses.empty()) continue;
      const std::string& tensor = einsum.accesses.back().tensor;
      einsum.name = tensor;
      if (named_after.insert(tensor).second) continue;
      for (int n = 2; !taken.insert(einsum.name).second; ++n)
        einsum.name = fmt::format("{}_{}", tensor, n);
    }
  }

  EinsumSource einsum_of_text(const YamlNode& node) {
    EinsumSource source;
    source.place = &node;
    set_text(source, node);
    return source;
  }

  void set_text(EinsumSource& source, const YamlNode& node) {
    const auto parsed = parse(node, [&] { return parse_einsum(node.text, constants_); });
    if (!parsed) return;
    for (const AccessText& input : parsed->inputs)
      source.accesses.push_back({input.tensor, input.axes, false, {&node, input.offset}, {}});
    source.accesses.push_back(
        {parsed->output.tensor, parsed->output.axes, true, {&node, parsed->output.offset}, {}});
    source.expression = parsed->expression;
  }

  EinsumSource einsum_of_map(const YamlNode& node) {
    EinsumSource source;
    source.place = &node;
    MapReader map(context_, node, "an Einsum");
    if (!map.is_map()) return source;
    const YamlNode* text = map.optional("einsum");
    const YamlNode* accesses = map.optional("tensor_accesses");
    const YamlNode* name = map.optional("name");
    source.name = read_name(context_, name, "an Einsum's name").value_or("");
    source.is_copy_operation =
        read_bool(context_, map.optional("is_copy_operation"), "is_copy_operation").value_or(false);
    source.n_instances =
        read_integer(context_, map.optional("n_instances"), "n_instances", 1).value_or(1);
    source.bounds = bounds(map.optional("iteration_space_shape"));
    source.renames = renames(map.optional("renames"));
    source.bits = bits(map.optional("bits_per_value"));
    map.finish();
    if ((text == nullptr) == (accesses == nullptr))
      context_.error(node, "an Einsum has either an 'einsum' or 'tensor_accesses'");
    else if (text == nullptr)
      verbose_form(source, *accesses, name);
    else if (read_text(context_, text, "an Einsum"))
      set_text(source, *text);
    return source;
  }

  void verbose_form(EinsumSource& source, const YamlNode& accesses, const YamlNode* name) {
    if (name == nullptr)
      context_.error(*source.place, "an Einsum with tensor_accesses needs a 'name'");
    if (!accesses.is_sequence()) {
      context_.error(accesses,
                     fmt::format("tensor_accesses must be a list, not {}", describe(accesses)));
      return;
    }
    std::vector<AccessSource> outputs;
    const std::size_t before = context_.n_errors();
    for (const YamlPointer& item : accesses.items) {
      auto read = access(*item);
      if (!read) continue;
      (read->is_output ? outputs : source.accesses).push_back(std::move(*read));
    }
    if (context_.n_errors() != before) return;
    if (outputs.size() != 1)
      context_.error(accesses, fmt::format("an Einsum has one output, not {}", outputs.size()),
                     "mark it with 'output: true'");
    else if (source.accesses.empty())
      context_.error(accesses, "an Einsum reads at least one tensor");
    else
      source.accesses.push_back(std::move(outputs[0]));
    if (!source.accesses.empty()) set_product(source);
  }

  /// The product of all inputs, as they are listed; equal ones are one access, read twice.
  static void set_product(EinsumSource& source) {
    std::vector<AccessSource> distinct;
    std::vector<std::uint32_t> factors;
    const AccessSource output = source.accesses.back();
    for (std::size_t i = 0; i + 1 < source.accesses.size(); ++i) {
      const AccessSource& input = source.accesses[i];
      const auto known = std::find_if(distinct.begin(), distinct.end(), [&](const AccessSource& d) {
        return d.tensor == input.tensor && d.axes == input.axes;
      });
      factors.push_back(static_cast<std::uint32_t>(known - distinct.begin()));
      if (known == distinct.end()) distinct.push_back(input);
    }
    source.expression = product_of_accesses(factors);
    source.accesses = std::move(distinct);
    source.accesses.push_back(output);
  }

  std::optional<AccessSource> access(const YamlNode& node) {
    MapReader map(context_, node, "a tensor access");
    if (!map.is_map()) return std::nullopt;
    AccessSource result;
    const YamlNode* name_node = map.required("name");
    const auto name = read_name(context_, name_node, "a tensor's name");
    result.is_output = read_bool(context_, map.optional("output"), "output").value_or(false);
    if (const YamlNode* bits = map.optional("bits_per_value"))
      result.bits_per_value = read_bits(*bits);
    const YamlNode* projection_node = map.required("projection");
    map.finish();
    if (!name || projection_node == nullptr) return std::nullopt;
    result.tensor = *name;
    result.place = {name_node, 0};
    const std::size_t before = context_.n_errors();
    result.axes = projection(*projection_node);
    if (context_.n_errors() != before) return std::nullopt;
    return result;
  }

  /// A list of indices (`[m, n]`, `['M:p', n]`) or a map from ranks to indices.
  std::vector<AxisText> projection(const YamlNode& node) {
    std::vector<AxisText> axes;
    const auto add = [&](const std::string& rank, const YamlNode& text) {
      if (!read_text(context_, &text, "an index")) return;
      const auto axis = parse(text, [&] { return parse_axis(text.text, constants_); });
      if (!axis) return;
      axes.push_back(*axis);
      if (!rank.empty()) axes.back().rank = rank;
    };
    for (const YamlPointer& item : node.items) add("", *item);
    for (const YamlEntry& entry : node.entries) add(entry.key->text, *entry.value);
    if (!node.is_sequence() && !node.is_map())
      context_.error(node,
                     fmt::format("a projection must be a list or a map, not {}", describe(node)));
    return axes;
  }

  // --- renames ----------------------------------------------------------------------------------

  /// A map from names to sets, or a list of {name, source, expected_count}.
  std::vector<RenameSource> renames(const YamlNode* node) {
    std::vector<RenameSource> result;
    if (node == nullptr) return result;
    for (const YamlEntry& entry : node->entries) {
      const auto source = read_tensor_set(context_, entry.value.get(), "a rename");
      const auto name = read_name(context_, entry.key.get(), "a rename");
      if (source && name) result.push_back({*name, *source, entry.value.get(), {}, nullptr});
    }
    for (const YamlPointer& item : node->items)
      if (auto rename = rename_entry(*item)) result.push_back(std::move(*rename));
    if (!node->is_sequence() && !node->is_map() && !node->is_null())
      context_.error(*node,
                     fmt::format("renames must be a map or a list, not {}", describe(*node)));
    return result;
  }

  std::optional<RenameSource> rename_entry(const YamlNode& node) {
    MapReader map(context_, node, "a rename");
    if (!map.is_map()) return std::nullopt;
    RenameSource result;
    const auto name = read_name(context_, map.required("name"), "a rename");
    result.place = map.required("source");
    const auto source = read_tensor_set(context_, result.place, "a rename's source");
    result.count_place = map.optional("expected_count");
    result.expected_count = read_expression(context_, result.count_place, "expected_count");
    map.finish();
    if (!name || !source) return std::nullopt;
    result.name = *name;
    result.source = *source;
    return result;
  }

  /// `einsums: [{name: default, tensor_accesses: [...]}]`, or a map of renames for every Einsum.
  std::vector<RenamesOfEinsum> renames_section(const YamlNode* node) {
    std::vector<RenamesOfEinsum> result;
    if (node == nullptr) return result;
    if (!node->is_map() || node->find("einsums") == nullptr) {
      result.push_back({"default", node, renames(node)});
      return result;
    }
    MapReader map(context_, *node, "renames");
    const YamlNode* list = map.required("einsums");
    map.finish();
    if (!list->is_sequence())
      context_.error(*list, fmt::format("einsums must be a list, not {}", describe(*list)));
    for (const YamlPointer& item : list->items) {
      MapReader entry(context_, *item, "an entry of renames");
      if (!entry.is_map()) continue;
      RenamesOfEinsum renames_of;
      renames_of.place = entry.required("name");
      renames_of.einsum = read_name(context_, renames_of.place, "an Einsum's name").value_or("");
      renames_of.renames = renames(entry.optional("tensor_accesses"));
      entry.finish();
      if (renames_of.place != nullptr) result.push_back(std::move(renames_of));
    }
    return result;
  }

  ReadContext& context_;
  ConstantLookup constants_;
};

}  // namespace

WorkloadSource read_workload(ReadContext& context, const YamlNode& node, const YamlNode* renames,
                             const std::string& default_name) {
  return WorkloadReader(context).read(node, renames, default_name);
}

}  // namespace sluice
