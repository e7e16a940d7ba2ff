#include "frontend/import/accelforge/arch_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <regex>
#include <vector>

#include "frontend/import/accelforge/total_latency.h"
#include "frontend/import/reading/made_nodes.h"
#include "support/yaml_text.h"

namespace sluice {
namespace {

using MadeNode = std::shared_ptr<YamlNode>;

MadeNode made_map(const YamlNode& place) { return made_node(YamlNode::Kind::kMap, place); }
MadeNode made_null(const YamlNode& place) { return made_node(YamlNode::Kind::kNull, place); }

class ArchForms {
 public:
  ArchForms(ImportContext& context, const ArchVariables& variables, std::optional<double> bits,
            const timeloop::EnergyTable* energies)
      : context_(context), variables_(variables), bits_(bits), energies_(energies) {}

  YamlPointer arch(const YamlNode& written) {
    auto arch = std::make_shared<YamlNode>(written);
    take(*arch, "variables");
    if (const YamlNode* clock = arch->find("clock"))
      if (const auto hz = variables_.number(clock->text, bits_); hz && *hz > 0) cycle_s_ = 1 / *hz;
    for (YamlEntry& entry : arch->entries)
      if (entry.key->text == "nodes") entry.value = nodes(*entry.value);
    return arch;
  }

 private:
  YamlPointer nodes(const YamlNode& written) {
    auto list = std::make_shared<YamlNode>(written);
    list->items.clear();
    for (const YamlPointer& item : without_arrays(written.items)) {
      auto node = std::make_shared<YamlNode>(*item);
      if (node->tag == "!Component" || node->find("attributes") != nullptr) {
        context_.read.error(*item,
                            "an early draft of AccelForge's architectures: no release of it "
                            "reads components with 'class' and 'attributes'");
        continue;
      }
      for (YamlEntry& entry : node->entries)
        if (entry.key->text == "nodes") entry.value = nodes(*entry.value);
      if (node->find("nodes") == nullptr) node = component(node);
      for (const MadeNode& part : by_direction(node)) list->items.push_back(part);
    }
    return list;
  }

  /// The components of an !Array stand above its dimensions, so these become a container's.
  std::vector<YamlPointer> without_arrays(const std::vector<YamlPointer>& written) {
    std::vector<YamlPointer> items;
    for (const YamlPointer& item : written) {
      if (item->tag != "!Array") {
        items.push_back(item);
        continue;
      }
      auto container = std::make_shared<YamlNode>(*item);
      container->tag = "!Container";
      if (const YamlPointer parts = take(*container, "nodes"))
        for (const YamlPointer& part : parts->items) {
          check_part_of_array(*part);
          items.push_back(part);
        }
      items.push_back(container);
    }
    return items;
  }

  void check_part_of_array(const YamlNode& part) {
    if (part.tag == "!Compute" || part.find("nodes") != nullptr)
      context_.read.error(part, "a component of an !Array has to be a memory, toll or network");
    else if (const YamlNode* spatial = part.find("spatial"); spatial && !spatial->items.empty())
      context_.read.error(*spatial,
                          "a component of an !Array has dimensions of its own: how many of its "
                          "parts hold a tile would follow from the spatial loops further in");
  }

  MadeNode component(MadeNode node) {
    const YamlNode* name = node->find("name");
    name_ = name == nullptr ? "?" : name->text;
    const YamlNode* type = node->find("component_class");
    const bool is_dummy = type != nullptr && type->text == "Dummy";
    if (const YamlPointer spatial = take(*node, "spatial"))
      set(*node, "spatial", fanouts(*spatial));
    note_space(*node);
    put_names_of_memories_above(*node);
    const bool acts = node->tag == "!Memory" || node->tag == "!Toll" || node->tag == "!Compute";
    is_unknown_ = false;
    write_out_action_latencies(*node);
    put_values(*node);
    if (node->tag == "!Network") return network(std::move(node));
    const Scales scales = take_scales(*node);
    if (acts) actions(*node, is_dummy, scales);
    if (acts) translate_total_latency(context_, *node, name_);
    numbers_of_component(*node, scales);
    if (is_dummy) {
      take(*node, "component_class");
      set_if_absent(*node, "area", "0");
      set_if_absent(*node, "leak_power", "0");
    }
    return node;
  }

