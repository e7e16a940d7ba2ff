#include "frontend/mapping/mapping_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/mapping/mapping_words.h"
#include "frontend/names/name_resolver.h"
#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"

namespace sluice {
namespace {

class MappingReader {
 public:
  MappingReader(ReadContext& context, const Workload& workload, const Arch& arch,
                MappingPlaces* places)
      : context_(context), names_(context, workload, arch), arch_(arch), places_(places) {}

  std::optional<Mapping> read(const YamlNode& node, const YamlNode* plan) {
    const std::size_t before = context_.n_errors();
    Mapping mapping;
    MapReader map(context_, node, "a mapping");
    const YamlNode* nodes = map.required("nodes");
    map.finish();
    if (nodes != nullptr) mapping.nodes = node_list(*nodes);
    if (plan != nullptr) mapping.preload = preload(*plan);
    if (context_.n_errors() != before) return std::nullopt;
    return mapping;
  }

 private:
  using Reader = Node (MappingReader::*)(MapReader&);
  struct TaggedReader {
    const char* tag;
    Reader read;
  };
  static constexpr std::array<TaggedReader, 9> readers() {
    return {{{"!Storage", &MappingReader::storage},
             {"!Toll", &MappingReader::storage},
             {"!Temporal", &MappingReader::temporal},
             {"!Spatial", &MappingReader::spatial},
             {"!Sequential", &MappingReader::sequential},
             {"!Pipeline", &MappingReader::pipeline},
             {"!Parallel", &MappingReader::parallel},
             {"!Collective", &MappingReader::collective},
             {"!Compute", &MappingReader::compute}}};
  }

  NodeList node_list(const YamlNode& list) {
    NodeList nodes;
    if (!list.is_sequence()) {
      context_.error(list, fmt::format("nodes must be a list, not {}", describe(list)));
      return nodes;
    }
    for (const YamlPointer& item : list.items)
      if (auto node = read_node(*item)) nodes.push_back(std::move(*node));
    return nodes;
  }

  std::optional<Node> read_node(const YamlNode& node) {
    for (const TaggedReader& reader : readers()) {
      if (node.tag != reader.tag) continue;
      MapReader map(context_, node, std::string("a ") + reader.tag);
      if (!map.is_map()) return std::nullopt;
      if (places_) places_->push_back(context_.place_of(node));
      Node result = (this->*reader.read)(map);
      map.finish();
      return result;
    }
    report_tag(node);
    return std::nullopt;
  }

  void report_tag(const YamlNode& node) {
    std::vector<std::string> tags;
    for (const TaggedReader& reader : readers()) tags.emplace_back(reader.tag);
    const std::string what = node.tag.empty() ? "a node without a tag" : "unknown tag " + node.tag;
    const std::string hint =
        node.tag == "!Nested" ? "!Nested stands directly below a split"
        : node.tag.empty() && node.is_map() && node.find("node") != nullptr
            ? "mappings in JSON are read by `evaluate --batch FILE`, one a line"
            : did_you_mean(node.tag, tags);
    context_.error(node, fmt::format("{} in a mapping", node.tag == "!Nested" ? "a !Nested" : what),
                   hint.empty() ? fmt::format("nodes are {}", fmt::join(tags, ", ")) : hint);
  }

  // --- nodes ------------------------------------------------------------------------------------

  Node storage(MapReader& map) {
    StorageNode node;
    const YamlNode* tensors = map.required("tensors");
    node.tensors = names_.tensors(tensors);
    if (tensors != nullptr && tensors->is_sequence() && tensors->items.empty())
      context_.error(*tensors, "a !Storage keeps at least one tensor");
    check_distinct(tensors, node.tensors);
    node.component = names_.memory(map.required("component")).value_or(ComponentId());
    node.einsums = names_.einsums(map.optional("einsums"));
    node.persistent = flag(map, "persistent");
    node.resident = flag(map, "resident");
    node.sliding = flag(map, "sliding");
    node.incremental = flag(map, "incremental");
    if (node.sliding && node.incremental)
      context_.error(map.node(), "'incremental' fetches only new rows anyway: leave out 'sliding'");
    const YamlNode* shared_by = map.optional("shared_by");
    node.shared_by = read_integer(context_, shared_by, "shared_by", 1);
    node.over = names_.dimension_name(map.optional("over"));
    node.along = names_.variable(map.optional("along"));
    if (shared_by == nullptr && (node.over || node.along))
      context_.error(map.node(), "'over' and 'along' belong to 'shared_by'",
                     "shared_by: how many instances have a part of the tile each");
    return {node};
  }

  void check_distinct(const YamlNode* place, std::vector<TensorId> tensors) {
    std::sort(tensors.begin(), tensors.end());
    if (std::adjacent_find(tensors.begin(), tensors.end()) != tensors.end())
      context_.error(*place, "a tensor is named twice");
  }

  bool flag(MapReader& map, const char* key) {
    return read_bool(context_, map.optional(key), key).value_or(false);
  }

