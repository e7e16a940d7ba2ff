#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "raised.h"
#include "sluice/frontend/component_class.h"
#include "sluice/mapper/registry.h"
#include "sluice/model/latency_policy.h"

namespace sluice::python {

/// The standard registries, and beside them what was written in Python.
struct Extensions {
  std::shared_ptr<Raised> raised = std::make_shared<Raised>();
  MapperRegistry mappers;
  LatencyPolicies policies;
  ComponentClasses classes;
};

/// `items`: instances of sluice.Mapper, sluice.LatencyPolicy and sluice.ComponentClass. Throws
/// std::invalid_argument for a name that is empty or taken.
Extensions extensions_of(const nanobind::list& items);

/// Classes that extensions get to see.
void bind_views(nanobind::module_& module);

}  // namespace sluice::python
