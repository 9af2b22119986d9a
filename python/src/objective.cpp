#include "python/src/parts.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/callable.hpp"
#include "sagips/run/problem.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/run/task.hpp"
#include "sagips/study/tune/objective.hpp"

namespace sagips::python {

namespace {

class ObjectiveProblem final : public run::Problem, public study::Objective {
 public:
  std::string description() const override {
    return "an objective of `sagips tune`, which has neither parameters to find nor networks";
  }
  std::string unit() const override { return "calls"; }
  bool waits_for_plateau() const override { return false; }
  void fields(core::FieldList& list, run::Settings& settings) override {
    list.add("workload", settings.workload, "objective: a Python function that `sagips tune` calls");
    list.add("objective", function_, "\"MODULE:FUNCTION\", or a .pickle file that keeps one");
    list.add_path("folder", folder_, "where Python finds its module, too");
    list.add("settings", settings_, "of a trial, as \"rate=0.1\"");
    list.add("threads", settings.threads, "of a trial; 0: OMP_NUM_THREADS, else its share of the cores",
             core::Range::between(0, 4096));
    list.group("run", settings.run, "the run folder");
    list.group("figures", settings.figures, "pictures for a screen or a paper");
  }
  std::unique_ptr<run::Task> task(const run::Job&, comm::Ranks&, core::Log&) const override {
    throw core::ConfigError("workload", "'objective' is for `sagips tune` alone.");
  }

  std::optional<double> operator()(const Call& call) override {
    std::optional<double> value;
    with_interpreter(function_, [&] {
      const auto report = [&call](double now, double epoch) {
        const nb::gil_scoped_release release;
        return call.report(now, epoch);
      };
      const auto stop = [&call] {
        const nb::gil_scoped_release release;
        return call.stop();
      };
      value = nb::cast<std::optional<double>>(
          nb::module_::import_("sagips.objectives")
              .attr("call")(function_, folder_, settings_, call.seed, call.folder,
                            nb::cpp_function(report), nb::cpp_function(stop)));
    });
    return value;
  }

 private:
  std::string function_, folder_;
  std::vector<std::string> settings_;
};

}  // namespace

problem::Entry objective_workload() {
  return {"objective",
          "a Python function of settings, for `sagips tune`",
          {{"default", "{}"}},
          [] { return std::make_unique<ObjectiveProblem>(); }};
}

}  // namespace sagips::python