  std::vector<RankVariableId> loop_variables(MapReader& map) {
    const YamlNode* node = map.required("rank_variable");
    if (node != nullptr && node->is_sequence() && node->items.empty())
      context_.error(*node, "a loop needs a rank variable");
    return names_.variables(node);
  }

  Node temporal(MapReader& map) {
    TemporalNode node;
    node.variables = loop_variables(map);
    node.tile_shape =
        read_integer(context_, map.required("tile_shape"), "tile_shape", 1).value_or(1);
    node.initial_tile_shape =
        read_integer(context_, map.optional("initial_tile_shape"), "initial_tile_shape", 1);
    return {node};
  }

  Node spatial(MapReader& map) {
    SpatialNode node;
    node.variables = loop_variables(map);
    node.tile_shape =
        read_integer(context_, map.required("tile_shape"), "tile_shape", 1).value_or(1);
    node.initial_tile_shape =
        read_integer(context_, map.optional("initial_tile_shape"), "initial_tile_shape", 1);
    const YamlNode* name = map.required("name");
    if (const auto component = names_.component(map.required("component"))) {
      node.component = *component;
      node.dimension = names_.dimension(*component, name).value_or(0);
    }
    return {node};
  }

  Node compute(MapReader& map) {
    ComputeNode node;
    node.einsum = names_.einsum(map.required("einsum")).value_or(EinsumId());
    const YamlNode* place = map.required("component");
    if (const auto component = names_.component(place)) {
      node.component = *component;
      if (!arch_[*component].is_compute())
        context_.error(*place, fmt::format("{} is no !Compute", arch_[*component].name));
    }
    return {node};
  }

  Node collective(MapReader& map) {
    CollectiveNode node;
    node.type = read_choice(context_, map.required("type"), "type of collective", kCollectiveTypes)
                    .value_or(CollectiveType::kAllReduce);
    node.tensor = names_.tensor(map.required("tensor")).value_or(TensorId());
    node.op = read_choice(context_, map.optional("op"), "reduction", kReductions);
    node.src = names_.memory(map.required("src")).value_or(ComponentId());
    node.dst = names_.memory(map.optional("dst")).value_or(node.src);
    node.over = names_.dimension_names(map.required("over"));
    if (const YamlNode* root = map.optional("root")) node.root = root_coordinates(*root, node.over);
    const YamlNode* algorithm = map.optional("algorithm");
    node.algorithm = read_name(context_, algorithm, "an algorithm").value_or("auto");
    if (algorithm) check_algorithms(context_, *algorithm, {node.algorithm});
    check_reduction(map.node(), node);
    return {node};
  }

  void check_reduction(const YamlNode& place, const CollectiveNode& node) {
    const bool reduces =
        node.type == CollectiveType::kAllReduce || node.type == CollectiveType::kReduceScatter;
    if (reduces && !node.op && place.find("op") == nullptr)
      context_.error(place, "a reducing !Collective needs the key 'op'",
                     "one of sum, prod, min, max");
    if (!reduces && node.op)
      context_.error(*place.find("op"), "this type of !Collective reduces nothing");
  }

  std::vector<std::pair<std::string, std::int64_t>> root_coordinates(
      const YamlNode& node, const std::vector<std::string>& over) {
    std::vector<std::pair<std::string, std::int64_t>> root;
    if (!node.is_map()) {
      std::vector<std::string> zeros;
      for (const std::string& dimension : over) zeros.push_back(dimension + ": 0");
      context_.error(node, "root must be a map with the coordinates of one instance",
                     fmt::format("root: {{{}}}", fmt::join(zeros, ", ")));
      return root;
    }
    for (const YamlEntry& entry : node.entries) {
      if (std::find(over.begin(), over.end(), entry.key->text) == over.end())
        context_.error(*entry.key,
                       fmt::format("'{}' is not among the dimensions in 'over'", entry.key->text));
      const auto value = read_integer(context_, entry.value.get(), "a coordinate of root", 0);
      if (value) root.emplace_back(entry.key->text, *value);
    }
    return root;
  }

  // --- splits -----------------------------------------------------------------------------------

  Node sequential(MapReader& map) { return {split(map, SplitKind::kSequential)}; }
  Node parallel(MapReader& map) { return {divided(map, SplitKind::kParallel)}; }

  Node pipeline(MapReader& map) {
    SplitNode node = divided(map, SplitKind::kPipeline);
    if (const YamlNode* forward = map.optional("forward")) {
      if (!forward->is_map())
        context_.error(*forward, fmt::format("forward must be a map, not {}", describe(*forward)),
                       "forward: {TENSOR: MEMORY}");
      for (const YamlEntry& entry : forward->entries) {
        const auto tensor = names_.tensor(entry.key.get());
        const auto memory = names_.memory(entry.value.get());
        if (tensor && memory) node.forward.emplace_back(*tensor, *memory);
      }
    }
    return {node};
  }

