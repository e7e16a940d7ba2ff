#include "frontend/import/reading/templates.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>

#include "frontend/import/reading/libconfig_reader.h"
#include "frontend/import/reading/merge_keys.h"
#include "frontend/import/reading/template_program.h"
#include "frontend/yaml/file_text.h"
#include "frontend/yaml/yaml_parser.h"

namespace sluice {
namespace {

constexpr const char* kPlaceholder = "__include_";
constexpr int kMostNested = 20;

bool is_template(const std::string& text) {
  return text.find("{%") != std::string::npos || text.find("{{") != std::string::npos ||
         text.find("{#") != std::string::npos;
}

class TemplateReader {
 public:
  TemplateReader(ImportContext& context, const ImportOptions& options, const std::string& path)
      : context_(context), options_(options), path_(path) {}

  std::vector<YamlPointer> read(const std::string& text) {
    std::size_t file = context_.read.sources().add(path_, text);
    if (is_template(text)) {
      context_.has_templates = true;
      const auto result = render(file);
      if (!result) return {};
      file = *result;
    }
    std::vector<YamlPointer> documents;
    if (std::filesystem::path(path_).extension() != ".cfg")
      documents = parse_yaml(context_.read, file);
    else if (const YamlPointer settings = parse_libconfig(context_.read, file))
      documents = {settings};
    for (YamlPointer& document : documents) document = in_place(document, 0);
    return documents;
  }

 private:
  /// The rendered text, as a file of which every line stands for one of the template's.
  std::optional<std::size_t> render(std::size_t template_file) {
    const auto output = rendered_as_json(options_, path_);
    if (!output) {
      context_.read.error_about(path_, "the file is a template, and Python could not be run",
                                "install python3 and python3-jinja2; `./dev setup` does");
      return std::nullopt;
    }
    const auto parsed = parse_yaml(
        context_.read, context_.read.sources().add(path_ + " (as Jinja2 printed it)", *output));
    if (parsed.empty()) return std::nullopt;
    if (const YamlNode* error = parsed.front()->find("error")) {
      report(*error, parsed.front()->find("line"));
      return std::nullopt;
    }
    if (const YamlNode* names = parsed.front()->find("names"))
      for (const YamlPointer& name : names->items) context_.template_variables.insert(name->text);
    if (const YamlNode* files = parsed.front()->find("files"))
      for (const YamlPointer& file : files->items) add_template(file->text, template_file);
    if (const YamlNode* includes = parsed.front()->find("includes"))
      for (const YamlPointer& include : includes->items) {
        const auto documents = parse_yaml(context_.read, add_rendered(include->text));
        includes_.push_back(documents.empty() ? std::make_shared<YamlNode>() : documents.front());
      }
    return add_rendered(parsed.front()->find("text")->text);
  }

  /// The file that was named, under its name; those that it includes, under theirs.
  void add_template(const std::string& path, std::size_t template_file) {
    if (templates_.empty()) return templates_.push_back(template_file);
    const auto text = file_text(context_.read, path);
    const std::string name =
        std::filesystem::path(path).lexically_proximate(std::filesystem::current_path());
    templates_.push_back(context_.read.sources().add(name, text.value_or("")));
  }

  /// Adds what a template became, without its marks; a line without one stands where the line
  /// before it does.
  std::size_t add_rendered(const std::string& marked) {
    std::string text;
    std::vector<SourcePosition> origins;
    SourcePosition origin{templates_.empty() ? 0 : templates_.front(), 1, 0};
    bool is_first_mark = true;
    for (std::size_t at = 0; at < marked.size(); ++at) {
      const std::size_t end = marked[at] == '\x02' ? marked.find('\x03', at) : std::string::npos;
      if (end != std::string::npos) {
        if (is_first_mark) origin = position_of(marked.substr(at + 1, end - at - 1), origin);
        is_first_mark = false;
        at = end;
        continue;
      }
      text += marked[at];
      if (marked[at] != '\n') continue;
      origins.push_back(origin);
      is_first_mark = true;
    }
    origins.push_back(origin);
    return context_.read.sources().add(path_, std::move(text), std::move(origins));
  }

  /// `file:line` of a mark.
  SourcePosition position_of(const std::string& mark, const SourcePosition& otherwise) const {
    std::size_t file = 0;
    int line = 0;
    const char* const end = mark.data() + mark.size();
    const auto number = std::from_chars(mark.data(), end, file);
    if (number.ptr == end || file >= templates_.size()) return otherwise;
    std::from_chars(number.ptr + 1, end, line);
    return {templates_[file], line, 0};
  }

