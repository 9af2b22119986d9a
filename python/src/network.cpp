#include "python/src/parts.hpp"

#include <nanobind/stl/string.h>
#include <torch/nn/module.h>

#include "python/src/callable.hpp"
#include "python/src/tensor.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/module.hpp"
#include "sagips/nn/python_function.hpp"

namespace sagips::python {

namespace {

nb::object in_python(const torch::Tensor& rows) { return nb::cast(rows); }
nb::object in_python(const nn::NamedRows& rows) {
  nb::dict named;
  for (const auto& [name, tensor] : rows) named[name.c_str()] = tensor;
  return named;
}

/// A module written in Python (sagips.networks.Layer), with its own weights and buffers under their names. It is called
/// with the interpreter held. Rows: torch::Tensor or nn::NamedRows
template <class Rows>
class PythonModule : public torch::nn::Module {
 public:
  PythonModule(Object layer, const std::string& where) : layer_(std::move(layer)), where_(where) {
    for (const char* kind : {"parameters", "buffers"})
      for (const nb::handle item : layer_.get().attr(kind)) {
        const auto pair = nb::cast<nb::tuple>(item);
        std::vector<std::string> path = core::split(nb::cast<std::string>(pair[0]), '.');
        const std::string name = path.back();
        path.pop_back();
        torch::nn::Module& place = part(path);
        const auto tensor = nb::cast<at::Tensor>(pair[1]);
        if (std::string(kind) == "buffers")
          place.register_buffer(name, tensor);
        else
          place.register_parameter(name, tensor);
      }
  }

  nn::Rows forward(const Rows& rows) {
    nn::Rows given;
    with_interpreter(where_, [&] {
      const nb::object answer = layer_.get()(in_python(rows), is_training());
      if (!nb::isinstance<nb::dict>(answer)) {
        given = nb::cast<at::Tensor>(answer);
        return;
      }
      nn::NamedRows named;
      for (const auto [name, tensor] : nb::cast<nb::dict>(answer))
        named[nb::cast<std::string>(name)] = nb::cast<at::Tensor>(tensor);
      given = std::move(named);
    });
    return given;
  }

 private:
  // A name of LibTorch has no dots: "a.b" is the part `b` of the part `a`.
  torch::nn::Module& part(const std::vector<std::string>& path) {
    torch::nn::Module* place = this;
    for (const std::string& name : path) {
      const auto children = place->named_children();
      const auto* const known = children.find(name);
      place = known ? known->get()
                    : place->register_module(name, std::make_shared<torch::nn::Module>(name)).get();
    }
    return *place;
  }

  Object layer_;
  std::string where_;
};

}  // namespace

void add_networks() {
  nn::find_modules([](const std::string& name) -> nn::MakeAnyModule {
    if (!nn::is_python(name)) return {};
    std::optional<Object> make;
    with_interpreter(name, [&] {
      make.emplace(nb::module_::import_("sagips.networks").attr("find")(name));
    });
    return [make = *make, name](const nn::Shape&, const core::RowTensors& tensors) {
      std::optional<nn::AnyRowsModule> module;
      with_interpreter(name, [&] {
        const Object layer{nb::borrow(make.get())()};
        if (tensors.empty())
          module.emplace(std::make_shared<PythonModule<torch::Tensor>>(layer, name));
        else
          module.emplace(std::make_shared<PythonModule<nn::NamedRows>>(layer, name));
      });
      return *module;
    };
  });
}

}  // namespace sagips::python
