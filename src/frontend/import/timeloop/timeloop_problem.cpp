#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "frontend/import/reading/made_nodes.h"
#include "frontend/import/timeloop/timeloop.h"
#include "frontend/yaml/values.h"
#include "sluice/support/checked.h"

namespace sluice::timeloop {
namespace {

struct BuiltInSpace {
  const char* name;
  std::vector<std::vector<std::pair<const char*, const char*>>> ranks;
  bool is_output;
};

/// One of the shapes that come with Timeloop, for problems that only name it.
struct BuiltInShape {
  const char* key;   ///< as problems call it, with `_`
  const char* name;  ///< of the workload
  std::vector<std::string> dimensions;
  std::vector<const char*> coefficients;
  std::vector<BuiltInSpace> spaces;
};

const std::vector<BuiltInShape>& built_in_shapes() {
  static const std::vector<BuiltInShape> kShapes = {
      {"cnn_layer",
       "CNN",
       {"R", "S", "P", "Q", "C", "K", "N"},
       {"Wstride", "Hstride", "Wdilation", "Hdilation"},
       {{"Weights", {{{"C", ""}}, {{"K", ""}}, {{"R", ""}}, {{"S", ""}}}, false},
        {"Inputs",
         {{{"N", ""}},
          {{"C", ""}},
          {{"R", "Wdilation"}, {"P", "Wstride"}},
          {{"S", "Hdilation"}, {"Q", "Hstride"}}},
         false},
        {"Outputs", {{{"N", ""}}, {{"K", ""}}, {{"Q", ""}}, {{"P", ""}}}, true}}},
      {"gemm_ABZ",
       "GEMM",
       {"M", "N", "K"},
       {},
       {{"A", {{{"M", ""}}, {{"K", ""}}}, false},
        {"B", {{{"N", ""}}, {{"K", ""}}}, false},
        {"Z", {{{"M", ""}}, {{"N", ""}}}, true}}}};
  return kShapes;
}

/// By its name, perhaps that of its file; the first where there is none. Null: it is not known.
const BuiltInShape* built_in_shape(const YamlNode* shape) {
  if (shape == nullptr) return &built_in_shapes().front();
  std::string key = with_underscores(shape->text);
  if (const std::size_t suffix = key.rfind(".yaml"); suffix != std::string::npos)
    key.resize(suffix);
  for (const BuiltInShape& known : built_in_shapes())
    if (key == known.key) return &known;
  return nullptr;
}

/// Height and width of the input and its padding, which timeloopfe's layers give beside what says
/// the same.
const std::set<std::string> kSizesThatFollow = {"H", "W", "Hpad", "Wpad"};

class ProblemReader {
 public:
  /// `shape`: a section of its own, or null.
  ProblemReader(ImportContext& context, const YamlNode& node, const YamlNode* shape)
      : context_(context), node_(node), shape_(shape) {
    problem_.node = &node;
  }

  std::optional<Problem> read() {
    const std::size_t errors = context_.read.n_errors();
    if (!node_.is_map()) {
      context_.read.error(node_, fmt::format("problem must be a map, not {}", describe(node_)));
      return std::nullopt;
    }
    if (has_misspelt_key(context_, node_, "the problem", {"shape", "instance"}))
      return std::nullopt;
    const YamlNode* shape = find_key(node_, "shape");
    const YamlNode* instance = find_key(node_, "instance");
    problem_.instance = instance;
    if (instance == nullptr) instance = &node_;
    const bool is_told_elsewhere = shape_ != nullptr && (shape == nullptr || shape->is_scalar());
    if (is_told_elsewhere) {
      described(*shape_, *instance);
    } else if (shape == nullptr || shape->is_scalar()) {
      built_in(shape, *instance);
    } else {
      described(*shape, *instance);
    }
    note_rest(*instance);
    if (context_.read.n_errors() > errors) return std::nullopt;
    drop_still_terms();
    return std::move(problem_);
  }

 private:
  void described(const YamlNode& shape, const YamlNode& instance) {
    note_other_keys(context_, shape, "the shape",
                    {"name", "dimensions", "coefficients", "data_spaces", "version"});
    if (const YamlNode* name = find_key(shape, "name"))
      problem_.name = read_text(context_.read, name, "name").value_or("");
    problem_.dimensions = read_names(
        context_.read, required_key(context_, shape, "dimensions", "the shape"), "dimensions");
    read_sizes(instance);
    if (const YamlNode* coefficients = find_key(shape, "coefficients"))
      for (const YamlPointer& item : coefficients->items) read_coefficient(*item, instance);
    const YamlNode* spaces = required_key(context_, shape, "data_spaces", "the shape");
    if (spaces == nullptr) return;
    for (const YamlPointer& space : spaces->items) read_space(*space);
    if (problem_.data_spaces.empty())
      context_.read.error(*spaces, "data-spaces must be a list of data spaces");
  }

