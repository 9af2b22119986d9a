#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/callable.hpp"
#include "python/src/calls.hpp"
#include "python/src/parts.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/version.hpp"

namespace sagips::python {

NB_MODULE(_sagips, module) {
  module.doc() = "What `sagips` is made of; use the functions of `sagips`.";
  nb::set_leak_warnings(false);  // at the end of a script its names still hold objects
  add_stages(module);
  add_networks();
  add_functions();
  add_trained(module);
  core::exception_watch = &pass_on_raised;
  nb::register_exception_translator([](const std::exception_ptr& failure, void*) { raise_in_python(failure); });
  using Released = nb::call_guard<nb::gil_scoped_release>;
  module.def("call", &run_call, nb::arg("command"), nb::arg("source"), nb::arg("assignments"), nb::arg("options"),
             nb::arg("watch").none());
  module.def("begin_ranks", &begin_ranks, Released());
  module.def("claim_failure", &claim_failure);
  module.def("abort_ranks", &abort_ranks, nb::arg("exit_code"), Released());
  module.def("program", &run_program, nb::arg("words"), nb::arg("program"), Released());
  module.def("describe", &describe, nb::arg("source"), Released());
  module.attr("torch_version") = SAGIPS_TORCH_VERSION;
  module.attr("version") = std::string(core::version());
}

}  // namespace sagips::python
