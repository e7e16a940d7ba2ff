#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace sluice::python {

/// A Python object that any thread may let go of.
using SharedObject = std::shared_ptr<nanobind::object>;

inline SharedObject share(nanobind::object object) {
  return {new nanobind::object(std::move(object)), [](nanobind::object* held) {
            const nanobind::gil_scoped_acquire acquire;
            delete held;
          }};
}

}  // namespace sluice::python
