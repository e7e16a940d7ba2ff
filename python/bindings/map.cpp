#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <chrono>

#include "cli/commands/publish.h"
#include "cli/commands/search_options.h"
#include "cli/io/failure.h"
#include "cli/why/explained_run.h"
#include "loaded.h"
#include "mapper/request/overridden_rules.h"
#include "result_parts.h"
#include "runs.h"
#include "sluice/mapper/incumbent.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/model/evaluate.h"
#include "sluice/model/unknown_prices.h"
#include "sluice/network/network_search.h"
#include "support/seconds_since.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

using Texts = std::map<std::string, std::string>;

/// One search, as `sluice map` does it.
class Search {
 public:
  Search(Loaded& loaded, const Texts& given, bool why)
      : loaded_(loaded), given_(given), has_why_(why) {
    cli::with_notes(loaded.specs().warnings, [&] { prepare(); });
    choice_ = cli::choose_mapper(given_, loaded.specs(), loaded.extensions().mappers, &result_);
  }

  nb::dict run(const nb::object& on_progress) {
    std::atomic<bool> cancel{false};
    RunNews news;
    Raised& raised = *loaded_.extensions().raised;
    const RunEnd end =
        run_watched([&] { search_and_explain(cancel, news); }, cancel, news, raised, on_progress);
    raised.raise_again();
    nb::dict parts = parts_of(result_);
    parts["is_interrupted"] = end.is_interrupted;
    return parts;
  }

 private:
  void prepare() {
    const Extensions& extensions = loaded_.extensions();
    result_.command = "map";
    result_.diagnostics = loaded_.specs().warnings;
    MapperOptions base;
    base.policies = extensions.policies;
    result_.options = cli::search_options_or_fail(given_, loaded_.specs(), base);
    result_.latency = result_.options->policy;
    cli::mapper_or_fail(result_.options->mapper, extensions.mappers);
    if (has_why_) cli::require_one_objective(*result_.options);
    result_.problem = loaded_.problem();
    result_.specs_text = cli::specs_text(*result_.problem);
    result_.sources = loaded_.specs().sources;
    cli::require_prices_of_search(result_.problem->arch, loaded_.specs(), *result_.options,
                                  has_why_);
  }

  void search_and_explain(std::atomic<bool>& cancel, RunNews& news) {
    const auto begin = std::chrono::steady_clock::now();
    const MapperOptions options =
        has_why_ ? cli::with_budget_for_why(*result_.options) : *result_.options;
    search(options, cancel, news);
    if (!has_why_ || result_.outcomes.empty()) return;
    std::optional<double> left = result_.options->budget_seconds;
    if (left) *left -= seconds_since(begin);
    const auto show = [&news](const std::string& phase, double, std::size_t question,
                              std::size_t n_questions) {
      news.tell_phase(fmt::format("{}, question {} of {}", phase, question, n_questions),
                      static_cast<double>(question - 1) / static_cast<double>(n_questions));
    };
    result_.why = cli::explain_first(*choice_.mapper, result_, options, left, cancel, show);
  }

  void search(const MapperOptions& options, std::atomic<bool>& cancel, RunNews& news) {
    const BoundProblem searched = without_unknown_prices(*result_.problem);
    Incumbent incumbent(
        [&news](double objective, const MappedResult&) { news.tell_objective(objective); });
    auto found =
        search_network(choice_, searched, options, control_of(searched, cancel, news, incumbent),
                       loaded_.extensions().mappers);
    if (found)
      take_over(std::move(*found));
    else if (cancel && !found.error().proven)  // what it did not find may still exist
      result_.status = RunStatus::kInterrupted;
    else
      refuse(std::move(found.error()));
  }

  MapperControl control_of(const BoundProblem& searched, std::atomic<bool>& cancel, RunNews& news,
                           Incumbent& incumbent) const {
    const MapperOptions& options = *result_.options;
    MapperControl control;
    control.cancel = &cancel;
    control.incumbent = &incumbent;
    control.progress = [&news](const std::string& phase, double fraction) {
      news.tell_phase(phase, fraction);
    };
    control.bound = [&news](double bound) { news.tell_bound(bound); };
    if (!may_override_keep(searched, options.constraints))
      news.tell_bound(objective_bound(options.objectives.front(), searched.bounds));
    return control;
  }

  void refuse(NoMapping&& no) {
    result_.no_mapping = std::move(no);
    result_.status = RunStatus::kNoMapping;
  }

  void take_over(MapperResult&& found) {
    for (MappedResult& mapped : found.mappings)
      result_.outcomes.push_back({std::move(mapped.mapping), std::move(mapped.cost)});
    if (has_unknown_prices(result_.problem->arch))
      for (MappingOutcome& outcome : result_.outcomes)
        outcome.cost = evaluate(*result_.problem, outcome.mapping, result_.latency);
    result_.guarantee = std::move(found.guarantee);
    result_.search = std::move(found.search);
    if (found.cancelled) result_.status = RunStatus::kInterrupted;
    if (!result_.outcomes.empty())
      cli::warn_of_mapping(
          *result_.problem, result_.outcomes.front().mapping,
          "a constraint asks for it, which counts more; the bounds do not hold for it",
          &result_.diagnostics);
  }

  Loaded& loaded_;
  const Texts& given_;
  RunResult result_;
  MapperChoice choice_;
  bool has_why_ = false;  ///< explain what was found (docs/why.md)
};

nb::dict map(Loaded& loaded, const Texts& options, const nb::object& on_progress, bool why) {
  return Search(loaded, options, why).run(on_progress);
}

}  // namespace

void bind_map(nb::module_& module) {
  module.def("map", &map, nb::arg("specs"), nb::arg("options"), nb::arg("on_progress").none(),
             nb::arg("why"));
}

}  // namespace sluice::python
