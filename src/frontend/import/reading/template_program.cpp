#include "frontend/import/reading/template_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace sluice {
namespace {

/// Renders argv[1] with the variables NAME=VALUE and prints a JSON object: `text` and the files
/// that `include` named (a placeholder stands for each), or `error`. Lines carry marks, `\x02file
/// of `files`:line\x03`, unless these would change what is rendered.
constexpr const char* kRenderer = R"PY(
import ast, glob, json, os, re, sys, traceback
try:
    import jinja2, jinja2.ext, jinja2.meta, jinja2.nodes
except ImportError:
    print(json.dumps({"error": "no-jinja2"}))
    sys.exit(0)

folders, includes, files, names, undeclared = [], [], [], set(), set()
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

def find_all(pattern, near):
    """Every file that a pattern fits, by name, of the first folder that has one."""
    for folder in [os.path.dirname(near)] + folders:
        found = sorted(glob.glob(os.path.join(folder, pattern)))
        if found:
            return [os.path.abspath(path) for path in found]
    raise FileNotFoundError("there is no file %s to include" % pattern)

def given(context, more):
    known = {k: v for k, v in context.get_all().items() if not callable(v)}
    known.update(more)
    return known

def with_settings(tree, environment):
    """The template with what --set gives in the place of what it sets by itself."""
    asked = jinja2.meta.find_undeclared_variables(tree) - set(environment.globals)
    names.update(asked)
    undeclared.update(asked)
    for node in tree.body:
        name = node.target if isinstance(node, jinja2.nodes.Assign) else None
        if not isinstance(name, jinja2.nodes.Name) or name.name in asked:
            continue
        names.add(name.name)
        if name.name in settings:
            node.node = jinja2.nodes.Const(settings[name.name])
    return tree

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

    @jinja2.pass_context
    def include_all(context, pattern, key="", inherit_parse_data=True, **more):
        data = given(context, more) if inherit_parse_data else more
        texts = [render(found, data) for found in find_all(pattern, path)]
        includes.extend(texts)
        first = len(includes) - len(texts)
        return "__include_%d_%d" % (first, len(includes) - 1) + ("." + key if key else "")

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

    environment.globals.update(include_text=include_text, include=include, include_all=include_all,
                               add_to_path=add_to_path, path_exists=path_exists,
                               cwd=lambda: os.path.dirname(path),
                               find_path=lambda name: find(name, path))
    with open(path) as file:
        text = file.read()
        tree = environment.parse(marked(text, path) if with_marks else text)
        return environment.from_string(with_settings(tree, environment)).render(data)

def line_of(error):
    """Of the file itself, where the template came to when it ended."""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == "<template>":
            return frame.lineno
    return 0

def lacking(error, data):
    """The variable without a value at which a template ended; functions of Python do not name it."""
    name = re.fullmatch(r"'(\w+)' is undefined", str(error))
    if name:
        return name.group(1) if name.group(1) not in data else None
    left = sorted(undeclared - set(data))
    return left[0] if "StrictUndefined" in str(error) and len(left) == 1 else None

def all_undefined(path, error):
    """What a template lacks, found by giving one variable after the other any value."""
    missing, data, last = [], dict(settings), error
    while name := lacking(last, data):
        missing.append(name)
        data[name] = 1
        try:
            render(path, data)
            break
        except Exception as other:
            last = other
    if len(missing) == 1:
        return "'%s' is undefined" % missing[0]
    return "%s and '%s' are undefined" % (", ".join("'%s'" % n for n in missing[:-1]), missing[-1])

def value(text):
    try:
        return ast.literal_eval(text)
    except Exception:
        return text

settings = dict((name, value(text)) for name, _, text in (a.partition("=") for a in sys.argv[2:]))
try:
    path = os.path.abspath(sys.argv[1])
    with_marks = False
    text = render(path, settings)
    plain_includes, includes = includes, []
    with_marks = True
    try:
        marked_text = render(path, settings)
        same = [without_marks(t) for t in [marked_text] + includes] == [text] + plain_includes
    except Exception:
        same = False
    if same:
        text = marked_text
    else:
        includes = plain_includes
    print(json.dumps({"text": text, "includes": includes, "files": files, "names": sorted(names)}))
except Exception as error:
    line = getattr(error, "lineno", 0) or line_of(error)
    if lacking(error, settings):
        text = all_undefined(path, error)
    elif isinstance(error, jinja2.exceptions.TemplateError):
        text = str(error)
    else:
        text, line = "%s: %s" % (type(error).__name__, error), 0
    print(json.dumps({"error": text, "line": line}))
)PY";

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

}  // namespace

std::optional<std::string> rendered_as_json(const ImportOptions& options, const std::string& path) {
  std::vector<std::string> command = {options.python, "-c", kRenderer, path};
  for (const auto& [name, value] : options.variables) command.push_back(name + "=" + value);
  return output_of(command, options.limits.max_file_bytes);
}

}  // namespace sluice