  /// `Above`: what the memories before this one hold.
  void put_names_of_memories_above(YamlNode& node) {
    static const std::regex kAbove(R"(\bAbove\b)");
    const std::string above =
        memories_.empty() ? "Nothing" : fmt::format("({})", fmt::join(memories_, " | "));
    if (const YamlNode* written = node.find("tensors")) {
      auto tensors = std::make_shared<YamlNode>(*written);
      for (YamlEntry& entry : tensors->entries)
        if (std::regex_search(entry.value->text, kAbove))
          entry.value =
              made_text(std::regex_replace(entry.value->text, kAbove, above), *entry.value);
      set(node, "tensors", tensors);
    }
    if (node.tag == "!Memory") memories_.push_back(name_);
  }

  /// What numbers are multiplied by; none where that has no value here.
  struct Scales {
    std::optional<double> energy = 1, throughput = 1, area = 1, leak_power = 1;
  };

  Scales take_scales(YamlNode& node) {
    const auto scale = [&](YamlNode& from, const char* key) -> std::optional<double> {
      const YamlPointer written = take(from, key);
      return written ? variables_.number(written->text, bits_) : std::optional<double>(1);
    };
    const auto actions = scale(node, "actions_scale"),
               instances = scale(node, "n_parallel_instances");
    const auto latency = scale(node, "latency_scale");
    Scales scales;
    scales.energy = product(scale(node, "energy_scale"), actions);
    scales.throughput = product(product(scale(node, "throughput_scale"), instances),
                                product(inverse(actions), inverse(latency)));
    scales.area = product(scale(node, "area_scale"), instances);
    scales.leak_power = product(scale(node, "leak_power_scale"), instances);
    if (node.find("total_latency") != nullptr && actions != 1.0)
      context_.note(node, fmt::format("'actions_scale' of {} counts in its energy, not in its "
                                      "'total_latency'",
                                      name_));
    return scales;
  }

  static std::optional<double> product(std::optional<double> a, std::optional<double> b) {
    return a && b ? std::optional(*a * *b) : std::nullopt;
  }
  static std::optional<double> inverse(std::optional<double> a) {
    return a && *a > 0 ? std::optional(1 / *a) : std::nullopt;
  }

  /// A number times its scale; null, and said, where the scale has no value here.
  void scaled(YamlNode& map, const std::string& key, std::optional<double> scale) {
    const YamlPointer written = scale == 1.0 ? nullptr : take(map, key);
    if (!written) return;
    if (!scale) {
      context_.note(
          *written,
          fmt::format("the scale of '{}' of {} has no value here: it is unknown", key, name_));
      set(map, key, made_null(*written));
    } else if (const auto number = variables_.number(written->text, bits_)) {
      set(map, key, made_text(yaml_number(*number * *scale), *written));
    } else {
      set(map, key,
          made_text(fmt::format("({}) * {}", written->text, yaml_number(*scale)), *written));
    }
  }

  /// The table knows a toll that became two under the name of both.
  void numbers_of_component(YamlNode& node, const Scales& scales) {
    if (energies_ != nullptr) {
      if (const auto area = energies_->area(name_))
        set(node, "area", made_text(yaml_number(*area), node));
      if (const auto leakage = energies_->leakage(name_, cycle_s_)) {
        if (!leakage->power_w)
          context_.read.error(*leakage->place,
                              fmt::format("the leakage of {} is an energy per cycle, and the "
                                          "architecture has no clock",
                                          name_),
                              "give it in W, or write 'clock' into the architecture");
        set(node, "leak_power", made_text(yaml_number(leakage->power_w.value_or(0)), node));
      }
    }
    scaled(node, "area", scales.area);
    scaled(node, "leak_power", scales.leak_power);
  }

