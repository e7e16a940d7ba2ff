#include <fmt/format.h>

#include <filesystem>

#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/read_context.h"
#include "frontend/yaml/values.h"
#include "sluice/sweep/design.h"
#include "sweep/plan/section_file.h"
#include "sweep/plan/section_values.h"

namespace sluice {
namespace {

class DesignReader {
 public:
  DesignReader(ReadContext& context, std::string folder)
      : context_(context), folder_(std::move(folder)) {}

  DesignRequest read(const YamlNode& node) {
    MapReader map(context_, node, "a design");
    variables_ = map.required("variables");
    if (const YamlNode* workloads = map.required("workloads")) read_workloads(*workloads);
    if (const YamlNode* name = map.optional("architecture"))
      request_.architecture = one_file(*name);
    request_.files = read_spec_names(context_, map.optional("files"), folder_);
    request_.settings = read_settings(context_, map.optional("set"));
    if (variables_ != nullptr) {
      request_.variables = read_grid(context_, *variables_);
      refuse_varied_settings(context_, *variables_, map.optional("set"));
    }
    if (const YamlNode* budgets = map.optional("budgets")) read_budgets(*budgets);
    if (const YamlNode* given = map.optional("options"))
      request_.options = read_search_options(context_, *given);
    map.finish();
    return std::move(request_);
  }

 private:
  std::string one_file(const YamlNode& node) {
    const auto files = read_spec_names(context_, &node, folder_);
    if (files.size() > 1) context_.error(node, "expected one architecture");
    return files.empty() ? "" : files.front();
  }

  void read_workloads(const YamlNode& node) {
    if (!node.is_sequence()) return read_workload(node);
    for (const YamlPointer& item : node.items) read_workload(*item);
    if (node.items.empty()) context_.error(node, "the list has no workloads");
  }

  void read_workload(const YamlNode& node) {
    DesignWorkload workload;
    if (node.is_map()) {
      MapReader map(context_, node, "a workload of a design");
      if (const YamlNode* name = map.required("workload")) workload.file = one_file(*name);
      workload.settings = read_settings(context_, map.optional("set"));
      if (variables_ != nullptr) refuse_varied_settings(context_, *variables_, map.optional("set"));
      if (const auto weight =
              read_quantity(context_, map.optional("weight"), {.what = "weight", .zero = false}))
        workload.weight = weight->value;
      map.finish();
    } else {
      workload.file = one_file(node);
    }
    request_.workloads.push_back(std::move(workload));
  }

  void read_budgets(const YamlNode& node) {
    MapReader map(context_, node, "budgets");
    if (const auto area =
            read_quantity(context_, map.optional("area"),
                          {.what = "area", .dimensions = {Dimension{.metre = 2}}, .zero = false}))
      request_.area_budget_m2 = area->value;
    if (const auto power = read_quantity(
            context_, map.optional("power"),
            {.what = "power", .dimensions = {Dimension{.joule = 1, .second = -1}}, .zero = false}))
      request_.power_budget_w = power->value;
    map.finish();
  }

  ReadContext& context_;
  std::string folder_;
  const YamlNode* variables_ = nullptr;
  DesignRequest request_;
};

DesignRequest read_design_file(ReadContext& context, const std::string& file) {
  const YamlPointer section = read_section(context, file, "design");
  if (!section) return {};
  return DesignReader(context, std::filesystem::path(file).parent_path().string()).read(*section);
}

/// Every key, in each form it may have.
constexpr const char* kDesignExamples[] = {R"(
design:
  workloads: [a_workload, {workload: a_workload, set: {M: 512, N: [1, 2]}, weight: 3}]
  architecture: an_architecture
  files: [a_workload]
  set: {M: 512, arch.Buffer.tensors: [A, B]}
  variables: {arch.Buffer.size: 32KiB..4MiB:x2, arch.MAC.lane.fanout: [64, 128]}
  budgets: {area: 20 mm2, power: 5 W}
  options: {objective: edp}
)",
                                           R"(
design: {workloads: a_workload, files: a_workload, variables: {M: [1, 2]}}
)",
                                           R"(
design: {workloads: {workload: a_workload}, variables: {M: [1, 2]}}
)"};

}  // namespace

std::string design_schema_text() {
  return section_schema_text(
      "design", {std::begin(kDesignExamples), std::end(kDesignExamples)},
      [](auto& context, const auto& file) { read_design_file(context, file); });
}

Result<DesignRequest> read_design(const std::string& file, const LoadOptions& options) {
  ReadContext context(options);
  DesignRequest request = read_design_file(context, file);
  if (context.has_errors()) return tl::unexpected(context.take_diagnostics());
  return request;
}

}  // namespace sluice
