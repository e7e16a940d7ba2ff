#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "frontend/import/timeloop/timeloop.h"
#include "frontend/yaml/values.h"
#include "sluice/support/checked.h"

namespace sluice::timeloop {
namespace {

/// `PE[0..255]`: the name, and how many there are.
struct ArrayName {
  std::string name;
  std::int64_t count = 1;
};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Walks from the system down to the compute.
class TreeReader {
 public:
  TreeReader(ImportContext& context, Specs& specs) : context_(context), specs_(specs) {}

  void read(const YamlNode& architecture) {
    note_other_keys(context_, architecture, "the architecture",
                    {"version", "subtree", "attributes", "local", "name"});
    if (is_flattened(architecture)) return;
    walk(architecture, {});
    if (compute_) {  // wherever it is written, it is the innermost level
      fan_out(*compute_, compute_instances_, compute_array_);
      specs_.levels.push_back(std::move(*compute_));
    }
    if (is_broken_) return;
    if (specs_.levels.empty() || specs_.levels.back().kind != Level::Kind::kCompute)
      context_.read.error(architecture, "the architecture has no compute unit",
                          "its class has one of: mac, intmac, fpmac, compute");
  }

 private:
  /// Accelergy writes components with the path to each (`chip.PE[0..3].RF`), in no order of levels.
  bool is_flattened(const YamlNode& architecture) {
    const YamlNode* local = find_key(architecture, "local");
    if (local == nullptr || find_key(architecture, "subtree") != nullptr) return false;
    for (const YamlPointer& component : local->items) {
      const YamlNode* name = find_key(*component, "name");
      if (name == nullptr ||
          name->text.substr(0, name->text.find('[')).find('.') == std::string::npos)
        continue;
      context_.read.error(*name,
                          "a flattened architecture of Accelergy: it does not say which level "
                          "stands above which",
                          "name the architecture that it was made from");
      return true;
    }
    return false;
  }

  struct Surroundings {
    std::vector<const YamlNode*> attributes;  ///< of the subtrees around
    std::int64_t instances = 1;
    std::string array;  ///< name of the innermost subtree that is an array
  };

  void walk(const YamlNode& tree, Surroundings around) {
    if (const YamlNode* attributes = find_key(tree, "attributes")) {
      around.attributes.push_back(attributes);
      if (const YamlNode* cycle = find_key(*attributes, "global_cycle_seconds"))
        if (const auto value =
                read_quantity(context_.read, cycle, {.what = "global_cycle_seconds"}))
          specs_.cycle_s = value->value;
    }
    if (const YamlNode* local = find_key(tree, "local")) {
      if (!local->is_sequence())
        context_.read.error(*local, fmt::format("local must be a list, not {}", describe(*local)));
      for (const YamlPointer& component : local->items) add(*component, around);
    }
    is_broken_ |= has_misspelt_key(context_, tree, "a subtree", {"subtree", "local"});
    const YamlNode* subtrees = find_key(tree, "subtree");
    if (subtrees == nullptr) return;
    if (!subtrees->is_sequence() || subtrees->items.empty()) {
      context_.read.error(*subtrees, "subtree must be a list of one item");
      return;
    }
    if (subtrees->items.size() > 1)
      context_.read.error(*subtrees->items[1], "a second subtree: the levels must form one line",
                          "import one branch at a time");
    const YamlNode& next = *subtrees->items.front();
    note_other_keys(context_, next, "a subtree", {"name", "attributes", "local", "subtree"});
    if (const YamlNode* name = find_key(next, "name")) {
      const ArrayName array = array_name(*name);
      around.instances = checked_multiply(around.instances, array.count);
      if (array.count > 1) around.array = array.name;
    }
    walk(next, std::move(around));
  }