  void report(const YamlNode& error, const YamlNode* line) {
    if (error.text == "no-jinja2")
      return context_.read.error_about(path_,
                                       "the file is a template, and Python has no Jinja2 to render "
                                       "it",
                                       "install python3-jinja2; `./dev setup` does");
    const std::string message = "the template cannot be rendered: " + error.text;
    const bool undefined = error.text.find("undefined") != std::string::npos;
    const std::string hint = undefined ? "--set NAME=VALUE gives a variable its value" : "";
    const bool has_line = line != nullptr && line->text != "0";
    context_.read.error_about(fmt::format("{}:{}", path_, has_line ? line->text : "1"), message,
                              hint);
  }

  /// `__include_2.workload.einsums`: the node that it stands for, or null; `__include_2_4.key`: a
  /// list of what three files have there, lists as their items.
  YamlPointer included(const std::string& text) {
    const std::size_t start = std::char_traits<char>::length(kPlaceholder);
    if (text.compare(0, start, kPlaceholder) != 0) return nullptr;
    std::size_t at = start;
    const std::size_t first = number_at(text, at);
    const bool is_list = at < text.size() && text[at] == '_';
    const std::size_t last = is_list ? number_at(text, ++at) : first;
    if (first > last || last >= includes_.size()) return nullptr;
    if (!is_list) return part_of(includes_[first], text, at);
    auto list = std::make_shared<YamlNode>();
    list->kind = YamlNode::Kind::kSequence;
    list->position = includes_[first]->position;
    for (std::size_t index = first; index <= last; ++index) {
      const YamlPointer part = part_of(includes_[index], text, at);
      if (part->is_sequence())
        list->items.insert(list->items.end(), part->items.begin(), part->items.end());
      else
        list->items.push_back(part);
    }
    update_extent(*list);
    return list;
  }

  static std::size_t number_at(const std::string& text, std::size_t& at) {
    std::size_t number = 0;
    for (const std::size_t end = at + 6; at < end && at < text.size(); ++at) {
      if (text[at] < '0' || text[at] > '9') break;
      number = 10 * number + static_cast<std::size_t>(text[at] - '0');
    }
    return number;
  }

  /// What stands under the keys `.workload.einsums` of an included file.
  YamlPointer part_of(YamlPointer node, const std::string& text, std::size_t at) {
    while (at < text.size() && text[at] == '.') {
      const std::size_t end = text.find('.', at + 1);
      const std::string key = text.substr(at + 1, end == std::string::npos ? end : end - at - 1);
      at = end == std::string::npos ? text.size() : end;
      YamlPointer next;
      const YamlPointer whole = in_place(node, 1);
      for (const YamlEntry& entry : whole->entries)
        if (entry.key->text == key) next = entry.value;
      if (!next) {
        context_.read.error_about(path_, fmt::format("an included file has no '{}'", key));
        return std::make_shared<YamlNode>();
      }
      node = next;
    }
    return node;
  }

  YamlPointer in_place(const YamlPointer& node, int depth) {
    if (depth > kMostNested * 10 || ++n_nodes_ > options_.limits.max_nodes) {
      if (!is_stopped_)
        context_.read.error_about(path_,
                                  depth > kMostNested * 10
                                      ? "files that include each other without end"
                                      : fmt::format("what is included and merged has more than {} "
                                                    "nodes",
                                                    options_.limits.max_nodes));
      is_stopped_ = true;
      return std::make_shared<YamlNode>();
    }
    if (node->is_scalar()) {
      const YamlPointer found = included(node->text);
      return found ? in_place(found, depth + 1) : node;
    }
    if (!node->is_map() && !node->is_sequence()) return node;
    auto copy = std::make_shared<YamlNode>(*node);
    if (node->is_sequence())
      copy->items = items_in_place(*node, depth);
    else
      copy->entries = merged_entries(
          *node, [&](const YamlPointer& value) { return in_place(value, depth + 1); });
    update_extent(*copy);
    return copy;
  }

  /// A list in the place of an item is its items.
  std::vector<YamlPointer> items_in_place(const YamlNode& node, int depth) {
    std::vector<YamlPointer> items;
    for (const YamlPointer& item : node.items) {
      const YamlPointer placed = in_place(item, depth + 1);
      const bool splices = item->is_scalar() && placed->is_sequence();
      if (splices)
        items.insert(items.end(), placed->items.begin(), placed->items.end());
      else
        items.push_back(placed);
    }
    return items;
  }

  ImportContext& context_;
  const ImportOptions& options_;
  const std::string& path_;
  std::vector<YamlPointer> includes_;
  std::vector<std::size_t> templates_;  ///< files that were rendered; the first is `path_`
  std::size_t n_nodes_ = 0;             ///< put in place so far
  bool is_stopped_ = false;             ///< at one of the limits, which was said
};

}  // namespace

std::vector<YamlPointer> documents_of(ImportContext& context, const ImportOptions& options,
                                      const std::string& path, const std::string& text) {
  return TemplateReader(context, options, path).read(text);
}

}  // namespace sluice
