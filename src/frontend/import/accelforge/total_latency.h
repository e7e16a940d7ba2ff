#pragma once

#include <string>

#include "frontend/import/reading/import_context.h"

namespace sluice {

/// `action2latency` in the `total_latency` of an AccelForge component as latencies of its actions:
/// `sum(*action2latency.values())`, `max(…)`, `min(…)`, `action2latency["read"]`.
void write_out_action_latencies(YamlNode& component);

/// The `total_latency` of an AccelForge component, which names the calls of an action X
/// (`X_actions`) and the seconds that these take (`X_latency`), as Sluice says it: a sum in the
/// throughputs of the actions, the maximum of one term for each of a memory as `ports: separate`,
/// all else as an expression over the actions. Their throughputs are written already, with scales.
void translate_total_latency(ImportContext& context, YamlNode& component, const std::string& name);

/// Whether a `total_latency` names calls or times of actions as AccelForge does.
bool names_actions_of_accelforge(const std::string& total_latency);

}  // namespace sluice
