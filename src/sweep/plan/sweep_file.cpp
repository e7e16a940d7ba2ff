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
    request_.settings = read_settings(context_, map.optional("set"));
    if (const YamlNode* grid = map.optional("grid")) request_.grid = read_grid(context_, *grid);
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

}  // namespace

bool is_sweep_file(const std::string& file) { return has_section(file, "sweep"); }

Result<SweepRequest> read_sweep(const std::string& file, const LoadOptions& options) {
  ReadContext context(options);
  SweepRequest request;
  if (const YamlPointer section = read_section(context, file, "sweep"))
    request =
        SweepReader(context, std::filesystem::path(file).parent_path().string()).read(*section);
  if (context.has_errors()) return tl::unexpected(context.take_diagnostics());
  return request;
}

}  // namespace sluice
