#include "frontend/mapping/constraints_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/mapping/mapping_words.h"
#include "frontend/names/name_resolver.h"
#include "frontend/names/tensor_set_reader.h"
#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {
namespace {

class ConstraintsReader {
 public:
  ConstraintsReader(ReadContext& context, const Workload& workload, const Arch& arch)
      : context_(context), names_(context, workload, arch), workload_(workload) {}

  std::optional<Constraints> read(const YamlNode& node) {
    const std::size_t before = context_.n_errors();
    MapReader map(context_, node, "a constraints section");
    if (!map.is_map()) return std::nullopt;
    section(map, "storage", constraints_.storage);
    section(map, "tiles", constraints_.tiles);
    section(map, "spatial", constraints_.spatial);
    section(map, "fusion", constraints_.fusion);
    section(map, "loop_orders", constraints_.loop_orders);
    section(map, "schedules", constraints_.schedules);
    section(map, "collectives", constraints_.collectives);
    map.finish();
    if (context_.n_errors() != before) return std::nullopt;
    return std::move(constraints_);
  }

 private:
  template <class Constraint>
  void section(MapReader& map, const char* key, std::vector<Constraint>& constraints) {
    const YamlNode* list = map.optional(key);
    if (list == nullptr) return;
    if (!list->is_sequence()) {
      context_.error(*list, fmt::format("{} must be a list, not {}", key, describe(*list)));
      return;
    }
    for (const YamlPointer& item : list->items) {
      MapReader entry(context_, *item, "a constraint");
      if (!entry.is_map()) continue;
      Constraint constraint;
      constraint.name = name(entry, fmt::format("{} {}", key, constraints.size() + 1));
      fill(entry, constraint);
      entry.finish();
      constraints.push_back(std::move(constraint));
    }
  }

  std::string name(MapReader& map, const std::string& default_name) {
    const YamlNode* node = map.optional("name");
    const std::string name =
        read_text(context_, node, "a constraint's name").value_or(default_name);
    if (!taken_.insert(name).second)
      context_.error(node != nullptr ? *node : map.node(),
                     fmt::format("two constraints are called '{}'", name));
    return name;
  }

  ComponentId memory(MapReader& map) {
    return names_.memory(map.required("memory")).value_or(ComponentId());
  }

  /// A set of tensors. What the Einsum does not use would be asked for in vain.
  std::vector<TensorId> tensors(const YamlNode* node, std::optional<EinsumId> einsum) {
    std::vector<TensorId> found = names_.tensor_set(node, einsum);
    if (node == nullptr || !einsum) return found;
    std::vector<std::string> own;
    for (const TensorId tensor : tensors_of(workload_[*einsum]))
      own.push_back(workload_[tensor].name);
    for (const YamlPointer& part : tensor_set_parts(*node)) {
      const bool is_foreign = std::any_of(found.begin(), found.end(), [&](TensorId tensor) {
        return workload_[tensor].name == part->text &&
               std::find(own.begin(), own.end(), part->text) == own.end();
      });
      if (is_foreign)
        context_.error(
            *part,
            fmt::format("the Einsum {} does not use the tensor {}", workload_[*einsum].name,
                        part->text),
            did_you_mean(part->text, own, fmt::format("it uses {}", fmt::join(own, ", "))));
    }
    return found;
  }

  void fill(MapReader& map, StorageConstraint& c) {
    c.einsum = names_.einsum(map.optional("einsum"));
    c.memory = memory(map);
    const YamlNode* keep = map.optional("keep");
    const YamlNode* forbid = map.optional("forbid");
    if (keep == nullptr && forbid == nullptr)
      context_.error(map.node(), "a storage constraint that says nothing",
                     "give 'keep' or 'forbid': the tensors that it is about");
    c.keep = tensors(keep, c.einsum);
    c.forbid = tensors(forbid, c.einsum);
    for (const TensorId tensor : c.forbid)
      if (std::find(c.keep.begin(), c.keep.end(), tensor) != c.keep.end())
        context_.error(*forbid, fmt::format("{} cannot be kept and forbidden at once",
                                            workload_[tensor].name));
  }

  void fill(MapReader& map, TileConstraint& c) {
    c.einsum = names_.einsum(map.optional("einsum"));
    c.memory = memory(map);
    const auto variable = names_.variable(map.required("rank_variable"));
    c.variable = variable.value_or(RankVariableId());
    const YamlNode *minimum = map.optional("minimum"), *maximum = map.optional("maximum");
    c.tensors = tensors(map.optional("tensors"), c.einsum);
    c.minimum = read_integer(context_, minimum, "minimum", 1).value_or(1);
    c.maximum = read_integer(context_, maximum, "maximum", 1);
    const auto exact = read_integer(context_, map.optional("tile_shape"), "tile_shape", 1);
    if (exact) c.minimum = *exact, c.maximum = *exact;
    for (const YamlNode* other : {minimum, maximum})
      if (other != nullptr && exact)
        context_.error(*other, "'tile_shape' is the minimum and the maximum already",
                       "give 'tile_shape' alone, or 'minimum' and 'maximum'");
    if (minimum == nullptr && maximum == nullptr && map.optional("tile_shape") == nullptr)
      context_.error(map.node(), "a tile constraint that says nothing",
                     "give 'minimum', 'maximum' or 'tile_shape'");
    if (c.maximum && *c.maximum < c.minimum)
      context_.error(*maximum, "the maximum is smaller than the minimum");
    if (variable) check_range(map, c);
  }

