#include "cli/usage_failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sluice/support/diagnostic.h"

namespace sluice::cli {
namespace {

bool is_repeated(const CLI::Option& option) {
  return option.get_multi_option_policy() == CLI::MultiOptionPolicy::Throw &&
         option.get_items_expected_max() == 1 && option.count() > 1;
}

std::string name_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  return option.get_snames().empty() ? option.get_name() : "-" + option.get_snames().front();
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string nearest_hint(const std::string& word, const std::vector<std::string>& names,
                         const std::string& command) {
  const std::string nearest = nearest_name(word, names);
  return nearest.empty() ? fmt::format("see {} --help", command)
                         : fmt::format("did you mean `{}`?", nearest);
}

}  // namespace

Failure usage_failure(const CLI::App& app, const std::vector<std::string>& commands,
                      const std::vector<std::string>& arguments, const CLI::ParseError& error) {
  const auto given = app.get_subcommands();
  if (given.empty() && !arguments.empty() && arguments.front().rfind('-', 0) != 0)
    return {ExitCode::kBadInput, fmt::format("there is no command `{}`", arguments.front()),
            nearest_hint(arguments.front(), commands, "sluice")};
  if (given.empty()) return {ExitCode::kBadInput, error.what(), "see sluice --help"};
  const std::string command = "sluice " + given.front()->get_name();
  for (const std::string& argument : given.front()->remaining())
    if (argument.rfind("--", 0) == 0)
      return {ExitCode::kBadInput, fmt::format("there is no option {}", argument),
              nearest_hint(argument, names_of_options(*given.front()), command)};
  for (const CLI::Option* option : given.front()->get_options())
    if (is_repeated(*option))
      return {ExitCode::kBadInput,
              fmt::format("{} takes one value and is given {}: {}", name_of(*option),
                          option->count() == 2 ? "twice" : fmt::format("{} times", option->count()),
                          fmt::join(option->results(), ", ")),
              "leave out all but one"};
  return {ExitCode::kBadInput, error.what(), fmt::format("see {} --help", command)};
}

}  // namespace sluice::cli
