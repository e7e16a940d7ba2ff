#pragma once

#include <nanobind/nanobind.h>

#include "cli/io/failure.h"
#include "sluice/report/result_document.h"

namespace sluice::python {

/// A result as the package takes it: `document`, `summary`, `specs` (YAML), `trees`, `description`.
nanobind::dict parts_of(const RunResult& result);

}  // namespace sluice::python