  void numbers_of_action(YamlNode& action, const Scales& scales) {
    const YamlNode* name = action.find("name");
    if (energies_ != nullptr && name != nullptr) {
      if (const auto energy = energies_->energy(name_, {name->text}))
        set(action, "energy", made_text(yaml_number(*energy), action));
      if (const auto throughput = energies_->throughput(name_, name->text);
          throughput && action.find("throughput") == nullptr)
        set(action, "throughput",
            made_text(std::isinf(*throughput) ? "inf" : yaml_number(*throughput), action));
    }
    for (const char* key : {"energy", "throughput"}) {
      const YamlNode* written = action.find(key);
      if (written == nullptr || written->is_null() || variables_.resolved(written->text)) continue;
      context_.note(*written, fmt::format("the {} of {} depends on {}, which has no value here: it "
                                          "is unknown (null)",
                                          key, name_, variables_.unknown_part(written->text)));
      set(action, key, made_null(*written));
    }
    const Scales own = take_scales(action);
    scaled(action, "energy", product(scales.energy, own.energy));
    scaled(action, "throughput", product(scales.throughput, own.throughput));
    if (!is_unknown_) return;
    set(action, "energy", made_null(action));
    set(action, "throughput", made_null(action));
  }

  /// Expressions over variables become expressions without; a size that depends on what has no
  /// value here is not bounded.
  void put_values(YamlNode& node) {
    for (YamlEntry& entry : node.entries) {
      const std::string& key = entry.key->text;
      if (key == "extra_attributes_for_component_model" || key == "tensors" || key == "name")
        continue;
      if (key == "size" && entry.value->is_scalar() && !variables_.resolved(entry.value->text)) {
        context_.note(*entry.key,
                      fmt::format("the size of {} depends on {}, which has no value here: it is "
                                  "not bounded",
                                  name_, variables_.unknown_part(entry.value->text)));
        entry.value = made_text("inf", *entry.value);
        continue;
      }
      entry.value = valued(entry.value);
    }
    for (const char* key :
         {"bits_per_value", "bits_per_action", "values_per_action", "total_latency"})
      forget_if_unknown(node, key);
  }

  /// What an action moves, or takes, depends on what has no value here: so does all that follows.
  void forget_if_unknown(YamlNode& map, const char* key) {
    const YamlNode* written = map.find(key);
    if (written == nullptr) return;
    std::vector<std::string> texts = {written->text};
    for (const YamlEntry& entry : written->entries) texts.push_back(entry.value->text);
    for (const std::string& text : texts) {
      if (text.empty()) continue;
      const bool is_zero = variables_.number(text, bits_) == 0.0;
      if (!is_zero && variables_.resolved(text)) continue;
      const std::string reason = is_zero ? "is 0 for some tensors"
                                         : fmt::format("depends on {}, which has no value here",
                                                       variables_.unknown_part(text));
      context_.note(*written,
                    fmt::format("'{}' of {} {}: it is left out, and energies and times of {} are "
                                "unknown (null)",
                                key, name_, reason, name_));
      is_unknown_ = true;
      take(map, key);
      return;
    }
  }

  YamlPointer valued(const YamlPointer& written) {
    if (written->is_scalar()) {
      const auto parsed = variables_.resolved(written->text);
      if (!parsed || written->quoted) return written;
      const auto plain = Expression::parse(written->text);
      if (plain && *plain == *parsed) return written;
      return made_text(parsed->to_string(), *written);
    }
    auto copy = std::make_shared<YamlNode>(*written);
    for (YamlPointer& item : copy->items) item = valued(item);
    for (YamlEntry& entry : copy->entries) entry.value = valued(entry.value);
    return copy;
  }

