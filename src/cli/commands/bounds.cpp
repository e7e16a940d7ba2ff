#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/io/failure.h"
#include "cli/io/interrupt.h"
#include "cli/io/leftovers.h"
#include "cli/io/output_folder.h"
#include "commands.h"
#include "publish.h"
#include "replaced_result.h"
#include "report/document/bounds_document.h"
#include "report/text/bounds_table.h"
#include "search_options.h"
#include "sluice/mapper/least_costs.h"
#include "sluice/mapper/options_table.h"
#include "sluice/sweep/varied_field.h"
#include "support/seconds_since.h"
#include "sweep/plan/field_conflicts.h"

namespace sluice::cli {
namespace {

class BoundsRun {
 public:
  BoundsRun(const BoundsArguments& arguments, const Console& console)
      : arguments_(arguments), console_(console), progress_(console, arguments.progress) {
    if (!arguments.vary.empty()) varied_ = value_or_fail(varied_field(arguments.vary));
    report_.varied = varied_.name;
    refuse_repeated();
    if (arguments.vary.empty()) varied_.values = {""};
  }

  ExitCode run() {
    const InterruptGuard interrupt;
    load_all();
    warn_of_replaced(arguments_.output.folder, as_value(bounds_document(report_)), console_);
    prepare_output(arguments_.output);
    search_all(interrupt.flag());
    publish_report();
    if (report_.is_interrupted) return ExitCode::kInterrupted;
    for (const BoundsPoint& point : report_.points)
      if (point.least) return ExitCode::kSuccess;
    return ExitCode::kHonestNo;
  }

  BoundsReport report(const std::atomic<bool>& cancel) {
    load_all();
    search_all(cancel);
    return std::move(report_);
  }

 private:
  void search_all(const std::atomic<bool>& cancel) {
    for (std::size_t i = 0; i < problems_.size() && !cancel; ++i) search(i, cancel);
    report_.is_interrupted = cancel;
    progress_.clear();
    carry();
  }

  void refuse_repeated() const {
    if (varied_.name.empty()) return;
    const Diagnostics repeated = repeated_fields({varied_}, settings());
    if (!repeated.empty()) throw Failure(repeated);
  }

  SweepSettings settings() const {
    const auto variables = variables_of(arguments_.specs.assignments);
    return {variables.begin(), variables.end()};
  }

  /// A variable that varies, or is set, beside the field by its path.
  void refuse_hidden() const {
    if (varied_.name.empty()) return;
    const auto settings_with = [this](const std::string& value) {
      SweepSettings all = settings();
      all.emplace_back(varied_.name, value);
      return all;
    };
    SweepRequest request;
    request.energy_file = arguments_.specs.energy_file;
    request.options = arguments_.options;
    const auto hidden =
        hidden_field(request, resolve_files(arguments_.specs.names, arguments_.specs.texts),
                     settings_with(varied_.values.front()), settings_with(varied_.values.back()),
                     {varied_.name}, load_options(arguments_.specs));
    if (hidden) throw Failure(Diagnostics{*hidden});
  }

  /// All specs before the first search: a mistake in the last one is told at once.
  void load_all() {
    for (const std::string& value : varied_.values) {
      SpecArguments specs_here = arguments_.specs;
      if (!varied_.name.empty()) specs_here.assignments.push_back(varied_.name + "=" + value);
      const Specs specs = load_with(specs_here);
      with_notes(specs.warnings, [&] { prepare(specs, specs_here); });
      for (const Diagnostic& warning : specs.warnings)
        if (std::none_of(
                report_.diagnostics.begin(), report_.diagnostics.end(),
                [&](const Diagnostic& known) { return to_string(known) == to_string(warning); }))
          report_.diagnostics.push_back(warning);
    }
    refuse_hidden();
    report_.n_values = problems_.size();
    report_.workload = problems_.front().workload.name;
    report_.arch = problems_.front().arch.name;
    console_.log.note(fmt::format("read the specs for {} values", problems_.size()));
  }

  void prepare(const Specs& specs, const SpecArguments& arguments) {
    MapperOptions options = search_options_or_fail(arguments_.options, specs);
    options.objectives = {Objective::kEnergy, Objective::kLatency};
    problems_.push_back(bind_or_fail(specs, arguments));
    require_time_budget(options);
    require_prices(problems_.back().arch, specs, options);
    options_.push_back(std::move(options));
  }

