#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/read_context.h"
#include "frontend/yaml/values.h"
#include "sluice/sweep/sweep.h"
#include "sweep/plan/section_file.h"
#include "sweep/plan/section_values.h"

namespace sluice {
namespace {

class SweepReader {
 public:
  SweepReader(ReadContext& context, std::string folder)
      : context_(context), folder_(std::move(folder)) {}

  SweepRequest read(const YamlNode& node) {
    MapReader map(context_, node, "a sweep");
    request_.workloads = read_spec_names(context_, map.required("workloads"), folder_);
    request_.architectures = read_spec_names(context_, map.optional("architectures"), folder_);
    request_.files = read_spec_names(context_, map.optional("files"), folder_);
    const YamlNode* set = map.optional("set");
    request_.settings = read_settings(context_, set);
    if (const YamlNode* grid = map.optional("grid")) {
      request_.grid = read_grid(context_, *grid);
      refuse_varied_settings(context_, *grid, set);
    }
    if (const YamlNode* list = map.optional("list")) read_list(*list);
    if (const YamlNode* draw = map.optional("random")) read_draw(*draw, false);
    if (const YamlNode* draw = map.optional("latin_hypercube")) read_draw(*draw, true);
    if (const YamlNode* given = map.optional("options"))
      request_.options = read_search_options(context_, *given);
    map.finish();
    return std::move(request_);
  }

 private:
  void read_list(const YamlNode& node) {
    if (!node.is_sequence())
      return context_.error(node, fmt::format("expected a list of points, not {}", describe(node)),
                            "list: [{NAME: VALUE, …}, …]");
    for (const YamlPointer& item : node.items)
      request_.list.push_back(read_settings(context_, item.get()));
  }

  void read_draw(const YamlNode& node, bool is_latin_hypercube) {
    MapReader map(context_, node, is_latin_hypercube ? "a latin_hypercube" : "a random");
    SweepDraw draw;
    draw.is_latin_hypercube = is_latin_hypercube;
    if (const auto samples = read_integer(context_, map.required("samples"), "samples", 1))
      draw.n_samples = static_cast<std::size_t>(*samples);
    if (const auto seed = read_integer(context_, map.optional("seed"), "a seed", 0))
      draw.seed = static_cast<std::uint64_t>(*seed);
    const YamlNode* ranges = map.required("ranges");
    draw.ranges = read_settings(context_, ranges);
    for (std::size_t r = 0; r < draw.ranges.size(); ++r)
      check_range(*ranges, r, draw.ranges[r].second);
    map.finish();
    request_.draws.push_back(std::move(draw));
  }

  void check_range(const YamlNode& ranges, std::size_t position, const std::string& text) {
    const YamlNode& at = *ranges.entries[std::min(position, ranges.entries.size() - 1)].value;
    if (lists_values(text))
      value_at(context_, at, varied_values(text, text));
    else
      value_at(context_, at, drawn_range(text, text));
  }

  ReadContext& context_;
  std::string folder_;
  SweepRequest request_;
};

SweepRequest read_sweep_file(ReadContext& context, const std::string& file) {
  const YamlPointer section = read_section(context, file, "sweep");
  if (!section) return {};
  return SweepReader(context, std::filesystem::path(file).parent_path().string()).read(*section);
}

/// Every key, in each form it may have.
constexpr const char* kSweepExamples[] = {R"(
sweep:
  workloads: [a_workload]
  architectures: an_architecture
  files: [a_workload]
  set: {M: 512, arch.Buffer.tensors: [A, B]}
  grid: {arch.Buffer.size: 256KiB..1MiB:x2, N: [512, 1024]}
  list: [{arch.Buffer.size: 2MiB, N: 64}]
  random: {samples: 20, seed: 1, ranges: {arch.Buffer.size: 64KiB..4MiB:log, N: [256, 512]}}
  latin_hypercube: {samples: 20, seed: 1, ranges: {N: 64..1024, K: [1, 2]}}
  options: {objective: energy}
)",
                                          R"(
sweep: {workloads: a_workload, architectures: [an_architecture], files: a_workload}
)"};

}  // namespace

bool is_sweep_file(const std::string& file, const LoadOptions& options) {
  return has_section(file, "sweep", options);
}

std::string sweep_schema_text() {
  return section_schema_text(
      "sweep", {std::begin(kSweepExamples), std::end(kSweepExamples)},
      [](auto& context, const auto& file) { read_sweep_file(context, file); });
}

Result<SweepRequest> read_sweep(const std::string& file, const LoadOptions& options) {
  ReadContext context(options);
  SweepRequest request = read_sweep_file(context, file);
  if (context.has_errors()) return tl::unexpected(context.take_diagnostics());
  return request;
}

}  // namespace sluice
