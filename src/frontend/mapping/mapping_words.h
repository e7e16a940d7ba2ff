#pragma once

#include <string>
#include <vector>

#include "frontend/yaml/values.h"
#include "sluice/mapping/mapping.h"

namespace sluice {

// The words of mappings and constraints for closed sets of choices.

inline constexpr NamedValue<CollectiveType> kCollectiveTypes[] = {
    {"all_reduce", CollectiveType::kAllReduce}, {"reduce_scatter", CollectiveType::kReduceScatter},
    {"all_gather", CollectiveType::kAllGather}, {"broadcast", CollectiveType::kBroadcast},
    {"gather", CollectiveType::kGather},        {"scatter", CollectiveType::kScatter},
    {"all_to_all", CollectiveType::kAllToAll}};

inline constexpr NamedValue<Reduction> kReductions[] = {{"sum", Reduction::kSum},
                                                        {"prod", Reduction::kProduct},
                                                        {"min", Reduction::kMin},
                                                        {"max", Reduction::kMax}};

inline constexpr NamedValue<SplitKind> kSplitKinds[] = {{"sequential", SplitKind::kSequential},
                                                        {"pipeline", SplitKind::kPipeline},
                                                        {"parallel", SplitKind::kParallel}};

/// Complains about names of collective algorithms that do not exist.
void check_algorithms(ReadContext& context, const YamlNode& place,
                      const std::vector<std::string>& names);

}  // namespace sluice
