#include "sluice/model/latency_policy.h"

#include <algorithm>

#include "sluice/support/error.h"

namespace sluice {

const std::vector<std::string>& latency_policy_names() {
  static const std::vector<std::string> kNames = {"overlap", "pipeline", "staged"};
  return kNames;
}

std::string latency_policy_name(LatencyPolicy policy) {
  return latency_policy_names().at(static_cast<std::size_t>(policy));
}

std::optional<LatencyPolicy> latency_policy_from_name(const std::string& name) {
  const auto& names = latency_policy_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<LatencyPolicy>(found - names.begin());
}

}  // namespace sluice
