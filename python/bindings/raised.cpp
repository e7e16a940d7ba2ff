#include "raised.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "cli/io/failure.h"

namespace sluice::python {
namespace nb = nanobind;

void Raised::keep(const std::string& who) {
  const std::lock_guard lock(mutex_);
  if (happened_) return;
  exception_ = std::current_exception();
  who_ = who;
  happened_ = true;
}

Raised::Running::Running(Raised& raised) : raised_(raised) {
  raised_.thread_ = PyThread_get_thread_ident();
}

void Raised::interrupt_running() {
  if (const unsigned long thread = thread_.exchange(0))
    PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt);
}

namespace {

/// `ValueError: too small`
std::string text_of(nb::handle exception) {
  const std::string kind = nb::cast<std::string>(nb::type_name(exception.type()));
  const std::string text = nb::cast<std::string>(nb::str(exception));
  return text.empty() ? kind : kind + ": " + text;
}

[[noreturn]] void raise_from(const std::string& message, nb::handle cause) {
  nb::object type = nb::module_::import_("sluice._errors").attr("ExtensionError");
  nb::object error = type(message);
  if (cause.is_valid()) error.attr("__cause__") = cause;
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace

void Raised::raise_again() {
  if (!happened_) return;
  std::exception_ptr exception;
  {
    const std::lock_guard lock(mutex_);
    exception = std::exchange(exception_, nullptr);
    happened_ = false;
  }
  try {
    std::rethrow_exception(exception);
  } catch (const nb::python_error& error) {
    const nb::object value = nb::borrow(error.value());
    raise_from(who_ + " raised " + text_of(value), value);
  } catch (const cli::Failure& failure) {
    raise_from(who_ + ": " + failure.diagnostics().front().message, nb::handle());
  } catch (const std::exception& error) {
    raise_from(who_ + ": " + error.what(), nb::handle());
  }
}

}  // namespace sluice::python
