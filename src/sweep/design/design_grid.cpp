#include "design_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "relaxed_arch.h"
#include "sluice/mapper/objective_value.h"
#include "sluice/support/failed.h"
#include "sweep/plan/field_conflicts.h"
#include "sweep/store/content_key.h"

namespace sluice {
namespace {

constexpr std::size_t kMostDesigns = 10'000;

class GridReader {
 public:
  GridReader(const DesignRequest& request, const LoadOptions& options)
      : request_(request), options_(options) {
    sweep_.energy_file = request.energy_file;
    sweep_.settings = request.settings;
    sweep_.options = request.options;
  }

  Result<DesignGrid> run() {
    if (request_.workloads.empty()) return failed("the design search names no workload");
    if (Diagnostics repeated = repeated_variables(); !repeated.empty())
      return tl::unexpected(std::move(repeated));
    double n_designs = 1;
    for (const VariedField& variable : request_.variables)
      n_designs *= static_cast<double>(variable.values.size());
    if (n_designs > kMostDesigns)
      return failed(fmt::format("there are {:.0f} designs, more than {}", n_designs, kMostDesigns),
                    "take larger steps, or leave variables out");
    std::vector<std::size_t> index(request_.variables.size(), 0);
    do {
      if (auto added = add(index); !added) return tl::unexpected(std::move(added.error()));
    } while (advance(index));
    for (const DesignWorkload& workload : request_.workloads)
      if (auto hidden = hidden_in(workload)) return tl::unexpected(Diagnostics{std::move(*hidden)});
    return std::move(grid_);
  }

 private:
  /// Variables that are given twice, or have a value for all designs.
  Diagnostics repeated_variables() const {
    SweepSettings settings = request_.settings;
    for (const DesignWorkload& workload : request_.workloads)
      settings.insert(settings.end(), workload.settings.begin(), workload.settings.end());
    return repeated_fields(request_.variables, settings);
  }

  std::optional<Diagnostic> hidden_in(const DesignWorkload& workload) const {
    std::set<std::string> varied;
    for (const VariedField& variable : request_.variables) varied.insert(variable.name);
    const auto settings_of = [&](const GridDesign& design) {
      SweepSettings all = request_.settings;
      all.insert(all.end(), workload.settings.begin(), workload.settings.end());
      all.insert(all.end(), design.settings.begin(), design.settings.end());
      return all;
    };
    return hidden_field(sweep_, files_of(workload), settings_of(grid_.designs.front()),
                        settings_of(grid_.designs.back()), varied, options_);
  }

  std::vector<std::string> files_of(const DesignWorkload& workload) const {
    std::vector<std::string> files = {workload.file};
    if (!request_.architecture.empty()) files.push_back(request_.architecture);
    files.insert(files.end(), request_.files.begin(), request_.files.end());
    return files;
  }

  /// The next place of the grid, the last variable fastest; false after the last place.
  bool advance(std::vector<std::size_t>& index) const {
    for (std::size_t v = index.size(); v-- > 0;) {
      if (++index[v] < request_.variables[v].values.size()) return true;
      index[v] = 0;
    }
    return false;
  }

  Result<void> add(const std::vector<std::size_t>& index) {
    GridDesign design;
    design.index = index;
    for (std::size_t v = 0; v < index.size(); ++v)
      design.settings.emplace_back(request_.variables[v].name,
                                   request_.variables[v].values[index[v]]);
    for (const DesignWorkload& workload : request_.workloads)
      if (auto added = add(workload, &design); !added) return added;
    if (request_.area_budget_m2 && !design.area_m2)
      return failed("there is a budget of area, and no component has an area",
                    "give components an area, or a component_class that knows it");
    grid_.designs.push_back(std::move(design));
    return {};
  }

  Result<void> add(const DesignWorkload& workload, GridDesign* design) {
    SweepPoint point;
    point.files = files_of(workload);
    point.settings = workload.settings;
    point.settings.insert(point.settings.end(), design->settings.begin(), design->settings.end());
    auto inputs = sweep_inputs(sweep_, point, options_);
    if (!inputs) return tl::unexpected(std::move(inputs.error()));
    if (inputs->options.objectives.size() != 1 || inputs->options.resource_usage)
      return failed("a design search needs exactly one objective");
    const BoundProblem& problem = inputs->problem;
    if (problem.area_m2) design->area_m2 = std::max(design->area_m2.value_or(0), *problem.area_m2);
    design->bound +=
        workload.weight * objective_bound(inputs->options.objectives.front(), problem.bounds);
    design->skeletons.push_back(
        content_key(arch_skeleton(problem.arch) + to_yaml(problem.workload) +
                    to_yaml(inputs->options.constraints, problem.workload, problem.arch)));
    if (design->archs.empty()) design->arch = to_yaml(problem.arch);
    design->archs.push_back(without_areas(problem.arch));
    if (grid_.designs.empty()) grid_.workloads.push_back(std::move(*inputs));
    return {};
  }

  static Arch without_areas(Arch arch) {
    for (Component& component : arch.components) component.area_m2.reset();
    return arch;
  }

  const DesignRequest& request_;
  const LoadOptions& options_;
  SweepRequest sweep_;
  DesignGrid grid_;
};

}  // namespace

Result<DesignGrid> design_grid(const DesignRequest& request, const LoadOptions& options) {
  return GridReader(request, options).run();
}

}  // namespace sluice