  /// What is wrong with the value came from `--vary`.
  static Specs load_with(const SpecArguments& specs) try {
    return load(specs);
  } catch (const Failure& failure) {
    Diagnostics diagnostics = failure.diagnostics();
    for (Diagnostic& diagnostic : diagnostics)
      if (!specs.assignments.empty() &&
          diagnostic.location.file == "--set " + specs.assignments.back())
        diagnostic.location.file = "--vary " + specs.assignments.back();
    throw Failure(failure.code(), std::move(diagnostics));
  }

  void search(std::size_t i, const std::atomic<bool>& cancel) {
    MapperControl control;
    control.cancel = &cancel;
    control.leftovers = &leftovers();
    if (arguments_.progress != ProgressStyle::kNone)
      control.progress = [this, i](const std::string& phase, double fraction) {
        progress_.show(phase,
                       (static_cast<double>(i) + fraction) / static_cast<double>(problems_.size()),
                       {.text = varied_.values[i]});
      };
    if (control.progress) control.progress("starting", 0);
    const auto begin = std::chrono::steady_clock::now();
    auto least = least_costs(problems_[i], options_[i], control, smaller_of(i));
    BoundsPoint point;
    point.value = varied_.values[i];
    point.seconds = seconds_since(begin);
    if (least)
      point.least = std::move(*least);
    else if (is_cancelled(&cancel))
      return;
    else
      point.no = std::move(least.error());
    console_.log.note(fmt::format("searched {} {}", varied_.name, point.value));
    report_.points.push_back(std::move(point));
  }

  /// Of the values that were searched already, the last whose mappings are mappings here, too.
  const LeastCostsOfWorkload* smaller_of(std::size_t i) const {
    for (std::size_t j = report_.points.size(); j-- > 0;)
      if (report_.points[j].least && is_same_request(i, j) &&
          only_grows(problems_[j], problems_[i]))
        return &*report_.points[j].least;
    return nullptr;
  }

  bool is_same_request(std::size_t i, std::size_t j) const {
    const MapperOptions &a = options_[i], &b = options_[j];
    return a.constraints == b.constraints &&
           std::all_of(mapper_option_table().begin(), mapper_option_table().end(),
                       [&](const MapperOption& option) { return option.get(a) == option.get(b); });
  }

  /// What one value has bounds what others can have at most, or need at least.
  void carry() {
    for (std::size_t i = 0; i < report_.points.size(); ++i)
      for (std::size_t j = 0; j < report_.points.size(); ++j)
        if (i != j && report_.points[i].least && report_.points[j].least && is_same_request(i, j))
          for (const auto number :
               {&LeastCosts::traffic_bits, &LeastCosts::energy_j, &LeastCosts::latency_s})
            if (only_grows(problems_[j], problems_[i], number))
              carry(number, &*report_.points[j].least, &*report_.points[i].least);
  }

  static void carry(Least LeastCosts::*number, LeastCostsOfWorkload* smaller,
                    LeastCostsOfWorkload* larger) {
    carry(&(smaller->fused.*number), &(larger->fused.*number));
    if (!smaller->no_alone && !larger->no_alone)
      carry(&(smaller->alone.*number), &(larger->alone.*number));
  }

  static void carry(Least* smaller, Least* larger) {
    larger->value = std::min(larger->value, smaller->value);
    smaller->bound = std::max(smaller->bound, larger->bound);
    for (Least* least : {smaller, larger}) {
      least->is_proven = least->is_proven || least->value <= least->bound;
      if (least->is_proven) least->bound = least->value;
    }
  }

  void publish_report() const {
    print_diagnostics(console_, report_.diagnostics);
    const std::string document = document_text(bounds_document(report_));
    if (!arguments_.output.folder.empty()) {
      const std::filesystem::path folder = arguments_.output.folder;
      write_atomically(folder / "result.json", document);
      write_atomically(folder / "bounds.csv", bounds_csv(report_));
    }
    console_.out << (arguments_.output.json ? document : bounds_table(console_, report_))
                 << std::flush;
  }

  const BoundsArguments& arguments_;
  const Console& console_;
  ProgressLine progress_;
  VariedField varied_;
  std::vector<BoundProblem> problems_;  ///< per value
  std::vector<MapperOptions> options_;  ///< per value
  BoundsReport report_;
};

}  // namespace

BoundsReport find_bounds(const BoundsArguments& arguments, const Console& console,
                         const std::atomic<bool>& cancel) {
  return BoundsRun(arguments, console).report(cancel);
}

ExitCode run_bounds(const BoundsArguments& arguments, const Console& console) {
  return BoundsRun(arguments, console).run();
}

}  // namespace sluice::cli
