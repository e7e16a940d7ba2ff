#include "frontend/import/templates.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <memory>

#include "frontend/yaml/file_text.h"
#include "frontend/yaml/yaml_parser.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace sluice {
namespace {

/// Renders argv[1] with the variables NAME=VALUE and prints a JSON object: `text` and the files
/// that `include` named (a placeholder stands for each), or `error`. Lines carry marks, `\x02file
/// of `files`:line\x03`, unless these would change what is rendered.
constexpr const char* kRenderer = R"PY(
import ast, json, os, re, sys
try:
    import jinja2, jinja2.ext, jinja2.nodes
except ImportError:
    print(json.dumps({"error": "no-jinja2"}))
    sys.exit(0)

folders, includes, files = [], [], []
with_marks = True
opening = re.compile(r"\{[%{#]")
closing = {"{%": re.compile(r"%\}"), "{{": re.compile(r"\}\}"), "{#": re.compile(r"#\}")}

def marked(text, path):
    """The text with a mark before each line that does not begin inside a tag or with one that
    takes away blanks."""
    if path not in files:
        files.append(path)
    lines, tag = [], None
    for number, line in enumerate(text.split("\n"), 1):
        words = line.lstrip()
        blanks = line[:len(line) - len(words)]
        takes_blanks = words[:3] in ("{%-", "{{-", "{#-", "{%+")
        at = 0
        began_inside = tag is not None
        while True:
            found = (closing[tag] if tag else opening).search(line, at)
            if not found:
                break
            tag = None if tag else found.group()
            at = found.end()
        if words and not began_inside and not takes_blanks:
            line = "%s\x02%d:%d\x03%s" % (blanks, files.index(path), number, words)
        lines.append(line)
    return "\n".join(lines)

def without_marks(text):
    return re.sub("\x02[^\x03]*\x03", "", text)

class Assertion(jinja2.ext.Extension):
    tags = {"assert"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        words = [parser.parse_expression()]
        if parser.stream.skip_if("comma"):
            words.append(parser.parse_expression())
        return jinja2.nodes.ExprStmt(self.call_method("check", words), lineno=line)

    def check(self, holds, message="an assertion of the template fails"):
        if not holds:
            raise jinja2.TemplateRuntimeError(str(message))

def find(name, near):
    for folder in [os.path.dirname(near)] + folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return os.path.abspath(path)
    raise FileNotFoundError("there is no file %s to include" % name)

def given(context, more):
    known = {k: v for k, v in context.get_all().items() if not callable(v)}
    known.update(more)
    return known

def render(path, data):
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, extensions=[Assertion],
                                     loader=jinja2.FileSystemLoader(os.path.dirname(path)))

    @jinja2.pass_context
    def include_text(context, name, inherit_parse_data=True, **more):
        return render(find(name, path), given(context, more) if inherit_parse_data else more)

    @jinja2.pass_context
    def include(context, name, key="", inherit_parse_data=True, **more):
        text = render(find(name, path), given(context, more) if inherit_parse_data else more)
        includes.append(text)
        return "__include_%d" % (len(includes) - 1) + ("." + key if key else "")

    def add_to_path(name):
        folder = os.path.abspath(os.path.join(os.path.dirname(path), name))
        if folder not in folders:
            folders.append(folder)
        return ""

    def path_exists(name):
        try:
            find(name, path)
            return True
        except FileNotFoundError:
            return False

    environment.globals.update(include_text=include_text, include=include, include_all=include,
                               add_to_path=add_to_path, path_exists=path_exists,
                               cwd=lambda: os.path.dirname(path),
                               find_path=lambda name: find(name, path))
    with open(path) as file:
        text = file.read()
        return environment.from_string(marked(text, path) if with_marks else text).render(data)

def value(text):
    try:
        return ast.literal_eval(text)
    except Exception:
        return text

data = dict((name, value(text)) for name, _, text in (a.partition("=") for a in sys.argv[2:]))
try:
    path = os.path.abspath(sys.argv[1])
    with_marks = False
    text = render(path, data)
    plain_includes, includes = includes, []
    with_marks = True
    try:
        marked_text = render(path, data)
        same = [without_marks(t) for t in [marked_text] + includes] == [text] + plain_includes
    except Exception:
        same = False
    if same:
        text = marked_text
    else:
        includes = plain_includes
    print(json.dumps({"text": text, "includes": includes, "files": files}))
except jinja2.exceptions.TemplateError as error:
    print(json.dumps({"error": str(error), "line": getattr(error, "lineno", 0) or 0}))
except Exception as error:
    print(json.dumps({"error": "%s: %s" % (type(error).__name__, error), "line": 0}))
)PY";

