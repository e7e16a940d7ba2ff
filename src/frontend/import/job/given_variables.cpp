#include "frontend/import/job/given_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "frontend/load/settings.h"
#include "sluice/support/expression.h"

namespace sluice {
namespace {

using Given = std::map<std::string, std::string>;

class VariableGiver {
 public:
  VariableGiver(ImportContext& context, const Given& given) : context_(context), given_(given) {}

  void add_names(const YamlNode& variables) {
    for (const YamlEntry& entry : variables.entries) names_.push_back(entry.key->text);
    context_.template_variables.insert(names_.begin(), names_.end());
  }

  YamlPointer with_given(const YamlNode& variables) const {
    auto all = std::make_shared<YamlNode>(variables);
    for (YamlEntry& entry : all->entries)
      if (const auto found = given_.find(entry.key->text); found != given_.end())
        if (const YamlPointer value = value_of(found->first, found->second, *entry.value))
          entry.value = value;
    update_extent(*all);
    return all;
  }

 private:
  /// Null after a mistake.
  YamlPointer value_of(const std::string& name, const std::string& text,
                       const YamlNode& in_file) const {
    const YamlPointer value = value_of_setting(context_.read, name, text);
    if (!value || !in_file.is_scalar() || !Expression::parse(in_file.text)) return value;
    const auto expression = Expression::parse(text);
    const std::string subject = setting_text(name, text);
    if (!expression) {
      context_.read.error_about(subject, expression.error().message, expression.error().hint);
      return nullptr;
    }
    for (const std::string& other : expression->names())
      if (std::find(names_.begin(), names_.end(), other) == names_.end()) {
        context_.read.error_about(
            subject, fmt::format("unknown name '{}'", other),
            did_you_mean(other, names_, fmt::format("variables are {}", fmt::join(names_, ", "))));
        return nullptr;
      }
    return value;
  }

  ImportContext& context_;
  const Given& given_;
  std::vector<std::string> names_;
};

}  // namespace

void give_variables(ImportContext& context, Sections& sections, const Given& given) {
  VariableGiver giver(context, given);
  const auto variables = sections.find("variables");
  const auto arch = sections.find("arch");
  const YamlNode* of_arch = arch == sections.end() ? nullptr : arch->second->find("variables");
  if (variables != sections.end()) giver.add_names(*variables->second);
  if (of_arch != nullptr) giver.add_names(*of_arch);
  if (variables != sections.end()) variables->second = giver.with_given(*variables->second);
  if (of_arch == nullptr) return;
  auto copy = std::make_shared<YamlNode>(*arch->second);
  for (YamlEntry& entry : copy->entries)
    if (entry.value.get() == of_arch) entry.value = giver.with_given(*of_arch);
  update_extent(*copy);
  arch->second = copy;
}

}  // namespace sluice
