#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/commands/commands.h"
#include "cli/io/failure.h"
#include "cli/io/gnuplot.h"
#include "cli/io/interrupt.h"
#include "cli/io/leftovers.h"
#include "cli/io/output_folder.h"
#include "sluice/mapper/options_table.h"
#include "sluice/sweep/sweep_table.h"
#include "sweep/table/sweep_text.h"

namespace sluice::cli {
namespace {

/// `--plot X,Y,FILE`
struct PlotWish {
  std::string x, y, file;
};

PlotWish plot_wish(const std::string& text, const std::string& database) {
  const std::size_t comma = text.find(','), second = text.find(',', comma + 1);
  PlotWish wish;
  if (comma != std::string::npos) {
    wish.x = text.substr(0, comma);
    wish.y = text.substr(comma + 1, second == std::string::npos ? second : second - comma - 1);
    if (second != std::string::npos) wish.file = text.substr(second + 1);
  }
  if (wish.file.empty())
    wish.file = std::filesystem::path(database.empty() ? "sweep" : database)
                    .replace_extension(".svg")
                    .string();
  const std::string extension = std::filesystem::path(wish.file).extension().string();
  if (wish.x.empty() || wish.y.empty())
    throw Failure(ExitCode::kBadInput, fmt::format("`--plot {}` does not name two columns", text),
                  "write --plot X,Y or --plot X,Y,FILE");
  if (extension != ".svg" && extension != ".png" && extension != ".pdf")
    throw Failure(ExitCode::kBadInput, fmt::format("`--plot {}`: the file is no image", text),
                  "FILE ends in .svg, .png or .pdf");
  return wish;
}

class SweepCommand {
 public:
  SweepCommand(const SweepArguments& arguments, const Console& console)
      : arguments_(arguments), console_(console), options_(load_options(arguments.specs)) {
    for (const std::string& plot : arguments.plots)
      plots_.push_back(plot_wish(plot, arguments.output.folder));
  }

  ExitCode run() {
    const SweepRequest request = request_of_arguments();
    const SweepPlan plan = value_or_fail(plan_sweep(request, options_));
    console_.log.note(fmt::format("planned {} points", plan.points.size()));
    SweepDatabase database = value_or_fail(SweepDatabase::open(arguments_.output.folder));
    check_plots(value_or_fail(sweep_table(plan, database)));
    const InterruptGuard interrupt;
    const SweepOutcome outcome = search(plan, database, interrupt.flag());
    const SweepTable table = value_or_fail(sweep_table(plan, database));
    publish(table, objective_of(plan));
    if (outcome.is_cancelled) return ExitCode::kInterrupted;
    const std::size_t status = *table.find_column("status");
    const bool has_any = std::any_of(table.rows.begin(), table.rows.end(),
                                     [&](const auto& row) { return row[status].text == "ok"; });
    return has_any ? ExitCode::kSuccess : ExitCode::kHonestNo;
  }

 private:
  SweepRequest request_of_arguments() {
    std::vector<std::string> files = resolve_files(arguments_.specs.names);
    SweepRequest request;
    if (is_sweep_file(files.front(), options_)) {
      request = value_or_fail(read_sweep(files.front(), options_));
      request.files.insert(request.files.end(), files.begin() + 1, files.end());
    } else {
      request.workloads = {files.front()};
      if (files.size() > 1) request.architectures = {files[1]};
      if (files.size() > 2) request.files.assign(files.begin() + 2, files.end());
    }
    request.energy_file = arguments_.specs.energy_file;
    for (const auto& [name, value] : variables_of(arguments_.specs.assignments))
      request.settings.emplace_back(name, value);
    Diagnostics mistakes;
    for (const std::string& vary : arguments_.vary) {
      auto field = varied_field(vary);
      if (field)
        request.grid.push_back(std::move(*field));
      else
        mistakes.insert(mistakes.end(), field.error().begin(), field.error().end());
    }
    if (!mistakes.empty()) throw Failure(mistakes);
    for (const auto& [name, value] : arguments_.options) request.options[name] = value;
    return request;
  }

  void check_plots(const SweepTable& table) const {
    Diagnostics mistakes;
    for (const PlotWish& plot : plots_)
      for (const std::string& name : {plot.x, plot.y})
        if (auto unknown = unknown_column(table, name)) mistakes.push_back(std::move(*unknown));
    if (!mistakes.empty()) throw Failure(mistakes);
  }

  SweepOutcome search(const SweepPlan& plan, SweepDatabase& database,
                      const std::atomic<bool>& cancel) {
    ProgressLine progress(console_, arguments_.progress);
    SweepControl control;
    control.leftovers = &leftovers();
    control.jobs = arguments_.jobs;
    control.cancel = &cancel;
    if (arguments_.progress != ProgressStyle::kNone)
      control.progress = [&](const SweepProgress& now) {
        progress.show(fmt::format("{} of {} runs", now.n_done, now.n_points),
                      static_cast<double>(now.n_done) / static_cast<double>(now.n_points),
                      {.text = progress_text(plan, now)});
      };
    return value_or_fail(run_sweep(plan, database, options_, control));
  }

  static std::string progress_text(const SweepPlan& plan, const SweepProgress& now) {
    std::vector<std::string> parts;
    if (now.n_known > 0) parts.push_back(fmt::format("{} of them known", now.n_known));
    if (now.seconds_left && now.n_done < now.n_points)
      parts.push_back(fmt::format("about {:.0f} s left", *now.seconds_left));
    if (!now.running.empty()) {
      std::vector<std::string> values;
      for (const auto& [name, value] : plan.points[now.running.front()].settings)
        values.push_back(value);
      if (!values.empty()) parts.push_back(fmt::format("at {}", fmt::join(values, " ")));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  std::string objective_of(const SweepPlan& plan) const {
    const auto inputs = value_or_fail(sweep_inputs(plan.request, plan.points.front(), options_));
    return objective_column(inputs.options.objectives.front());
  }

  void publish(const SweepTable& table, const std::string& objective) const {
    if (!arguments_.csv.empty()) write_atomically(arguments_.csv, csv_text(table));
    console_.out << (arguments_.output.json ? document_text(table, objective)
                                            : sweep_text(console_, table, objective))
                 << std::flush;
    for (const PlotWish& plot : plots_)
      if (!table.rows.empty())
        run_gnuplot(value_or_fail(plot_commands(table, plot.x, plot.y, plot.file)), plot.file);
  }

  const SweepArguments& arguments_;
  const Console& console_;
  const LoadOptions options_;
  std::vector<PlotWish> plots_;
};

}  // namespace

ExitCode run_sweep_command(const SweepArguments& arguments, const Console& console) {
  return SweepCommand(arguments, console).run();
}

}  // namespace sluice::cli
