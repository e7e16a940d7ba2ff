#include "frontend/load/network_files.h"

#include <filesystem>

#include "sluice/network/network_table.h"
#include "sluice/network/network_workload.h"

namespace sluice {

bool is_network_table(const std::string& path) {
  return std::filesystem::path(path).extension() == ".csv";
}

std::optional<std::size_t> workload_of_table(ReadContext& context, const std::string& path,
                                             const std::string& text) {
  const Result<NeuralNetwork> network = read_network_table(text, path);
  const Result<NetworkWorkload> workload =
      network ? to_workload_yaml(*network, path) : tl::unexpected(network.error());
  const std::size_t table = context.sources().add(path, text);
  if (workload) {
    std::vector<SourcePosition> origins;
    for (const int line : workload->table_lines) origins.push_back({table, line, 1});
    return context.sources().add(path, workload->yaml, std::move(origins));
  }
  for (const Diagnostic& diagnostic : workload.error())
    context.error({table, diagnostic.location.line, 1}, diagnostic.message, diagnostic.hint);
  return std::nullopt;
}

}  // namespace sluice