  ArrayName array_name(const YamlNode& node) {
    const std::string text = read_text(context_.read, &node, "name").value_or("");
    const std::size_t open = text.find('[');
    if (open == std::string::npos) return {text, 1};
    const std::size_t dots = text.find("..", open), close = text.find(']', open);
    ArrayName array{text.substr(0, open), 1};
    const auto first = dots == std::string::npos
                           ? std::nullopt
                           : whole_number(std::string_view(text).substr(open + 1, dots - open - 1));
    const auto last = dots == std::string::npos || close == std::string::npos
                          ? std::nullopt
                          : whole_number(std::string_view(text).substr(dots + 2, close - dots - 2));
    if (!first || !last || *last < *first) {
      context_.read.error_inside(node, open, fmt::format("'{}' is no array of components", text),
                                 "write it as PE[0..255]");
      is_broken_ = true;
    } else {
      array.count = *last - *first + 1;
    }
    return array;
  }

  void add(const YamlNode& component, const Surroundings& around) {
    const YamlNode* name = find_key(component, "name");
    const YamlNode* type = find_key(component, "class");
    if (type == nullptr) type = find_key(component, "subclass");
    if (name == nullptr || type == nullptr) {
      context_.read.error(component, fmt::format("a component needs the key '{}'",
                                                 name == nullptr ? "name" : "class"));
      return;
    }
    if (const YamlNode* enabled = find_key(component, "enabled"))
      if (read_bool(context_.read, enabled, "enabled") == false) {
        context_.note(*enabled, fmt::format("{} is not enabled and left out", name->text));
        return;
      }
    const ArrayName array = array_name(*name);
    Level level;
    level.name = array.name;
    level.type = read_text(context_.read, type, "class").value_or("");
    level.node = &component;
    level.kind = is_storage_class(level.type) ? Level::Kind::kStorage : Level::Kind::kCompute;
    const std::string own_array = array.count > 1 ? array.name + "_array" : around.array;
    const std::string array_of_level =
        own_array.empty() || own_array == level.name ? level.name + "_array" : own_array;
    const std::int64_t instances = checked_multiply(around.instances, array.count);
    if (level.type == "dummy_storage") {
      fan_out(level, instances, array_of_level);
      specs_.levels.push_back(passage(level.name, component));
      return;
    }
    if (!is_compute_class(level.type) && !is_storage_class(level.type)) {
      context_.note(component,
                    fmt::format("{} is of the class {}, which is neither storage nor compute, and "
                                "is left out",
                                level.name, level.type),
                    did_you_mean(level.type, {"DRAM", "SRAM", "regfile", "smartbuffer", "storage",
                                              "intmac", "fpmac", "compute"}));
      return;
    }
    note_other_keys(context_, component, level.name,
                    {"name", "class", "subclass", "attributes", "enabled", "required_actions"});
    for (const YamlNode* attributes : around.attributes) level.attributes.add(attributes);
    level.attributes.add(find_key(component, "attributes"));
    if (level.kind == Level::Kind::kStorage) {
      fan_out(level, instances, array_of_level);
      specs_.levels.push_back(std::move(level));
    } else if (compute_) {
      context_.note(component, fmt::format("{} is a second compute and is left out", level.name));
    } else {
      compute_ = std::move(level);
      compute_instances_ = instances;
      compute_array_ = array_of_level;
    }
  }

  /// timeloopfe writes the fanout of a container X as a storage `inter_X_spatial` that keeps
  /// nothing: what follows it has the instances.
  static Level passage(const std::string& name, const YamlNode& node) {
    Level level{Level::Kind::kFanout, name, {}, &node, {}, 1, 1, {name}};
    level.is_passage = true;
    if (const std::string container = container_of_passage(name); !container.empty()) {
      level.name = container;
      level.spatial_targets.push_back(container);
    }
    return level;
  }

  /// `instances` may fan out a level within an array that did so already: its fanout is called as
  /// the level.
  std::string free_name(const std::string& array, const std::string& level) const {
    const auto is_taken = [&](const std::string& name) {
      return std::any_of(specs_.levels.begin(), specs_.levels.end(),
                         [&](const Level& known) { return known.name == name; });
    };
    std::string name = is_taken(array) ? level + "_array" : array;
    while (is_taken(name)) name += "_";
    return name;
  }

