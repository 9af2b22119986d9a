#include "python/src/network.hpp"

#include <nanobind/stl/string.h>
#include <torch/nn/module.h>

#include "python/src/callable.hpp"
#include "python/src/tensor.hpp"
#include "sagips/nn/module.hpp"

namespace sagips::python {

namespace {

/// A module written in Python, with its own weights and buffers under their names. It is called with the
/// interpreter held.
class PythonModule : public torch::nn::Module {
 public:
  PythonModule(Object module, const std::string& where) : module_(std::move(module)), where_(where) {
    const auto each = [&](const char* list, const std::function<void(std::string, at::Tensor)>& add) {
      for (const nb::handle item : nb::iter(module_.get().attr(list)())) {
        const auto pair = nb::cast<nb::tuple>(item);
        std::string name = nb::cast<std::string>(pair[0]);
        std::replace(name.begin(), name.end(), '.', '_');  // a name of LibTorch has no dots
        add(std::move(name), nb::cast<at::Tensor>(pair[1]));
      }
    };
    each("named_parameters", [&](std::string name, at::Tensor tensor) {
      register_parameter(std::move(name), tensor, tensor.requires_grad());
    });
    each("named_buffers", [&](std::string name, at::Tensor tensor) {
      register_buffer(std::move(name), std::move(tensor));
    });
  }

  torch::Tensor forward(const torch::Tensor& rows) {
    torch::Tensor given;
    with_interpreter(where_, [&] {
      const nb::handle module = module_.get();
      if (const bool trains = is_training(); trains != trains_in_python_) {
        module.attr("train")(trains);
        trains_in_python_ = trains;
      }
      given = nb::cast<at::Tensor>(module(rows));
    });
    return given;
  }

 private:
  Object module_;
  std::string where_;
  std::optional<bool> trains_in_python_{};
};

}  // namespace

void add_networks() {
  nn::find_modules([](const std::string& name) -> nn::MakeModule {
    if (name.find(':') == std::string::npos && name.find(".pickle") == std::string::npos) return {};
    std::optional<Object> make;
    with_interpreter(name, [&] {
      make.emplace(nb::module_::import_("sagips.networks").attr("find")(name));
    });
    return [make = *make, name](const nn::Shape&) -> nn::AnyRowsModule {
      std::shared_ptr<PythonModule> module;
      with_interpreter(name, [&] {
        module = std::make_shared<PythonModule>(Object(nb::borrow(make.get())()), name);
      });
      return module;
    };
  });
}

}  // namespace sagips::python