constexpr const char* kPlaceholder = "__include_";
constexpr int kMostNested = 20;

/// Standard output of a program; nothing if it could not be run or failed.
std::optional<std::string> output_of(const std::vector<std::string>& command, std::size_t limit) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  if (failed == 0) {
    std::array<char, 65536> block{};
    for (ssize_t n = 0; (n = read(ends[0], block.data(), block.size())) > 0;)
      if (output.size() <= limit) output.append(block.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 1;
  if (failed != 0 || waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return output;
}

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
      const auto result = render(file);
      if (!result) return {};
      file = *result;
    }
    std::vector<YamlPointer> documents = parse_yaml(context_.read, file);
    for (YamlPointer& document : documents) document = in_place(document, 0);
    return documents;
  }

 private:
  /// The rendered text, as a file of which every line stands for one of the template's.
  std::optional<std::size_t> render(std::size_t template_file) {
    std::vector<std::string> command = {options_.python, "-c", kRenderer, path_};
    for (const auto& [name, value] : options_.variables) command.push_back(name + "=" + value);
    const auto output = output_of(command, options_.limits.max_file_bytes);
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

  /// `__include_2.workload.einsums`: the node that it stands for, or null.
  YamlPointer included(const std::string& text) {
    const std::size_t start = std::char_traits<char>::length(kPlaceholder);
    if (text.compare(0, start, kPlaceholder) != 0) return nullptr;
    std::size_t index = 0, at = start;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at < start + 6)
      index = 10 * index + static_cast<std::size_t>(text[at++] - '0');
    if (index >= includes_.size()) return nullptr;
    YamlPointer node = includes_[index];
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
    if (depth > kMostNested * 10) {
      context_.read.error_about(path_, "files that include each other without end");
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
      copy->entries = entries_in_place(*node, depth);
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

  /// What `<<` and `<<<` merge comes first; a map's own keys win.
  std::vector<YamlEntry> entries_in_place(const YamlNode& node, int depth) {
    std::vector<YamlEntry> entries;
    const auto put = [&](const YamlEntry& entry, bool wins) {
      for (YamlEntry& known : entries)
        if (known.key->text == entry.key->text) {
          if (wins) known = entry;
          return;
        }
      entries.push_back(entry);
    };
    const auto is_merge = [](const YamlEntry& entry) {
      return entry.key->text == "<<" || entry.key->text == "<<<";
    };
    for (const YamlEntry& entry : node.entries) {
      if (!is_merge(entry)) continue;
      const YamlPointer merged = in_place(entry.value, depth + 1);
      std::vector<YamlPointer> maps = merged->items;
      if (merged->is_map()) maps = {merged};
      for (const YamlPointer& map : maps)
        for (const YamlEntry& inner : map->entries) put(inner, false);
    }
    for (const YamlEntry& entry : node.entries)
      if (!is_merge(entry)) put({entry.key, in_place(entry.value, depth + 1)}, true);
    return entries;
  }

  ImportContext& context_;
  const ImportOptions& options_;
  const std::string& path_;
  std::vector<YamlPointer> includes_;
  std::vector<std::size_t> templates_;  ///< files that were rendered; the first is `path_`
};

}  // namespace

std::vector<YamlPointer> documents_of(ImportContext& context, const ImportOptions& options,
                                      const std::string& path, const std::string& text) {
  return TemplateReader(context, options, path).read(text);
}

}  // namespace sluice
