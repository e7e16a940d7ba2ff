// A problem that is a list: the cascades of Timeloop's LoopTree branch. Each item has a shape,
// whose projections and sizes are texts as the integer set library has them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "frontend/import/timeloop/timeloop.h"
#include "frontend/yaml/values.h"
#include "support/yaml_text.h"

namespace sluice::timeloop {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string in_case(std::string text, int (*of)(int)) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [of](unsigned char c) { return static_cast<char>(of(c)); });
  return text;
}

/// The text with each of its names replaced.
template <class Replace>
std::string with_names(const std::string& text, const Replace& replace) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == i) {
      result += text[i++];
      continue;
    }
    const std::string word = text.substr(i, end - i);
    result += std::isdigit(static_cast<unsigned char>(word[0])) != 0 ? word : replace(word);
    i = end;
  }
  return result;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\n\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

/// The parts between separators, trimmed.
std::vector<std::string> parts_of(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(separator, begin)) != std::string::npos;
       begin = at + separator.size())
    parts.push_back(trimmed(text.substr(begin, at - begin)));
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

class CascadeWriter {
 public:
  CascadeWriter(ImportContext& context, PlacedText& places) : context_(context), places_(places) {}

  std::string write(const YamlNode& list, double bits) {
    std::string einsums;
    for (const YamlPointer& item : list.items) einsums += einsum_text(*item);
    return fmt::format("{}workload:\n  name: cascade\n  bits_per_value: {{All: {}}}\n  einsums:\n",
                       places_.mark(list.position), yaml_number(bits)) +
           einsums;
  }

 private:
  std::string einsum_text(const YamlNode& item) {
    note_other_keys(context_, item, "a problem", {"shape", "instance", "version"});
    const YamlNode* shape = required_key(context_, item, "shape", "a problem of a cascade");
    const YamlNode* instance = required_key(context_, item, "instance", "a problem of a cascade");
    if (shape == nullptr || instance == nullptr) return {};
    if (!instance->is_scalar()) {
      context_.read.error(*instance,
                          fmt::format("the instance of a cascade's problem must be a "
                                      "text, not {}",
                                      describe(*instance)),
                          "like '0 <= P < 9 and 0 <= M < 4'");
      return {};
    }
    note_other_keys(context_, *shape, "the shape",
                    {"name", "dimensions", "data_spaces", "version"});
    dimensions_ = read_names(
        context_.read, required_key(context_, *shape, "dimensions", "the shape"), "dimensions");
    std::string output, inputs;
    if (const YamlNode* spaces = required_key(context_, *shape, "data_spaces", "the shape"))
      for (const YamlPointer& space : spaces->items) {
        const YamlNode* written = find_key(*space, "read_write");
        const bool is_output =
            written != nullptr && read_bool(context_.read, written, "read-write").value_or(false);
        const std::string access = access_text(*space);
        if (!is_output)
          inputs += (inputs.empty() ? "" : " * ") + access;
        else if (output.empty())
          output = access;
        else
          context_.read.error(*space, "a second read-write data space: an Einsum has one output");
      }
    if (output.empty())
      context_.read.error(*shape, "no data space is read-write: an Einsum needs an output",
                          "mark it with 'read_write: True'");
    if (inputs.empty()) context_.read.error(*shape, "the problem has no data space to read");
    const YamlNode* name = find_key(*shape, "name");
    return fmt::format("  - einsum: \"{} = {}\"\n", output, inputs) +
           (name == nullptr ? "" : fmt::format("    name: {}\n", sluice_name(name->text))) +
           fmt::format("    {}iteration_space_shape: {}\n", places_.mark(instance->position),
                       bounds_text(*instance));
  }

  std::string access_text(const YamlNode& space) {
    note_other_keys(context_, space, "a data space",
                    {"name", "dimensions", "projection", "read_write"});
    const YamlNode* name = required_key(context_, space, "name", "a data space");
    const YamlNode* projection = required_key(context_, space, "projection", "a data space");
    if (name == nullptr || projection == nullptr) return {};
    const YamlNode* ranks = find_key(space, "dimensions");
    const std::vector<std::string> own = ranks == nullptr
                                             ? std::vector<std::string>{}
                                             : read_names(context_.read, ranks, "dimensions");
    const std::vector<std::string> indices = indices_of(*projection);
    if (!own.empty() && own.size() != indices.size())
      context_.read.error(*projection,
                          fmt::format("the projection has {} indices, and the data space {} "
                                      "dimensions",
                                      indices.size(), own.size()));
    std::string text;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::string rank = i < own.size() ? own[i] : fmt::format("{}_{}", name->text, i);
      text +=
          fmt::format("{}{}:{}", text.empty() ? "" : ",", in_case(sluice_name(rank), std::toupper),
                      with_variables(indices[i], *projection));
    }
    return fmt::format("{}{}[{}]", places_.mark(space.position), sluice_name(name->text), text);
  }

  /// `'[ C1, 2*P1 + R1 ]'`, or a list of such indices.
  std::vector<std::string> indices_of(const YamlNode& projection) const {
    std::vector<std::string> indices;
    for (const YamlPointer& item : projection.items) indices.push_back(item->text);
    if (!projection.is_scalar()) return indices;
    std::string text = trimmed(projection.text);
    if (!text.empty() && text.front() == '[') text.erase(0, 1);
    if (!text.empty() && text.back() == ']') text.pop_back();
    return parts_of(text, ",");
  }

  std::string with_variables(const std::string& text, const YamlNode& place) {
    return with_names(text, [&](const std::string& word) {
      if (std::find(dimensions_.begin(), dimensions_.end(), word) == dimensions_.end())
        context_.read.error(place, fmt::format("{} is no dimension of the problem", word),
                            did_you_mean(word, dimensions_));
      return in_case(sluice_name(word), std::tolower);
    });
  }

  /// `0 <= P1 < 9 and 0 <= M1 < {M}`: what stands in braces, `--set` gives.
  std::string bounds_text(const YamlNode& instance) {
    const std::vector<std::string> clauses = parts_of(with_given_values(instance), " and ");
    std::string text;
    for (const std::string& clause : clauses)
      text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", with_variables(clause, instance));
    return "[" + text + "]";
  }

  std::string with_given_values(const YamlNode& instance) {
    std::string text, rest = instance.text;
    std::replace(rest.begin(), rest.end(), '\n', ' ');
    for (std::size_t open; (open = rest.find('{')) != std::string::npos;) {
      const std::size_t close = rest.find('}', open);
      if (close == std::string::npos) break;
      const std::string name = trimmed(rest.substr(open + 1, close - open - 1));
      context_.template_variables.insert(name);
      const auto set = context_.read.options().variables.find(name);
      if (set == context_.read.options().variables.end())
        context_.read.error(instance, fmt::format("there is no value for {{{}}}", name),
                            fmt::format("--set {}=VALUE", name));
      text += rest.substr(0, open) +
              (set == context_.read.options().variables.end() ? "1" : set->second);
      rest = rest.substr(close + 1);
    }
    return text + rest;
  }

  ImportContext& context_;
  PlacedText& places_;
  std::vector<std::string> dimensions_;  ///< of the item
};

}  // namespace

std::string cascade_text(ImportContext& context, const YamlNode& list, double word_bits,
                         PlacedText& places) {
  places = {};
  return places.finish(CascadeWriter(context, places).write(list, word_bits));
}

}  // namespace sluice::timeloop