  /// A tile larger than the range, or of a variable that is not there, would be kept by leaving the
  /// memory empty.
  void check_range(MapReader& map, const TileConstraint& c) {
    const YamlNode* named = map.optional("einsum");
    const YamlNode* shape = map.optional("tile_shape");
    const YamlNode* least = shape != nullptr ? shape : map.optional("minimum");
    const YamlNode* variable = map.optional("rank_variable");
    if (named != nullptr && !c.einsum) return;
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e) {
      if (c.einsum && c.einsum->index() != e) continue;
      const Einsum& einsum = workload_.einsums[e];
      const auto range =
          std::find_if(einsum.iteration_space.begin(), einsum.iteration_space.end(),
                       [&](const VariableRange& r) { return r.variable == c.variable; });
      if (range == einsum.iteration_space.end() && c.einsum)
        return refuse_variable(*variable, einsum);
      if (range == einsum.iteration_space.end() || least == nullptr || c.minimum <= range->size)
        continue;
      return context_.error(
          *least,
          fmt::format(
              "the tile of {} is to have at least {} values, but in the Einsum {} it has {}",
              variable->text, c.minimum, einsum.name, range->size),
          fmt::format("from 1 to {}{}", range->size,
                      is_meant_for_some(c) ? ", or `einsum:` with the one that is meant" : ""));
    }
  }

  bool is_meant_for_some(const TileConstraint& c) const {
    return !c.einsum &&
           std::any_of(
               workload_.einsums.begin(), workload_.einsums.end(), [&](const Einsum& einsum) {
                 return std::any_of(einsum.iteration_space.begin(), einsum.iteration_space.end(),
                                    [&](const VariableRange& range) {
                                      return range.variable == c.variable &&
                                             range.size >= c.minimum;
                                    });
               });
  }

  void refuse_variable(const YamlNode& node, const Einsum& einsum) {
    std::vector<std::string> own;
    for (const VariableRange& range : einsum.iteration_space)
      own.push_back(workload_[range.variable].name);
    context_.error(node, fmt::format("the Einsum {} has no variable {}", einsum.name, node.text),
                   did_you_mean(node.text, own, fmt::format("it has {}", fmt::join(own, ", "))));
  }

  /// Variables of one Einsum, if one is named: of those that it does not have, loops over none are
  /// asked for.
  std::vector<RankVariableId> variables(const YamlNode* node, std::optional<EinsumId> einsum) {
    const std::vector<RankVariableId> found = names_.variables(node);
    if (node == nullptr) return found;
    std::set<std::string> seen;
    for (const YamlPointer& item : node->items)
      if (item->is_scalar() && !seen.insert(item->text).second)
        context_.error(*item, fmt::format("the variable {} stands here twice", item->text),
                       "name each variable once");
    if (!einsum) return found;
    const auto check = [&](const YamlNode& item) {
      const auto variable = find_rank_variable(workload_, item.text);
      if (variable && !uses_variable(workload_[*einsum], *variable))
        refuse_variable(item, workload_[*einsum]);
    };
    if (node->is_scalar()) check(*node);
    for (const YamlPointer& item : node->items) check(*item);
    return found;
  }

  void fill(MapReader& map, SpatialConstraint& c) {
    c.einsum = names_.einsum(map.optional("einsum"));
    const YamlNode* dimension = map.required("dimension");
    if (const auto component = names_.component(map.required("component"))) {
      c.component = *component;
      c.dimension = names_.dimension(*component, dimension).value_or(0);
    }
    c.variables = variables(map.required("rank_variables"), c.einsum);
  }

  void fill(MapReader& map, FusionConstraint& c) {
    c.tensor = names_.tensor(map.required("tensor")).value_or(TensorId());
    c.fused = read_bool(context_, map.optional("fused"), "fused").value_or(true);
    const YamlNode* memory = map.optional("memory");
    c.memory = names_.memory(memory);
    if (!c.fused && memory != nullptr)
      context_.error(*memory, "a tensor that is not fused lies in the outermost memory",
                     "leave 'memory' out, or give 'fused: true' to have the tensor there");
  }

  void fill(MapReader& map, LoopOrderConstraint& c) {
    c.einsum = names_.einsum(map.optional("einsum"));
    c.memory = memory(map);
    const YamlNode* order = map.required("order");
    if (order != nullptr && order->is_sequence() && order->items.empty())
      context_.error(*order, "a constraint on the order of loops that says nothing",
                     "name rank variables, the outermost first");
    c.order = variables(order, c.einsum);
  }

  void fill(MapReader& map, ScheduleConstraint& c) {
    c.einsums = names_.einsums(map.required("einsums"));
    c.kind = read_choice(context_, map.required("kind"), "kind of schedule", kSplitKinds)
                 .value_or(SplitKind::kSequential);
  }

  void fill(MapReader& map, CollectiveConstraint& c) {
    c.tensor = names_.tensor(map.required("tensor")).value_or(TensorId());
    if (const YamlNode* types = map.optional("types")) {
      for (const YamlPointer& item : types->items)
        if (const auto type =
                read_choice(context_, item.get(), "type of collective", kCollectiveTypes))
          c.types.push_back(*type);
      if (!types->is_sequence()) context_.error(*types, "types must be a list");
    }
    c.over = names_.dimension_names(map.optional("over"));
    c.algorithms = read_names(context_, map.optional("algorithms"), "an algorithm");
    if (const YamlNode* list = map.optional("algorithms"))
      check_algorithms(context_, *list, c.algorithms);
  }

  ReadContext& context_;
  NameResolver names_;
  const Workload& workload_;
  Constraints constraints_;
  std::set<std::string> taken_;
};

}  // namespace

std::optional<Constraints> read_constraints(ReadContext& context, const YamlNode& node,
                                            const Workload& workload, const Arch& arch) {
  return ConstraintsReader(context, workload, arch).read(node);
}

}  // namespace sluice