  /// Several instances that work as one leave fewer: `usage_scale`.
  YamlPointer fanouts(const YamlNode& spatial) {
    auto list = std::make_shared<YamlNode>(spatial);
    for (YamlPointer& item : list->items) {
      auto dimension = std::make_shared<YamlNode>(*item);
      const YamlPointer usage = take(*dimension, "usage_scale");
      const YamlNode* fanout = dimension->find("fanout");
      if (usage != nullptr && fanout != nullptr) {
        const auto scale = variables_.number(usage->text, bits_);
        const auto all = variables_.number(fanout->text, bits_);
        if (!scale || !all || *scale <= 0)
          context_.note(*usage,
                        fmt::format("'usage_scale' of {} has no value here and is left out: "
                                    "more instances can be used than AccelForge lets",
                                    name_));
        else
          set(*dimension, "fanout",
              made_text(yaml_number(std::max(1.0, std::floor(*all / *scale))), *fanout));
      }
      item = dimension;
    }
    return list;
  }

  /// Limits of AccelForge's search that mappings here have not.
  void note_space(YamlNode& node) {
    const YamlNode* tensors = node.find("tensors");
    if (tensors == nullptr || !tensors->is_map()) return;
    auto kept = std::make_shared<YamlNode>(*tensors);
    for (const char* key : {"no_refetch_from_above", "no_resend_to_below"})
      if (const YamlPointer value = take(*kept, key))
        context_.note(*value, fmt::format("'{}' of {} is left out: a search here has mappings that "
                                          "AccelForge's has not, which may cost less",
                                          key, name_));
    for (const char* key : {"force_memory_hierarchy_order", "tensor_order_options"})
      if (const YamlPointer value = take(*kept, key))
        context_.note(*value, fmt::format("'{}' of {} is left out: it says where AccelForge's "
                                          "search looks",
                                          key, name_));
    set(node, "tensors", kept);
  }

  void actions(YamlNode& node, bool is_dummy, const Scales& scales) {
    const YamlPointer values = take(node, "values_per_action");
    const YamlPointer bits = take(node, "bits_per_action");
    std::vector<std::string> needed = {"compute"};
    if (node.tag == "!Memory") needed = {"read", "write"};
    if (node.tag == "!Toll") needed = {"read"};
    auto list = std::make_shared<YamlNode>();
    list->kind = YamlNode::Kind::kSequence;
    list->position = node.position;
    if (const YamlPointer written = take(node, "actions")) list->items = written->items;
    const auto has = [&](const std::string& action) {
      return std::any_of(list->items.begin(), list->items.end(), [&](const YamlPointer& item) {
        const YamlNode* name = item->find("name");
        return name != nullptr && name->text == action;
      });
    };
    for (const std::string& action : needed) {
      if (has(action) || (node.tag == "!Compute" && !list->items.empty())) continue;
      MadeNode made = made_map(node);
      set(*made, "name", made_text(action, node));
      list->items.push_back(made);
    }
    for (YamlPointer& item : list->items) {
      auto action = std::make_shared<YamlNode>(*item);
      const bool says = action->find("values_per_action") || action->find("bits_per_action");
      if (!says && bits) set(*action, "bits_per_action", bits);
      if (!says && !bits && values) set(*action, "values_per_action", values);
      if (const YamlPointer per_action = take(*action, "values_per_action"))
        set(*action, "values_per_action", one_number(per_action));
      latency(*action);
      if (is_dummy) set_if_absent(*action, "energy", "0");
      if (is_dummy) set_if_absent(*action, "throughput", "inf");
      for (const char* key : {"bits_per_action", "values_per_action"})
        forget_if_unknown(*action, key);
      numbers_of_action(*action, scales);
      item = action;
    }
    update_extent(*list);
    set(node, "actions", list);
  }

  /// `{All: 1}`, or the same number for each tensor.
  YamlPointer one_number(const YamlPointer& written) {
    if (!written->is_map() || written->entries.empty()) return written;
    const YamlPointer first = written->entries.front().value;
    const auto number = variables_.number(first->text, bits_);
    for (const YamlEntry& entry : written->entries)
      if (entry.value->text != first->text && variables_.number(entry.value->text, bits_) != number)
        context_.read.error(*entry.value,
                            fmt::format("'values_per_action' of {} differs between tensors: an "
                                        "action here moves as many values of each",
                                        name_));
    return first;
  }

