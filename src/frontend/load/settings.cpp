#include "frontend/load/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "frontend/yaml/yaml_parser.h"

namespace sluice {
namespace {

using Replace = std::function<YamlPointer(const YamlPointer&)>;

std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps(1);
  for (const char c : path) {
    if (c == '.')
      steps.emplace_back();
    else
      steps.back() += c;
  }
  return steps;
}

bool is_named(const YamlNode& item, const std::string& name) {
  const YamlNode* own = item.is_map() ? item.find("name") : nullptr;
  return own != nullptr && own->is_scalar() && own->text == name;
}

/// One `--set PATH=VALUE`.
class Setting {
 public:
  Setting(ReadContext& context, const std::string& path, const std::string& text)
      : context_(context),
        subject_(setting_text(path, text)),
        steps_(steps_of(path)),
        value_(value_of_setting(context, path, text)) {}

  YamlPointer in(const YamlPointer& root) {
    if (std::any_of(steps_.begin(), steps_.end(), [](const auto& step) { return step.empty(); })) {
      context_.error_about(subject_, "a step of the path is empty",
                           "write --set SECTION.NAME.KEY=VALUE");
      return root;
    }
    if (!value_) return root;  // which was reported
    if (root->find(steps_.front()) != nullptr) return set(root, 0);
    std::vector<std::string> sections;
    for (const YamlEntry& entry : root->entries) sections.push_back(entry.key->text);
    context_.error_about(
        subject_, fmt::format("the specs have no section '{}'", steps_.front()),
        did_you_mean(steps_.front(), sections, fmt::format("{}", fmt::join(sections, ", "))));
    return root;
  }

 private:
  /// The node with the value at what the steps from `step` on lead to.
  YamlPointer set(const YamlPointer& node, std::size_t step) {
    if (step == steps_.size()) return value_;
    const Replace replace = [this, step](const YamlPointer& child) { return set(child, step + 1); };
    if (node->find(steps_[step]) != nullptr) return with_entry(node, steps_[step], replace);
    const std::size_t n_named = count_named(*node, steps_[step]);
    if (n_named == 1) return with_named(node, steps_[step], replace);
    if (n_named == 0 && node->is_map() && step + 1 == steps_.size())
      return with_new_entry(*node, steps_[step]);
    const std::string where = fmt::format(
        "'{}'", fmt::join(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(step), "."));
    std::vector<std::string> known;
    add_names(*node, &known);
    if (n_named > 1)
      context_.error_about(
          subject_, fmt::format("{} items in {} are named '{}'", n_named, where, steps_[step]));
    else
      context_.error_about(
          subject_, fmt::format("{} has no '{}'", where, steps_[step]),
          did_you_mean(
              steps_[step], known,
              known.empty() ? std::string() : fmt::format("it has {}", fmt::join(known, ", "))));
    return node;
  }

  static YamlPointer with_entry(const YamlPointer& node, const std::string& key,
                                const Replace& replace) {
    auto copy = std::make_shared<YamlNode>(*node);
    for (YamlEntry& entry : copy->entries)
      if (entry.key->text == key) entry.value = replace(entry.value);
    update_extent(*copy);
    return copy;
  }

  YamlPointer with_new_entry(const YamlNode& node, const std::string& key) const {
    auto copy = std::make_shared<YamlNode>(node);
    auto name = std::make_shared<YamlNode>();
    name->kind = YamlNode::Kind::kScalar;
    name->text = key;
    name->position = value_->position;
    copy->entries.push_back({name, value_});
    update_extent(*copy);
    return copy;
  }

  /// The lists of a map that have items with names: those of its keys, and of `nodes` inside nodes.
  static std::size_t count_named(const YamlNode& node, const std::string& name) {
    std::size_t count = 0;
    for (const YamlPointer& item : node.items) {
      if (is_named(*item, name)) ++count;
      if (const YamlNode* inner = item->is_map() ? item->find("nodes") : nullptr)
        count += count_named(*inner, name);
    }
    for (const YamlEntry& entry : node.entries)
      if (entry.value->is_sequence()) count += count_named(*entry.value, name);
    return count;
  }

  static YamlPointer with_named(const YamlPointer& node, const std::string& name,
                                const Replace& replace) {
    auto copy = std::make_shared<YamlNode>(*node);
    for (YamlPointer& item : copy->items) {
      const YamlNode* inner = item->is_map() ? item->find("nodes") : nullptr;
      if (is_named(*item, name))
        item = replace(item);
      else if (inner != nullptr && count_named(*inner, name) > 0)
        item = with_entry(item, "nodes", [&](const YamlPointer& nodes) {
          return with_named(nodes, name, replace);
        });
    }
    for (YamlEntry& entry : copy->entries)
      if (entry.value->is_sequence() && count_named(*entry.value, name) > 0)
        entry.value = with_named(entry.value, name, replace);
    update_extent(*copy);
    return copy;
  }

  static void add_names(const YamlNode& node, std::vector<std::string>* names) {
    for (const YamlPointer& item : node.items) {
      if (!item->is_map()) continue;
      const YamlNode* name = item->find("name");
      if (name != nullptr && name->is_scalar()) names->push_back(name->text);
      if (const YamlNode* inner = item->find("nodes")) add_names(*inner, names);
    }
    for (const YamlEntry& entry : node.entries) {
      names->push_back(entry.key->text);
      if (entry.value->is_sequence()) add_names(*entry.value, names);
    }
  }

  ReadContext& context_;
  std::string subject_;
  std::vector<std::string> steps_;
  YamlPointer value_;
};

}  // namespace

std::string setting_text(const std::string& name, const std::string& value) {
  return fmt::format("--set {}={}", name, value);
}

YamlPointer value_of_setting(ReadContext& context, const std::string& name,
                             const std::string& value) {
  const std::string subject = setting_text(name, value);
  const std::size_t before = context.n_errors();
  const auto documents = parse_yaml(context, context.sources().add(subject, value));
  if (documents.size() == 1) return documents.front();
  if (context.n_errors() == before)
    context.error_about(
        subject, documents.empty() ? "gives no value" : "gives several values",
        is_field(name) ? "write --set SECTION.NAME.KEY=VALUE" : "write --set NAME=VALUE");
  return nullptr;
}

bool is_field(const std::string& name) { return name.find('.') != std::string::npos; }

YamlPointer with_settings(ReadContext& context, const YamlPointer& root) {
  YamlPointer result = root;
  for (const auto& [name, text] : context.options().variables)
    if (is_field(name)) result = Setting(context, name, text).in(result);
  return result;
}

}  // namespace sluice
