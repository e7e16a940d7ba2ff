#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/io/failure.h"
#include "cli/io/text_of_file.h"
#include "commands.h"
#include "constrained.h"
#include "report/document/mapping_lines.h"
#include "report/document/result_document.h"
#include "sluice/model/evaluate.h"
#include "sluice/support/error.h"

namespace sluice::cli {
namespace {

/// Prices lines of a stream, one after another.
class Batch {
 public:
  Batch(const BoundProblem& problem, const std::optional<Constraints>& constraints,
        LatencyPolicy policy, const Console& console)
      : problem_(problem),
        constraints_(constraints),
        policy_(policy),
        console_(console),
        reader_(problem.workload, problem.arch) {}

  /// The worst that happened: nothing, a mapping that cannot be priced, an illegal one, a line that
  /// is no mapping.
  ExitCode run(std::istream& lines) {
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      price(line, number);
      const bool is_awaited = lines.rdbuf()->in_avail() <= 0;  // by whoever writes the next line
      if (is_awaited || text_.size() > kBlock) flush();
    }
    flush();
    return worst_;
  }

  std::size_t n_mappings() const { return n_mappings_; }

 private:
  static constexpr std::size_t kBlock = 1 << 16;

  void price(const std::string& line, std::size_t number) {
    ++n_mappings_;
    try {
      const Mapping mapping = reader_.read(line);
      if (!price_legal(mapping, number)) explain(mapping, number);
    } catch (const Json::parse_error& mistake) {
      refuse(number, fmt::format("this is no JSON: character {} makes no sense", mistake.byte));
    } catch (const Json::exception&) {
      refuse(number, "a value is of another kind than its key asks for");
    } catch (const std::exception& mistake) {
      if (dynamic_cast<const InternalError*>(&mistake)) throw;
      refuse(number, mistake.what());
    }
  }

  void refuse(std::size_t number, const std::string& message) {
    worst_ = ExitCode::kBadInput;
    append(number, "error", Json{{"message", message}});
  }

  /// Reads back to the same bits; JSON has no infinity.
  static std::string number_text(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
  }

  bool price_legal(const Mapping& mapping, std::size_t number) {
    const auto totals = evaluate_totals(problem_, mapping, policy_);
    if (!totals || !constraint_faults(problem_, mapping, constraints_).empty()) return false;
    const auto& clock_hz = problem_.arch.clock_hz;
    fmt::format_to(std::back_inserter(text_),
                   R"({{"line":{},"status":"ok","energy_j":{},"latency_s":{},"latency_cycles":{}}})"
                   "\n",
                   number, number_text(totals->energy_j), number_text(totals->latency_s),
                   clock_hz ? number_text(totals->latency_s * *clock_hz) : "null");
    return true;
  }

  void explain(const Mapping& mapping, std::size_t number) {
    const auto cost = evaluate_constrained(problem_, mapping, policy_, constraints_);
    Json violations = Json::array();
    RunStatus status = RunStatus::kOk;
    if (!cost) {
      add_violations(cost.error(), status);
      for (const Violation& violation : cost.error())
        violations.push_back(violation_to_json(violation, mapping, {}, problem_));
    }
    if (worst_ != ExitCode::kBadInput && worst_ != ExitCode::kHonestNo)
      worst_ = exit_code_of(status);
    append(number, status_name(status), Json{{"violations", std::move(violations)}});
  }

  void append(std::size_t number, const std::string& status, const Json& more) {
    Json line = {{"line", number}, {"status", status}};
    line.update(more);
    text_ += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  void flush() {
    console_.out << text_ << std::flush;
    if (!console_.out) throw Failure(ExitCode::kFileTrouble, "cannot write to standard output");
    text_.clear();
  }

  const BoundProblem& problem_;
  const std::optional<Constraints>& constraints_;
  LatencyPolicy policy_;
  const Console& console_;
  MappingLines reader_;
  std::string text_;
  ExitCode worst_ = ExitCode::kSuccess;
  std::size_t n_mappings_ = 0;
};

}  // namespace

ExitCode run_evaluate_batch(const EvaluateArguments& arguments, const Console& console) {
  if (!arguments.output.folder.empty())
    throw Failure(ExitCode::kBadInput, "`--batch` writes to standard output, not into a folder");
  const Specs specs = load(arguments.specs);
  const BoundProblem problem = bind_or_fail(specs, arguments.specs);
  print_diagnostics(console, specs.warnings);
  Batch batch(problem, specs.constraints, arguments.latency, console);
  ExitCode code = ExitCode::kSuccess;
  if (arguments.batch == "-") {
    std::ios::sync_with_stdio(false);  // else nobody knows whether there is more to read
    code = batch.run(std::cin);
  } else {
    std::ifstream file = open_file(arguments.batch);
    code = batch.run(file);
  }
  console.log.note(fmt::format("evaluated {} mappings", batch.n_mappings()));
  return code;
}

}  // namespace sluice::cli
