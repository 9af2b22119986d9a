#pragma once
#include <string>

#include "python/src/callable.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::python {

/// A Python function as a stage. What makes tensors of what a user wrote is Python, too (python/sagips/stages.py):
/// an object with `name`, `differentiable`, `checks_product` and `call(values, noise)`, which gives values or a
/// dictionary as env::OutsideArrays says.
class PythonStage {
 public:
  /// The caller holds the interpreter.
  explicit PythonStage(nb::object stage);

  env::Events operator()(env::Events input, env::Noise& noise) const;
  std::string name() const { return name_; }
  bool differentiable() const { return differentiable_; }
  bool checks_product() const { return checks_product_; }

 private:
  Object stage_;
  std::string name_;
  bool differentiable_, checks_product_;
};

/// Adds the class `Noise`, as functions get it, and lets configs find functions: {python: "module:function"}.
void add_stages(nb::module_& module);

}  // namespace sagips::python