  /// Instances over those of the level before are a fanout.
  void fan_out(Level& level, std::int64_t instances, const std::string& array) {
    if (is_broken_) return;  // how many there are is not known
    instances = level.attributes.integer(context_, {"instances"}).value_or(instances);
    const auto mesh_x = level.attributes.integer(context_, {"meshX", "meshx"});
    const auto rows = level.attributes.integer(context_, {"meshY", "meshy"});
    if (rows && (instances % *rows != 0 || (mesh_x && instances / *rows != *mesh_x))) {
      context_.read.error(
          *level.node,
          fmt::format("meshY {} does not fit the {} instances of {}", *rows, instances, level.name),
          "meshX times meshY is the number of instances");
      return;
    }
    const std::int64_t columns = mesh_x.value_or(rows ? instances / *rows : instances);
    if (instances % columns != 0) {
      context_.read.error(*level.node,
                          fmt::format("meshX {} does not divide the {} instances of {}", columns,
                                      instances, level.name),
                          "meshX is the number of columns");
      return;
    }
    if (instances % instances_ != 0) {
      context_.read.error(*level.node,
                          fmt::format("the {} instances of {} cannot be shared out among the {} of "
                                      "the level above",
                                      instances, level.name, instances_),
                          "levels stand from the outermost inwards");
      return;
    }
    const bool has_passage = !specs_.levels.empty() && specs_.levels.back().is_passage;
    Level fanout{Level::Kind::kFanout, free_name(array, level.name), {}, level.node, {}, 1, 1, {}};
    if (has_passage) fanout = specs_.levels.back();
    const std::int64_t total = instances / instances_;
    const bool splits = columns % columns_ == 0 && total % (columns / columns_) == 0;
    if (!splits && total > 1)
      context_.note(*level.node,
                    fmt::format("the columns of {} are no multiple of those above; its "
                                "fanout is one row",
                                level.name));
    fanout.fanout_x = splits ? columns / columns_ : total;
    fanout.fanout_y = total / fanout.fanout_x;
    for (auto above = specs_.levels.rbegin(); above != specs_.levels.rend(); ++above) {
      if (above->kind != Level::Kind::kStorage || has_passage) continue;
      fanout.spatial_targets = {above->name};
      break;
    }
    fanout.is_passage = false;
    if (total > 1 && has_passage)
      specs_.levels.back() = std::move(fanout);
    else if (total > 1)
      specs_.levels.push_back(std::move(fanout));
    instances_ = instances;
    columns_ = columns;
  }

  ImportContext& context_;
  Specs& specs_;
  bool is_broken_ = false;                    ///< a part is missing, which was said
  std::int64_t instances_ = 1, columns_ = 1;  ///< of the level before
  std::optional<Level> compute_;
  std::int64_t compute_instances_ = 1;
  std::string compute_array_;
};

constexpr const char* kPassageBegin = "inter_";
constexpr const char* kPassageEnd = "_spatial";

bool has_word(const std::string& type, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (type.find(word) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string passage_of_container(const std::string& name) {
  return std::string(kPassageBegin) + name + kPassageEnd;
}

std::string container_of_passage(const std::string& name) {
  const std::string begin = kPassageBegin, end = kPassageEnd;
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size())
    return {};
  return name.substr(begin.size(), name.size() - begin.size() - end.size());
}

bool is_storage_class(const std::string& type) {
  return has_word(
      type, {"DRAM", "SRAM", "regfile", "smartbuffer", "storage", "sram", "dram", "buffer", "RF"});
}

bool is_compute_class(const std::string& type) {
  return has_word(type, {"mac", "MAC", "compute", "multiplier"});
}

void read_arch_v3(ImportContext& context, const YamlNode& node, Specs& specs) {
  TreeReader(context, specs).read(node);
}

}  // namespace sluice::timeloop
