#include "sluice/mapping/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "loop_tree_lines.h"

namespace sluice {
namespace {

/// Columns of a UTF-8 text whose characters are all one column wide.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Branches first … first + period - 1, of which `repeats` further copies follow.
struct Repetition {
  std::size_t period = 1;
  std::size_t repeats = 0;
};

/// Equal shapes as equal numbers.
std::vector<std::size_t> shape_numbers(const std::vector<DrawingBranch>& branches) {
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> numbers;
  for (const DrawingBranch& branch : branches)
    numbers.push_back(known.try_emplace(branch.shape(), known.size()).first->second);
  return numbers;
}

/// The repetition starting at branch `first` that saves the most lines.
Repetition longest_repetition(const std::vector<std::size_t>& shapes, std::size_t first) {
  Repetition best;
  const std::size_t rest = shapes.size() - first;
  for (std::size_t period = 1; period <= rest / 2; ++period) {
    std::size_t equal = 0;
    while (first + period + equal < shapes.size() &&
           shapes[first + equal] == shapes[first + period + equal])
      ++equal;
    const std::size_t repeats = equal / period;
    if (repeats * period > best.repeats * best.period) best = {period, repeats};
  }
  return best;
}

class Painter {
 public:
  explicit Painter(const DrawingOptions& options) : options_(options) {}

  std::string paint(const DrawingBranch& branch) {
    paint_branch(branch, "", "");
    return std::move(text_);
  }

 private:
  /// `first` precedes the first line, `rest` all others.
  void paint_branch(const DrawingBranch& branch, std::string first, std::string rest) {
    for (const DrawingLine& line : branch.lines) {
      paint_line(line, first, rest);
      first = rest;
      if (line.is_loop && !options_.compact) {
        first += "  ";
        rest += "  ";
      }
    }
    paint_children(branch.children, rest);
  }

  void paint_line(const DrawingLine& line, const std::string& first, const std::string& rest) {
    std::string current = first + line.head + " ";
    const std::string indent = rest + "    ";
    bool is_empty = true;
    for (std::size_t i = 0; i < line.items.size(); ++i) {
      const std::string item = line.items[i] + (i + 1 < line.items.size() ? "," : "");
      if (!is_empty && options_.compact && columns(current) + columns(item) + 1 > options_.width) {
        text_ += current + "\n";
        current = indent;
        is_empty = true;
      }
      if (!is_empty) current += " ";
      current += item;
      is_empty = false;
    }
    text_ += current + "\n";
  }

  void paint_children(const std::vector<DrawingBranch>& children, const std::string& rest) {
    const auto shapes = options_.compact ? shape_numbers(children) : std::vector<std::size_t>{};
    for (std::size_t i = 0; i < children.size();) {
      const Repetition same = options_.compact ? longest_repetition(shapes, i) : Repetition{};
      const std::size_t end = i + same.period * (same.repeats + 1);
      for (std::size_t j = i; j < i + same.period; ++j)
        paint_child(children[j], same.repeats == 0 && j + 1 == children.size(), rest);
      if (same.repeats > 0) paint_repetition(children, i, same, end == children.size(), rest);
      i = end;
    }
  }

  void paint_child(const DrawingBranch& child, bool is_last, const std::string& rest) {
    const bool ascii = options_.ascii;
    paint_branch(child, rest + (ascii ? (is_last ? "`- " : "|- ") : (is_last ? "└─ " : "├─ ")),
                 rest + (is_last ? "   " : (ascii ? "|  " : "│  ")));
  }

  void paint_repetition(const std::vector<DrawingBranch>& children, std::size_t first,
                        const Repetition& same, bool is_last, const std::string& rest) {
    std::vector<std::string> names;
    const std::size_t begin = first + same.period;
    const std::size_t end = begin + same.period * same.repeats;
    for (std::size_t i = begin; i < end; ++i)
      names.insert(names.end(), children[i].einsums.begin(), children[i].einsums.end());
    const char* ellipsis = options_.ascii ? "..." : "…";
    const std::string list = names.size() <= 4
                                 ? fmt::format("{}", fmt::join(names, ", "))
                                 : fmt::format("{} {} {}", names.front(), ellipsis, names.back());
    const std::string what = same.period == 1 ? std::string("the branch above")
                                              : fmt::format("the {} branches above", same.period);
    const char* corner = options_.ascii ? (is_last ? "`- " : "|- ") : (is_last ? "└─ " : "├─ ");
    text_ += fmt::format(
        "{}{}{} {} more with other names: {}\n", rest, corner, what,
        same.repeats == 1 ? std::string("once") : fmt::format("{} times", same.repeats), list);
  }

  const DrawingOptions& options_;
  std::string text_;
};

}  // namespace

std::string to_drawing(const Mapping& mapping, const Workload& workload, const Arch& arch,
                       const DrawingOptions& options) {
  return Painter(options).paint(describe_loop_tree(mapping, workload, arch, options));
}

}  // namespace sluice