  SplitNode split(MapReader& map, SplitKind kind) {
    SplitNode node;
    node.kind = kind;
    const YamlNode* list = map.required("nodes");
    if (list == nullptr) return node;
    if (!list->is_sequence() || list->items.empty()) {
      context_.error(*list, fmt::format("a split needs a list of children, not {}",
                                        list->is_sequence() ? "an empty one" : describe(*list)));
      return node;
    }
    for (const YamlPointer& child : list->items) node.children.push_back(child_list(*child));
    return node;
  }

  NodeList child_list(const YamlNode& child) {
    if (child.tag != "!Nested") {
      NodeList single;
      if (auto node = read_node(child)) single.push_back(std::move(*node));
      return single;
    }
    MapReader map(context_, child, "a !Nested");
    const YamlNode* nodes = map.required("nodes");
    map.finish();
    return nodes != nullptr ? node_list(*nodes) : NodeList();
  }

  /// A split whose children may have regions of their own.
  SplitNode divided(MapReader& map, SplitKind kind) {
    SplitNode node = split(map, kind);
    node.over = names_.dimension_name(map.optional("over"));
    const YamlNode* shares = map.optional("shares");
    if (shares == nullptr) {
      if (const YamlNode* over = map.node().find("over"))
        context_.error(*over, "'over' needs 'shares', the instances that each child has",
                       "shares: [one number for each child]");
      return node;
    }
    for (const YamlPointer& item : shares->items)
      if (const auto share = read_integer(context_, item.get(), "a share", 1))
        node.shares.push_back(*share);
    const auto children =
        std::count_if(node.children.begin(), node.children.end(), [](const NodeList& child) {
          return child.size() != 1 || !std::holds_alternative<CollectiveNode>(child.front().kind);
        });
    if (!shares->is_sequence() || shares->items.size() != static_cast<std::size_t>(children))
      context_.error(
          *shares, fmt::format("shares must be a list of {} numbers, one for each child", children),
          children < static_cast<std::ptrdiff_t>(node.children.size())
              ? "a !Collective is no child that has a share"
              : "");
    if (map.node().find("over") == nullptr)
      context_.error(*shares, "'shares' needs 'over', the spatial dimension that is divided",
                     "over: name of a spatial dimension");
    return node;
  }

  std::vector<PreloadState> preload(const YamlNode& plan) {
    std::vector<PreloadState> states;
    MapReader map(context_, plan, "a plan");
    const YamlNode* node = map.optional("preload");
    map.finish();
    if (node == nullptr || !MapReader(context_, *node, "preload").is_map()) return states;
    context_.warning(*node,
                     "'preload' is kept beside the mapping; counts and prices do not know it");
    for (const YamlEntry& entry : node->entries) {
      MapReader state(context_, *entry.value, "a preload state");
      const auto tensor = names_.tensor(entry.key.get());
      const auto shares = read_integer(context_, state.required("shares"), "shares", 1);
      const auto over = names_.dimension_name(state.required("over"));
      state.finish();
      if (tensor && shares && over) states.push_back({*tensor, *shares, *over});
    }
    return states;
  }

  ReadContext& context_;
  NameResolver names_;
  const Arch& arch_;
  MappingPlaces* places_;
};

/// Nodes of a list with all that is below them.
std::size_t size_of(const NodeList& list) {
  std::size_t size = list.size();
  for (const Node& node : list)
    if (const SplitNode* split = std::get_if<SplitNode>(&node.kind))
      for (const NodeList& child : split->children) size += size_of(child);
  return size;
}

}  // namespace

const NodePlace* place_of(const Mapping& mapping, const MappingPlaces& places,
                          const std::vector<std::size_t>& node_path) {
  const NodeList* list = &mapping.nodes;
  std::size_t index = 0;
  for (std::size_t p = 0; p < node_path.size(); p += 2) {
    if (node_path[p] >= list->size()) return nullptr;
    for (std::size_t i = 0; i < node_path[p]; ++i) {
      ++index;
      if (const SplitNode* split = std::get_if<SplitNode>(&(*list)[i].kind))
        for (const NodeList& child : split->children) index += size_of(child);
    }
    if (p + 1 >= node_path.size()) return index < places.size() ? &places[index] : nullptr;
    const SplitNode* split = std::get_if<SplitNode>(&(*list)[node_path[p]].kind);
    if (!split || node_path[p + 1] >= split->children.size()) return nullptr;
    ++index;
    for (std::size_t c = 0; c < node_path[p + 1]; ++c) index += size_of(split->children[c]);
    list = &split->children[node_path[p + 1]];
  }
  return nullptr;
}

std::optional<Mapping> read_mapping(ReadContext& context, const YamlNode& node,
                                    const YamlNode* plan, const Workload& workload,
                                    const Arch& arch, MappingPlaces* places) {
  return MappingReader(context, workload, arch, places).read(node, plan);
}

}  // namespace sluice
