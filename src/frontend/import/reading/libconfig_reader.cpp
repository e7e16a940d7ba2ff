#include "frontend/import/reading/libconfig_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <libconfig.h++>
#include <memory>

namespace sluice {
namespace {

class SettingReader {
 public:
  SettingReader(ReadContext& context, std::size_t file) : context_(context), file_(file) {}

  std::shared_ptr<YamlNode> read(const libconfig::Setting& setting, int depth) {
    auto node = std::make_shared<YamlNode>();
    node->position = position(setting);
    node->kind = setting.isGroup()       ? YamlNode::Kind::kMap
                 : setting.isAggregate() ? YamlNode::Kind::kSequence
                                         : YamlNode::Kind::kScalar;
    if (node->is_scalar()) {
      node->text = text_of(setting);
      node->quoted = setting.getType() == libconfig::Setting::TypeString;
      return node;
    }
    if (depth > context_.options().limits.max_depth) {
      context_.error(*node, fmt::format("nested more than {} levels deep",
                                        context_.options().limits.max_depth));
      return node;
    }
    for (int i = 0; i < setting.getLength(); ++i) {
      const libconfig::Setting& child = setting[i];
      const auto value = read(child, depth + 1);
      if (node->is_map())
        node->entries.push_back({name_of(child), value});
      else
        node->items.push_back(value);
    }
    update_extent(*node);
    return node;
  }

 private:
  /// The first word of the line; another file's lines are not known here.
  SourcePosition position(const libconfig::Setting& setting) const {
    SourcePosition position{file_, static_cast<int>(setting.getSourceLine()), 0};
    if (setting.getSourceFile() != nullptr) return {file_, 1, 1};
    const std::size_t blanks = context_.sources().line(position).find_first_not_of(" \t");
    position.column = blanks == std::string::npos ? 1 : static_cast<int>(blanks) + 1;
    return position;
  }

  YamlPointer name_of(const libconfig::Setting& setting) const {
    auto key = std::make_shared<YamlNode>();
    key->kind = YamlNode::Kind::kScalar;
    key->position = position(setting);
    key->text = setting.getName();
    return key;
  }

  static std::string text_of(const libconfig::Setting& setting) {
    switch (setting.getType()) {
      case libconfig::Setting::TypeBoolean:
        return static_cast<bool>(setting) ? "true" : "false";
      case libconfig::Setting::TypeInt:
        return std::to_string(static_cast<int>(setting));
      case libconfig::Setting::TypeInt64:
        return std::to_string(static_cast<long long>(setting));
      case libconfig::Setting::TypeFloat:
        return fmt::format("{}", static_cast<double>(setting));
      case libconfig::Setting::TypeString:
        return setting.c_str();
      default:
        return {};
    }
  }

  ReadContext& context_;
  std::size_t file_;
};

}  // namespace

YamlPointer parse_libconfig(ReadContext& context, std::size_t file) {
  const std::filesystem::path path = context.sources().name(file);
  libconfig::Config config;
  config.setIncludeDir(path.parent_path().c_str());
  try {
    config.readString(context.sources().text(file));
  } catch (const libconfig::ParseException& error) {
    context.error({file, error.getLine(), 1},
                  fmt::format("not valid libconfig: {}", error.getError()),
                  "settings are written as name = value; groups in { }, lists in ( )");
    return nullptr;
  }
  const std::size_t errors = context.n_errors();
  auto root = SettingReader(context, file).read(config.getRoot(), 1);
  root->position = {file, 1, 1};
  return context.n_errors() == errors ? root : nullptr;
}

}  // namespace sluice
