#pragma once

#include <string>
#include <vector>

#include "sluice/kapla/directives.h"

namespace sluice::kapla {

/// A word in a tensor directive.
struct TensorMark {
  std::string name;
  bool TensorDirective::*flag;
};

const std::vector<TensorMark>& tensor_marks();

}  // namespace sluice::kapla