  void built_in(const YamlNode* shape, const YamlNode& instance) {
    const BuiltInShape* const known = built_in_shape(shape);
    if (known == nullptr) {
      context_.read.error(*shape, fmt::format("there is no built-in shape '{}'", shape->text),
                          "those that are known are cnn-layer and gemm-ABZ");
      return;
    }
    problem_.name = known->name;
    problem_.dimensions = known->dimensions;
    read_sizes(instance);
    for (const char* name : known->coefficients) {
      const YamlNode* value = find_key(instance, name);
      used_.insert(name);
      coefficients_[name] = value == nullptr ? 1 : read_coefficient_value(*value, name);
    }
    for (const BuiltInSpace& space : known->spaces) {
      DataSpace own{space.name, {}, space.is_output, &node_};
      for (const auto& rank : space.ranks) {
        std::vector<Term> terms;
        for (const auto& [dimension, coefficient] : rank)
          terms.push_back({*problem_.dimension(dimension),
                           *coefficient == '\0' ? 1 : coefficients_[coefficient]});
        own.ranks.push_back(std::move(terms));
      }
      problem_.data_spaces.push_back(std::move(own));
    }
  }

  /// A coefficient of 0 moves no index.
  void drop_still_terms() {
    for (DataSpace& space : problem_.data_spaces) {
      for (std::vector<Term>& rank : space.ranks)
        std::erase_if(rank, [](const Term& term) { return term.coefficient == 0; });
      std::erase_if(space.ranks, [](const std::vector<Term>& rank) { return rank.empty(); });
    }
  }

  void read_sizes(const YamlNode& instance) {
    for (const std::string& dimension : problem_.dimensions) {
      const YamlNode* size = instance.find(dimension);
      used_.insert(with_underscores(dimension));
      if (size == nullptr)
        context_.read.error(instance,
                            fmt::format("the instance gives no size of dimension {}", dimension));
      problem_.sizes.push_back(
          size == nullptr ? 1
                          : read_integer(context_.read, size, dimension.c_str(), 1).value_or(1));
    }
  }

  void read_coefficient(const YamlNode& item, const YamlNode& instance) {
    const YamlNode* name_node = required_key(context_, item, "name", "a coefficient");
    if (name_node == nullptr) return;
    const std::string name = read_text(context_.read, name_node, "name").value_or("");
    used_.insert(with_underscores(name));
    const YamlNode* value = instance.find(name);
    if (value == nullptr) value = find_key(item, "default");
    if (value == nullptr)
      context_.read.error(item, fmt::format("the coefficient {} has neither a value in the "
                                            "instance nor a default",
                                            name));
    else
      coefficients_[name] = read_coefficient_value(*value, name);
  }

  /// 0, in Timeloop as here: the dimension does not move the index.
  std::int64_t read_coefficient_value(const YamlNode& value, const std::string& name) {
    const std::int64_t coefficient =
        read_integer(context_.read, &value, name.c_str(), 0).value_or(1);
    if (coefficient == 0)
      context_.note(value,
                    fmt::format("{} is 0: what it multiplies does not move the index, as in "
                                "Timeloop",
                                name),
                    "a convolution without dilation has 1");
    return coefficient;
  }

  void read_space(const YamlNode& node) {
    note_other_keys(context_, node, "a data space", {"name", "projection", "read_write"});
    DataSpace space;
    space.node = &node;
    const YamlNode* name = required_key(context_, node, "name", "a data space");
    if (name != nullptr) space.name = read_text(context_.read, name, "name").value_or("");
    if (const YamlNode* output = find_key(node, "read_write"))
      space.is_output = read_bool(context_.read, output, "read-write").value_or(false);
    if (const YamlNode* projection = required_key(context_, node, "projection", "a data space"))
      for (const YamlPointer& rank : projection->items) space.ranks.push_back(read_rank(*rank));
    problem_.data_spaces.push_back(std::move(space));
  }

  /// `[ [R], [P, Wstride] ]`, `[R]` or `R`.
  std::vector<Term> read_rank(const YamlNode& rank) {
    std::vector<Term> terms;
    if (rank.is_scalar()) {
      read_term({&rank}, terms);
    } else if (!rank.items.empty() && rank.items.front()->is_scalar()) {
      read_term(pointers(rank), terms);
    } else {
      for (const YamlPointer& term : rank.items)
        read_term(term->is_scalar() ? std::vector<const YamlNode*>{term.get()} : pointers(*term),
                  terms);
    }
    if (terms.empty()) context_.read.error(rank, "an index of a projection has no dimension");
    return terms;
  }

  static std::vector<const YamlNode*> pointers(const YamlNode& list) {
    std::vector<const YamlNode*> items;
    for (const YamlPointer& item : list.items) items.push_back(item.get());
    return items;
  }

