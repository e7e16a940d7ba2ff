#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "frontend/import/timeloop/timeloop_names.h"
#include "support/yaml_text.h"

namespace sluice::timeloop {
namespace {

constexpr double kDefaultWordBits = 16;  // Timeloop's

class WorkloadWriter {
 public:
  WorkloadWriter(ImportContext& context, const Specs& specs, PlacedText& places)
      : context_(context), problem_(*specs.problem), names_(problem_), places_(places) {}

  std::string write(double word_bits) {
    std::string text = places_.mark(problem_.node->position) + "workload:\n";
    text += fmt::format("  name: {}\n",
                        yaml_scalar(problem_.name.empty() ? "timeloop" : problem_.name));
    text += fmt::format("  bits_per_value: {{All: {}}}\n", yaml_number(word_bits));
    const std::string einsum = einsum_text();
    YamlFlowMap sizes, bounds;
    for (std::size_t d = 0; d < problem_.dimensions.size(); ++d) {
      const std::string& variable = names_.variables[d];
      if (used_.count(static_cast<int>(d)) == 0) {
        if (problem_.sizes[d] > 1)
          context_.note(*problem_.node,
                        fmt::format("dimension {} indexes no data space: its {} steps would repeat "
                                    "every operation; they are left out",
                                    problem_.dimensions[d], problem_.sizes[d]));
      } else if (plain_.count(static_cast<int>(d)) > 0) {
        sizes.add(names_.ranks[d], std::to_string(problem_.sizes[d]));
      } else {
        bounds.add(variable, fmt::format("0 <= {} < {}", variable, problem_.sizes[d]));
      }
    }
    if (problem_.instance != nullptr) text += places_.mark(problem_.instance->position);
    if (!sizes.empty()) text += fmt::format("  rank_sizes: {}\n", sizes.text());
    if (!bounds.empty()) text += fmt::format("  iteration_space_shape: {}\n", bounds.text());
    return text + renames_text() + fmt::format("  einsums:\n  - \"{}\"\n", einsum);
  }

 private:
  /// Architectures ask for `input`, `weight` and `output`, as those of the library do.
  std::string renames_text() const {
    const auto is_weight = [](const DataSpace& space) {
      std::string name = space.name.substr(0, 6);
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return !space.is_output && (name == "weight" || name == "filter" || name == "kernel");
    };
    const std::vector<DataSpace>& spaces = problem_.data_spaces;
    if (spaces.size() != 3 || std::count_if(spaces.begin(), spaces.end(), is_weight) != 1)
      return {};
    const std::string weight =
        sluice_name(std::find_if(spaces.begin(), spaces.end(), is_weight)->name);
    return fmt::format("  renames: {{input: Inputs - {0}, weight: {0}, output: Outputs}}\n",
                       weight);
  }

  std::string einsum_text() {
    std::string output, inputs;
    int n_outputs = 0;
    for (const DataSpace& space : problem_.data_spaces) {
      const std::string access = access_text(space);
      if (space.is_output) {
        output = access;
        if (++n_outputs == 2)
          context_.read.error(*space.node,
                              "a second read-write data space: an Einsum has one "
                              "output");
      } else {
        inputs += (inputs.empty() ? "" : " * ") + access;
      }
    }
    if (n_outputs == 0)
      context_.read.error(*problem_.node, "no data space is read-write: an Einsum needs an output",
                          "mark it with 'read-write: True'");
    if (inputs.empty())
      context_.read.error(*problem_.node, "the problem has no data space to read");
    return output + " = " + inputs;
  }

  std::string access_text(const DataSpace& space) {
    std::vector<std::string> indices;
    for (const std::vector<Term>& rank : space.ranks) indices.push_back(index_text(rank));
    return fmt::format("{}{}[{}]", places_.mark(space.node->position), sluice_name(space.name),
                       fmt::join(indices, ","));
  }

  std::string index_text(const std::vector<Term>& rank) {
    for (const Term& term : rank) used_.insert(term.dimension);
    const auto variable = [&](const Term& term) {
      return names_.variables[static_cast<std::size_t>(term.dimension)];
    };
    if (rank.size() == 1 && rank.front().coefficient == 1) {
      plain_.insert(rank.front().dimension);
      return variable(rank.front());
    }
    std::string index;
    for (const Term& term : rank) {
      if (!index.empty()) index += "+";
      index += term.coefficient == 1 ? variable(term)
                                     : fmt::format("{}*{}", term.coefficient, variable(term));
    }
    return fmt::format("{}:{}", rank_of(index, rank), index);
  }

  /// One rank for each form of index; tensors that share it share the form.
  std::string rank_of(const std::string& index, const std::vector<Term>& rank) {
    const auto known = compound_.find(index);
    if (known != compound_.end()) return known->second;
    std::string name = "R";
    for (const Term& term : rank) name += names_.ranks[static_cast<std::size_t>(term.dimension)];
    name = names_.unused_rank(name);
    return compound_[index] = name;
  }

  ImportContext& context_;
  const Problem& problem_;
  Names names_;
  PlacedText& places_;
  std::set<int> used_, plain_;  ///< dimensions
  std::map<std::string, std::string> compound_;
};

}  // namespace

Names::Names(const Problem& problem) {
  for (const std::string& dimension : problem.dimensions) {
    std::string variable = sluice_name(dimension);
    std::transform(variable.begin(), variable.end(), variable.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (is_expression_keyword(variable)) variable += "_";
    while (std::find(variables.begin(), variables.end(), variable) != variables.end())
      variable += "_";
    variables.push_back(variable);
    std::string rank = variable;
    std::transform(rank.begin(), rank.end(), rank.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    ranks.push_back(rank);
    taken_.insert(rank);
  }
}

std::string Names::unused_rank(std::string name) {
  while (!taken_.insert(name).second) name += "_";
  return name;
}

double word_bits_of(ImportContext& context, const Specs& specs) {
  for (auto level = specs.levels.rbegin(); level != specs.levels.rend(); ++level) {
    Attributes attributes = level->attributes;
    const auto bits = attributes.number(context, {"word_bits", "word_width", "datawidth"}, false);
    if (bits) return *bits;
  }
  return kDefaultWordBits;
}

std::string workload_text(ImportContext& context, const Specs& specs, PlacedText& places) {
  places = {};
  return places.finish(WorkloadWriter(context, specs, places).write(word_bits_of(context, specs)));
}

}  // namespace sluice::timeloop
