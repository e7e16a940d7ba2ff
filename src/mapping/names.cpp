#include "sluice/mapping/mapping.h"

namespace sluice {

std::string collective_name(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
      return "all_reduce";
    case CollectiveType::kReduceScatter:
      return "reduce_scatter";
    case CollectiveType::kAllGather:
      return "all_gather";
    case CollectiveType::kBroadcast:
      return "broadcast";
    case CollectiveType::kGather:
      return "gather";
    case CollectiveType::kScatter:
      return "scatter";
    case CollectiveType::kAllToAll:
      return "all_to_all";
  }
  return {};
}

std::string reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return "none";
    case Reduction::kSum:
      return "sum";
    case Reduction::kProduct:
      return "prod";
    case Reduction::kMin:
      return "min";
    case Reduction::kMax:
      return "max";
  }
  return {};
}

std::string split_name(SplitKind kind) {
  switch (kind) {
    case SplitKind::kSequential:
      return "sequential";
    case SplitKind::kPipeline:
      return "pipeline";
    case SplitKind::kParallel:
      return "parallel";
  }
  return {};
}

}  // namespace sluice
