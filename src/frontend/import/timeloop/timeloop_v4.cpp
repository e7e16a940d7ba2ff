#include <fmt/format.h>

#include "frontend/import/timeloop/timeloop.h"
#include "frontend/yaml/values.h"
#include "sluice/support/checked.h"

namespace sluice::timeloop {
namespace {

/// Walks the nodes from the outermost inwards.
class NodeReader {
 public:
  NodeReader(ImportContext& context, Specs& specs) : context_(context), specs_(specs) {}

  void read(const YamlNode& architecture) {
    note_other_keys(context_, architecture, "the architecture", {"version", "nodes", "attributes"});
    if (const YamlNode* attributes = find_key(architecture, "attributes"))
      around_.push_back(attributes);
    walk(*find_key(architecture, "nodes"));
    if (specs_.levels.empty() || specs_.levels.back().kind != Level::Kind::kCompute)
      context_.read.error(architecture, "the architecture does not end with a compute unit",
                          "its class has one of: mac, intmac, fpmac, compute");
  }

 private:
  void walk(const YamlNode& nodes) {
    if (!nodes.is_sequence()) {
      context_.read.error(nodes, fmt::format("nodes must be a list, not {}", describe(nodes)));
      return;
    }
    for (const YamlPointer& node : nodes.items) {
      const YamlNode* below = find_key(*node, "nodes");
      if (below == nullptr) {
        add(*node);
        continue;
      }
      if (node->tag == "!Pipelined")
        context_.note(*node, "the branches of !Pipelined are taken one after another");
      note_other_keys(context_, *node, "a group of nodes", {"nodes"});
      walk(*below);
    }
  }

  void add(const YamlNode& node) {
    if (node.tag != "!Component" && node.tag != "!Container" && node.tag != "!Nothing") {
      context_.read.error(
          node,
          node.tag.empty() ? "a node needs a tag" : fmt::format("there is no node {}", node.tag),
          node.tag.starts_with("!Array")
              ? "it is one of CiMLoop's own nodes, which its processors rewrite for Timeloop"
              : "nodes are !Component, !Container, !Hierarchical, !Parallel");
      return;
    }
    if (node.tag == "!Nothing") return;
    const YamlNode* name = find_key(node, "name");
    if (name == nullptr) {
      context_.read.error(node, fmt::format("{} needs the key 'name'", describe(node)));
      return;
    }
    const std::string text = read_text(context_.read, name, "name").value_or("");
    note_other_keys(context_, node, text,
                    {"name", "class", "subclass", "attributes", "spatial", "constraints", "enabled",
                     "required_actions"});
    if (const YamlNode* enabled = find_key(node, "enabled"))
      if (read_bool(context_.read, enabled, "enabled") == false) {
        context_.note(*enabled, fmt::format("{} is not enabled and left out", text));
        return;
      }
    fan_out(node, text.substr(0, text.find('[')));
    const YamlNode* attributes = find_key(node, "attributes");
    if (attributes != nullptr)
      if (const YamlNode* cycle = find_key(*attributes, "global_cycle_seconds"))
        if (const auto value =
                read_quantity(context_.read, cycle, {.what = "global_cycle_seconds"}))
          specs_.cycle_s = value->value;
    if (const YamlNode* constraints = find_key(node, "constraints"))
      specs_.node_constraints.emplace_back(text.substr(0, text.find('[')), constraints);
    if (node.tag == "!Container") {
      if (attributes != nullptr) around_.push_back(attributes);
      return;
    }
    component(node, text.substr(0, text.find('[')), attributes);
  }

  /// `spatial: {meshX: 4, meshY: 2}` fans out the node and all that follows it.
  void fan_out(const YamlNode& node, const std::string& name) {
    const YamlNode* spatial = find_key(node, "spatial");
    if (spatial == nullptr) return;
    note_other_keys(context_, *spatial, "spatial", {"meshX", "meshY"});
    Level level{
        Level::Kind::kFanout, name, {}, &node, {}, 1, 1, {name, passage_of_container(name)}};
    if (node.tag != "!Container") level.name += "_array";
    for (auto above = specs_.levels.rbegin(); above != specs_.levels.rend(); ++above) {
      if (above->kind == Level::Kind::kStorage) level.spatial_targets.push_back(above->name);
      break;
    }
    if (const YamlNode* x = find_key(*spatial, "meshX"))
      level.fanout_x = read_integer(context_.read, x, "meshX", 1).value_or(1);
    if (const YamlNode* y = find_key(*spatial, "meshY"))
      level.fanout_y = read_integer(context_.read, y, "meshY", 1).value_or(1);
    specs_.levels.push_back(std::move(level));
  }

  void component(const YamlNode& node, const std::string& name, const YamlNode* attributes) {
    const YamlNode* type = find_key(node, "class");
    if (type == nullptr) type = find_key(node, "subclass");
    if (type == nullptr) {
      context_.read.error(node, fmt::format("{} needs the key 'class'", name));
      return;
    }
    Level level;
    level.name = name;
    level.type = read_text(context_.read, type, "class").value_or("");
    level.node = &node;
    std::string classes = level.type;
    if (const YamlNode* subclass = find_key(node, "subclass")) classes += " " + subclass->text;
    const bool computes = is_compute_class(classes) && !is_storage_class(level.type);
    if (!computes && !is_storage_class(classes)) {
      context_.note(node,
                    fmt::format("{} is of the class {}, which is neither storage nor compute, "
                                "and is left out",
                                name, level.type));
      return;
    }
    level.kind = computes ? Level::Kind::kCompute : Level::Kind::kStorage;
    for (const YamlNode* outer : around_) level.attributes.add(outer);
    level.attributes.add(attributes);
    use_mesh(level.attributes, find_key(node, "spatial"));
    specs_.levels.push_back(std::move(level));
  }

  /// `meshX` and `meshY` among the attributes say nothing new where `spatial` says the same.
  static void use_mesh(Attributes& attributes, const YamlNode* spatial) {
    for (const char* key : {"meshX", "meshY"}) {
      Attributes looked = attributes;
      const YamlNode* value = looked.find({key});
      const YamlNode* known = spatial == nullptr ? nullptr : find_key(*spatial, key);
      if (value != nullptr && value->text == (known == nullptr ? "1" : known->text))
        attributes.find({key});
    }
  }

  ImportContext& context_;
  Specs& specs_;
  std::vector<const YamlNode*> around_;  ///< attributes of the containers around
};

}  // namespace

void read_arch_v4(ImportContext& context, const YamlNode& node, Specs& specs) {
  NodeReader(context, specs).read(node);
}

}  // namespace sluice::timeloop
