#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "cli/io/failure.h"
#include "commands.h"
#include "sluice/kapla/evaluate.h"
#include "sluice/kapla/scheme_text.h"

namespace sluice::cli {
namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure(ExitCode::kFileTrouble, fmt::format("cannot read {}", path));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw Failure(ExitCode::kFileTrouble, fmt::format("cannot read {}", path));
  return text;
}

/// The lines of a schemes file, with their schemes.
struct SchemeLines {
  std::vector<std::string> lines;
  std::vector<kapla::Scheme> schemes;
};

void append(const Diagnostics& more, Diagnostics& mistakes) {
  mistakes.insert(mistakes.end(), more.begin(), more.end());
}

SchemeLines read_scheme_lines(const std::string& path, Diagnostics& mistakes) {
  std::ifstream file(path);
  if (!file) throw Failure(ExitCode::kFileTrouble, fmt::format("cannot read {}", path));
  SchemeLines read;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (auto scheme = kapla::read_scheme(line, {path, number, 0})) {
      read.schemes.push_back(std::move(*scheme));
      read.lines.push_back(line);
    } else {
      append(scheme.error(), mistakes);
    }
  }
  return read;
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
  Diagnostics mistakes;
  const SchemeLines read = read_scheme_lines(arguments.schemes, mistakes);
  if (!mistakes.empty()) throw Failure(std::move(mistakes));
  const std::vector<kapla::SchemeCost> costs = evaluate_all(*table, read.schemes, mistakes);
  if (!mistakes.empty()) throw Failure(std::move(mistakes));
  for (std::size_t i = 0; i < costs.size(); ++i)
    console.out << kapla::with_cost(read.lines[i], costs[i]) << '\n';
  console.out << std::flush;
  if (!console.out) throw Failure(ExitCode::kFileTrouble, "cannot write to standard output");
  console.log.note(fmt::format("evaluated {} schemes", costs.size()));
  return ExitCode::kSuccess;
}

}  // namespace sluice::cli
