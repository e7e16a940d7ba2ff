#pragma once

#include <nanobind/nanobind.h>

namespace sluice::python {

/// The commands of the command line as functions: each returns the command's result document, and
/// what people read.
void bind_map(nanobind::module_& module);
void bind_evaluate(nanobind::module_& module);
void bind_execute(nanobind::module_& module);
void bind_bounds(nanobind::module_& module);
void bind_sweep(nanobind::module_& module);
void bind_design(nanobind::module_& module);
void bind_tools(nanobind::module_& module);  ///< check, import, list, the table of options

}  // namespace sluice::python
