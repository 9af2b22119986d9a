#include "python/src/parts.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "python/src/callable.hpp"
#include "python/src/tensor.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/outside/outside_events.hpp"
#include "sagips/env/outside/stage_config.hpp"

namespace sagips::python {

namespace {

/// The random numbers of one call; a function that keeps it finds it closed.
class OpenNoise {
 public:
  explicit OpenNoise(env::Noise& noise) : noise_(&noise) {}
  env::Noise& get() const {
    if (noise_ == nullptr)
      throw std::runtime_error("this noise belongs to a call that has ended: draw inside it");
    return *noise_;
  }
  void close() { noise_ = nullptr; }

 private:
  env::Noise* noise_;
};

/// Other threads' functions go on meanwhile: numbers take longer than what functions do with them.
at::Tensor drawn(const OpenNoise& noise, at::Tensor (env::Noise::*draw)()) {
  env::Noise& open = noise.get();
  const nb::gil_scoped_release released;
  return (open.*draw)();
}

env::OutsideArrays arrays_of(const nb::object& answer, const std::string& stage) {
  env::OutsideArrays arrays;
  if (nb::isinstance<nb::dict>(answer))
    for (const auto [name, value] : nb::cast<nb::dict>(answer))
      arrays[nb::cast<std::string>(name)] = nb::cast<at::Tensor>(value);
  else
    arrays["values"] = nb::cast<at::Tensor>(answer);
  if (!arrays.contains("values")) throw core::ShapeError(stage, "gives a dictionary without values.");
  return arrays;
}

/// A Python function as a stage. What makes tensors of what a user wrote is Python, too (python/sagips/stages.py):
/// an object with `name`, `differentiable`, `checks_product` and `call(values, noise)`, which gives values or a
/// dictionary as env::OutsideArrays says.
class PythonStage {
 public:
  /// The caller holds the interpreter.
  explicit PythonStage(nb::object stage)
      : stage_(stage),
        name_(nb::cast<std::string>(stage.attr("name"))),
        differentiable_(nb::cast<bool>(stage.attr("differentiable"))),
        checks_product_(nb::cast<bool>(stage.attr("checks_product"))),
        is_of_arrays_(nb::hasattr(stage, "kind")) {}

  env::Events operator()(env::Events input, env::Noise& noise) const {
    std::optional<env::CpuTime> on_cpu;
    if (is_of_arrays_) on_cpu.emplace(input.values);
    env::OutsideArrays arrays;
    with_interpreter(name_, [&] {
      const auto open = std::make_shared<OpenNoise>(noise);
      const struct Close {
        OpenNoise& noise;
        ~Close() { noise.close(); }
      } close{*open};
      arrays = arrays_of(stage_.get().attr("call")(input.values, nb::cast(open)), name_);
    });
    env::fill_up(name_, arrays, noise.events(), false);
    return env::events_behind(name_, std::move(input), arrays);
  }
  std::string name() const { return name_; }
  bool differentiable() const { return differentiable_; }
  bool checks_product() const { return checks_product_; }

 private:
  Object stage_;
  std::string name_;
  bool differentiable_, checks_product_, is_of_arrays_;
};

}  // namespace

void add_stages(nb::module_& module) {
  nb::class_<OpenNoise>(module, "Noise",
                        "Random numbers of one call of a stage: each `uniform()` and `normal()` takes one of "
                        "every event. Results repeat for a seed, whatever the ranks and threads.")
      .def("uniform", [](const OpenNoise& noise) { return drawn(noise, &env::Noise::uniform); },
           "Uniform in (0, 1), one an event. shape: [samples, events]")
      .def("normal", [](const OpenNoise& noise) { return drawn(noise, &env::Noise::normal); },
           "N(0, 1), one an event. shape: [samples, events]")
      .def_prop_ro("samples", [](const OpenNoise& noise) { return noise.get().samples(); })
      .def_prop_ro("events", [](const OpenNoise& noise) { return noise.get().events(); },
                   "how many events of each sample are asked for");
  env::find_python_stages([](const std::string& function, const std::string& folder) {
    std::optional<env::Stage> stage;
    with_interpreter(function, [&] {
      stage.emplace(PythonStage(
          nb::module_::import_("sagips.stages").attr("find")(function, folder)));
    });
    return *stage;
  });
}

}  // namespace sagips::python