  /// A dimension and its coefficients, in any order.
  void read_term(const std::vector<const YamlNode*>& words, std::vector<Term>& terms) {
    std::optional<int> dimension;
    std::int64_t coefficient = 1;
    for (const YamlNode* word : words) {
      const auto known = problem_.dimension(word->text);
      const auto value = coefficients_.find(word->text);
      if (known && !dimension) {
        dimension = known;
      } else if (value != coefficients_.end()) {
        coefficient = checked_multiply(coefficient, value->second);
      } else if (!word->text.empty() && word->text[0] >= '0' && word->text[0] <= '9') {
        coefficient = checked_multiply(
            coefficient, read_integer(context_.read, word, "a coefficient", 1).value_or(1));
      } else {
        std::vector<std::string> names = problem_.dimensions;
        for (const auto& [name, unused] : coefficients_) names.push_back(name);
        context_.read.error(
            *word,
            fmt::format("{} is neither a dimension nor a coefficient of the problem",
                        describe(*word)),
            did_you_mean(word->text, names));
        return;
      }
    }
    if (dimension) terms.push_back({*dimension, coefficient});
  }

  /// What sparsity could save: with independent zeros, operations and accesses that are skipped
  /// where one operand is zero shrink to the product of the densities.
  void note_densities(const YamlNode& key, const YamlNode& densities) {
    double product = 1;
    std::vector<std::string> known;
    for (const YamlEntry& entry : densities.entries) {
      const YamlNode* density =
          entry.value->is_scalar() ? entry.value.get() : entry.value->find("density");
      if (density == nullptr) continue;
      const auto value =
          read_quantity(context_.read, density, {.what = "a density", .zero = false});
      if (!value) continue;
      known.push_back(fmt::format("{} {:.3g}", entry.key->text, value->value));
      const auto space = std::find_if(
          problem_.data_spaces.begin(), problem_.data_spaces.end(),
          [&](const DataSpace& known_one) { return known_one.name == entry.key->text; });
      if (space != problem_.data_spaces.end() && !space->is_output) product *= value->value;
    }
    context_.note(key, fmt::format("every value is taken for dense: densities ({}) have no "
                                   "counterpart. Operations, accesses, energy and cycles are at "
                                   "most {:.3g} times those of a design that skips all zeros",
                                   fmt::join(known, ", "), 1 / product));
  }

  void note_rest(const YamlNode& instance) {
    used_.insert({"shape", "instance", "version", "name"});
    for (const YamlEntry& entry : instance.entries) {
      if (used_.count(with_underscores(entry.key->text)) > 0) continue;
      if (entry.key->text == "densities")
        note_densities(*entry.key, *entry.value);
      else if (kSizesThatFollow.count(entry.key->text) == 0)
        context_.note(*entry.key,
                      fmt::format("'{}' is neither a dimension nor a coefficient of the shape and "
                                  "is left out",
                                  entry.key->text),
                      did_you_mean(entry.key->text, {used_.begin(), used_.end()}));
    }
    if (&instance != &node_)
      note_other_keys(context_, node_, "the problem", {"shape", "instance", "version", "name"});
  }

  ImportContext& context_;
  const YamlNode& node_;
  const YamlNode* shape_;
  Problem problem_;
  std::map<std::string, std::int64_t> coefficients_;
  std::set<std::string> used_;
};

}  // namespace

std::optional<int> Problem::dimension(const std::string& wanted) const {
  const auto found = std::find(dimensions.begin(), dimensions.end(), wanted);
  if (found == dimensions.end()) return std::nullopt;
  return static_cast<int>(found - dimensions.begin());
}

void read_problem(ImportContext& context, const YamlNode& node, const YamlNode* shape,
                  Specs& specs) {
  specs.problem = ProblemReader(context, node, shape).read();
}

void read_shape(ImportContext& context, const YamlNode& shape, Specs& specs) {
  const std::vector<std::string> dimensions =
      read_names(context.read, find_key(shape, "dimensions"), "dimensions");
  const auto instance = made_node(YamlNode::Kind::kMap, shape);
  for (const std::string& dimension : dimensions) {
    const auto set = context.read.options().variables.find(dimension);
    const bool is_set = set != context.read.options().variables.end();
    if (is_set) context.template_variables.insert(dimension);
    if (!is_set)
      context.note(shape,
                   fmt::format("the shape gives dimension {} no size: it has 1 here", dimension),
                   fmt::format("name the file with the problem's instance, too, or --set {}=SIZE",
                               dimension));
    instance->entries.push_back(
        {made_text(dimension, shape), made_text(is_set ? set->second : "1", shape)});
  }
  context.made.push_back(instance);
  read_problem(context, *instance, &shape, specs);
}

}  // namespace sluice::timeloop
