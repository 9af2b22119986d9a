#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/calls.hpp"
#include "python/src/function.hpp"
#include "python/src/network.hpp"
#include "python/src/stage.hpp"
#include "python/src/trained.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/version.hpp"

namespace sagips::python {

NB_MODULE(_sagips, module) {
  module.doc() = "What `sagips` is made of; use the functions of `sagips`.";
  add_stages(module);
  add_networks();
  add_functions();
  add_trained(module);
  core::exception_watch = &keep_raised;
  module.def(
      "call",
      [](const std::string& command, const std::string& source,
         const std::vector<std::string>& assignments, const std::map<std::string, std::vector<std::string>>& options,
         const nb::object& watch) {
        return run_call({command, source, assignments, options, watch});
      },
      nb::arg("command"), nb::arg("source"), nb::arg("assignments"), nb::arg("options"),
      nb::arg("watch").none());
  module.def("begin_ranks", &begin_ranks);
  module.def("end_ranks", &end_ranks);
  module.def("claim_failure", &claim_failure);
  module.def("abort_ranks", &abort_ranks, nb::arg("exit_code"));
  module.def("program", &run_program, nb::arg("words"), nb::arg("program"));
  module.def("describe", &describe, nb::arg("source"));
  module.attr("torch_version") = SAGIPS_TORCH_VERSION;
  module.attr("version") = std::string(core::version());
}

}  // namespace sagips::python