  /// Seconds of one action, in place of a throughput.
  void latency(YamlNode& action) {
    const YamlPointer written = take(action, "latency");
    if (!written) return;
    if (action.find("throughput") != nullptr)
      return context_.note(*written,
                           fmt::format("'latency' of an action of {} is left out: its 'throughput' "
                                       "says how many there are in a second",
                                       name_));
    const auto seconds = variables_.number(written->text, bits_);
    set(action, "throughput",
        made_text(!seconds        ? fmt::format("1 / ({})", written->text)
                  : *seconds == 0 ? "inf"
                                  : yaml_number(1 / *seconds),
                  *written));
  }

  /// A network is a mesh where nothing else is said, and its action is a hop.
  MadeNode network(MadeNode node) {
    set_if_absent(*node, "topology", "mesh");
    const YamlPointer written = take(*node, "actions");
    MadeNode hop = made_map(*node);
    if (written)
      for (const YamlPointer& item : written->items)
        if (const YamlNode* name = item->find("name"); name != nullptr && name->text == "hop")
          hop = std::make_shared<YamlNode>(*item);
    latency(*hop);
    for (const auto& [from, to] :
         {std::pair("energy", "hop_energy"), std::pair("throughput", "link_bandwidth"),
          std::pair("bits_per_action", "bits_per_hop_energy")})
      if (const YamlPointer value = take(*hop, from); value && node->find(to) == nullptr)
        set(*node, to, value);
    set_if_absent(*node, "link_bandwidth", "inf");
    for (const char* key : {"area", "leak_power"})
      if (const YamlPointer value = take(*node, key); value && value->text != "0")
        context_.note(*value, fmt::format("'{}' of {} has no counterpart and is left out: networks "
                                          "here have hops only",
                                          key, name_));
    return node;
  }

  /// A toll whose tensors go different ways is one toll for each of them.
  std::vector<MadeNode> by_direction(const MadeNode& node) {
    const YamlNode* written = node->find("direction");
    if (node->tag != "!Toll" || written == nullptr || !written->is_map()) return {node};
    const YamlNode* tensors = node->find("tensors");
    const YamlNode* keep = tensors == nullptr ? nullptr : tensors->find("keep");
    std::vector<MadeNode> parts;
    for (const YamlEntry& entry : written->entries) {
      auto part = std::make_shared<YamlNode>(*node);
      const std::string suffix = parts.empty() ? "" : "_" + entry.value->text;
      auto kept = made_map(*node);
      set(*kept, "keep",
          made_text(
              fmt::format("({}) & ({})", keep == nullptr ? "All" : keep->text, entry.key->text),
              keep == nullptr ? *node : *keep));
      set(*part, "tensors", kept);
      set(*part, "direction", entry.value);
      if (!parts.empty()) {
        set(*part, "name", made_text(name_ + suffix, *node));
        set(*part, "area", made_text("0", *node));
        set(*part, "leak_power", made_text("0", *node));
        context_.note(*entry.key, fmt::format("{} is two tolls, {} for {}: a toll here has one "
                                              "direction",
                                              name_, name_ + suffix, entry.key->text));
      }
      parts.push_back(part);
    }
    return parts;
  }

  ImportContext& context_;
  const ArchVariables& variables_;
  std::optional<double> bits_;
  const timeloop::EnergyTable* energies_;
  std::optional<double> cycle_s_;      ///< from the architecture's clock
  std::vector<std::string> memories_;  ///< so far, outermost first
  bool is_unknown_ = false;            ///< how often the actions of the component happen
  std::string name_;                   ///< of the component that is looked at
};

}  // namespace

YamlPointer with_own_forms(ImportContext& context, const YamlPointer& arch,
                           const ArchVariables& variables, std::optional<double> bits,
                           const timeloop::EnergyTable* energies) {
  YamlPointer own = ArchForms(context, variables, bits, energies).arch(*arch);
  context.made.push_back(own);
  return own;
}

}  // namespace sluice
