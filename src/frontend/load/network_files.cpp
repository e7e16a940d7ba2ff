#include "frontend/load/network_files.h"

#include <filesystem>

#include "sluice/network/network_table.h"
#include "sluice/network/network_workload.h"

namespace sluice {

bool is_network_table(const std::string& path) {
  return std::filesystem::path(path).extension() == ".csv";
}

std::optional<std::string> workload_of_table(ReadContext& context, const std::string& path,
                                             const std::string& text) {
  const Result<NeuralNetwork> network = read_network_table(text, path);
  const Result<std::string> workload =
      network ? to_workload_yaml(*network, path) : tl::unexpected(network.error());
  if (workload) return *workload;
  const std::size_t file = context.sources().add(path, text);
  for (const Diagnostic& diagnostic : workload.error())
    context.error({file, diagnostic.location.line, 1}, diagnostic.message, diagnostic.hint);
  return std::nullopt;
}

}  // namespace sluice
