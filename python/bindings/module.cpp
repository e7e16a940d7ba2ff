#include <nanobind/nanobind.h>

#include <nlohmann/json.hpp>

#include "cli/io/failure.h"
#include "extensions.h"
#include "loaded.h"
#include "runs.h"
#include "sluice/support/error.h"
#include "watched.h"

namespace sluice::python {
namespace nb = nanobind;
namespace {

void raise(const char* type, const char* argument) {
  const nb::object error = nb::module_::import_("sluice._errors").attr(type);
  const nb::object made =
      nb::hasattr(error, "_from_json") ? error.attr("_from_json")(argument) : error(argument);
  PyErr_SetObject(error.ptr(), made.ptr());
}

/// What the library throws, as the package's exceptions.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const cli::Failure& failure) {
    raise("SpecError", cli::diagnostics_to_json(failure.diagnostics()).dump().c_str());
  } catch (const OverflowError& overflow) {
    const Diagnostics diagnostics{
        error_without_place(std::string("the problem is too large: ") + overflow.what())};
    raise("SpecError", cli::diagnostics_to_json(diagnostics).dump().c_str());
  } catch (const InternalError& bug) {
    raise("InternalError", bug.what());
  }
}

}  // namespace
}  // namespace sluice::python

NB_MODULE(_sluice, module) {
  using namespace sluice::python;
  nanobind::register_exception_translator(&translate);
#ifdef NDEBUG
  nanobind::set_leak_warnings(false);  // of what threads hold that the interpreter's end leaves
#endif
  bind_views(module);
  bind_loaded(module);
  bind_map(module);
  bind_evaluate(module);
  bind_execute(module);
  bind_bounds(module);
  bind_sweep(module);
  bind_design(module);
  bind_tools(module);
  module.def("end_runs", &end_runs, nanobind::call_guard<nanobind::gil_scoped_release>());
  nanobind::module_::import_("atexit").attr("register")(module.attr("end_runs"));
}
