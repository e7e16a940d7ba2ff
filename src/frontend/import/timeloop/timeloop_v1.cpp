#include <fmt/format.h>

#include <memory>

#include "frontend/import/reading/made_nodes.h"
#include "frontend/import/timeloop/timeloop.h"
#include "frontend/yaml/values.h"

namespace sluice::timeloop {
namespace {

/// A storage or the arithmetic as a component of version 0.3: all but its name are attributes.
YamlPointer component(const YamlNode& written, const std::string& type, const char* usual_name) {
  auto attributes = made_node(YamlNode::Kind::kMap, written);
  YamlPointer name = made_text(usual_name, written);
  for (const YamlEntry& entry : written.entries) {
    if (entry.key->text == "name")
      name = entry.value;
    else if (entry.key->text != "technology" || entry.value->text != "DRAM")
      attributes->entries.push_back(entry);
  }
  auto node = made_node(YamlNode::Kind::kMap, written);
  node->entries = {{made_text("name", written), name},
                   {made_text("class", written), made_text(type, written)},
                   {made_text("attributes", written), attributes}};
  return node;
}

}  // namespace

void read_arch_v1(ImportContext& context, const YamlNode& node, Specs& specs) {
  note_other_keys(context, node, "the architecture", {"storage", "arithmetic", "version"});
  const YamlNode* storage = find_key(node, "storage");
  const YamlNode* arithmetic = find_key(node, "arithmetic");
  if (storage == nullptr || !storage->is_sequence() || storage->items.empty())
    return context.read.error(storage == nullptr ? node : *storage,
                              "the architecture needs a list 'storage', innermost first");
  if (arithmetic == nullptr || !arithmetic->is_map())
    return context.read.error(arithmetic == nullptr ? node : *arithmetic,
                              "the architecture needs the key 'arithmetic', a map");
  auto local = std::make_shared<YamlNode>(*storage);
  local->items.clear();
  for (auto item = storage->items.rbegin(); item != storage->items.rend(); ++item) {
    const YamlNode* name = (*item)->find("name");
    if (name == nullptr) return context.read.error(**item, "a storage needs the key 'name'");
    const YamlNode* technology = (*item)->find("technology");
    const bool is_dram = technology != nullptr && technology->text == "DRAM";
    local->items.push_back(component(**item, is_dram ? "DRAM" : "storage", "storage"));
  }
  local->items.push_back(component(*arithmetic, "compute", "Arithmetic"));
  auto tree = made_node(YamlNode::Kind::kMap, node);
  tree->entries = {{made_text("local", node), local}};
  context.made.push_back(tree);
  read_arch_v3(context, *tree, specs);
}

}  // namespace sluice::timeloop
