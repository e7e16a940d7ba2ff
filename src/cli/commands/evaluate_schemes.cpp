#include <fmt/format.h>

#include <ostream>
#include <string>
#include <vector>

#include "cli/io/failure.h"
#include "cli/io/scheme_lines.h"
#include "cli/io/text_of_file.h"
#include "commands.h"
#include "sluice/kapla/evaluate.h"
#include "sluice/kapla/scheme_text.h"

namespace sluice::cli {
namespace {

void append(const Diagnostics& more, Diagnostics& mistakes) {
  mistakes.insert(mistakes.end(), more.begin(), more.end());
}

/// The schemes of one run after another.
std::vector<std::vector<kapla::Scheme>> split_by_run(const std::vector<kapla::Scheme>& schemes) {
  std::vector<std::vector<kapla::Scheme>> runs;
  for (const kapla::Scheme& scheme : schemes) {
    if (runs.empty() || runs.back().back().run != scheme.run) runs.emplace_back();
    runs.back().push_back(scheme);
  }
  return runs;
}

std::vector<kapla::SchemeCost> evaluate_all(const kapla::RunTable& table,
                                            const std::vector<kapla::Scheme>& schemes,
                                            Diagnostics& mistakes) {
  std::vector<kapla::SchemeCost> costs;
  for (const std::vector<kapla::Scheme>& of_run : split_by_run(schemes)) {
    const Result<kapla::Run> run = table.find(of_run.front().run, of_run.front().place);
    if (!run) {
      append(run.error(), mistakes);
      continue;
    }
    const auto priced = kapla::evaluate_schemes(*run, of_run);
    if (priced)
      costs.insert(costs.end(), priced->begin(), priced->end());
    else
      append(priced.error(), mistakes);
  }
  return costs;
}

}  // namespace

ExitCode run_evaluate_schemes(const EvaluateSchemesArguments& arguments, const Console& console) {
  if (arguments.runs.empty() || arguments.schemes.empty())
    throw Failure(ExitCode::kBadInput, "`--schemes` and `--runs` belong together",
                  "sluice evaluate --compat kapla --runs results.csv --schemes schemes.jsonl");
  const auto table = kapla::RunTable::read(text_of_file(arguments.runs), arguments.runs,
                                           arguments.compatible_with == "kapla");
  if (!table) throw Failure(table.error());
  const SchemeLines read = read_scheme_lines(arguments.schemes);
  Diagnostics mistakes;
  const std::vector<kapla::SchemeCost> costs = evaluate_all(*table, read.schemes, mistakes);
  if (!mistakes.empty()) throw Failure(std::move(mistakes));
  for (std::size_t i = 0; i < costs.size(); ++i)
    console.out << kapla::with_cost(read.lines[i], costs[i]) << '\n';
  console.out << std::flush;
  console.log.note(fmt::format("evaluated {} schemes", costs.size()));
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
