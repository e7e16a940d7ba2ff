#include "sluice/mapping/mapping.h"

namespace sluice {

// Out of line, because Node and SplitNode contain each other.
bool operator==(const SplitNode&, const SplitNode&) = default;
bool operator==(const Node&, const Node&) = default;

}  // namespace sluice
