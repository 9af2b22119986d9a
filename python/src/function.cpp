#include "python/src/parts.hpp"

#include <nanobind/stl/string.h>

#include "python/src/callable.hpp"
#include "python/src/tensor.hpp"
#include "sagips/nn/python_function.hpp"

namespace sagips::python {

namespace {

// A function of tensors that an object of Python has by that name; null where it has none.
std::function<torch::Tensor(const std::vector<torch::Tensor>&)> call_of(const nb::object& found,
                                                                        const char* name,
                                                                        const std::string& where) {
  const nb::object function = found.attr(name);
  if (function.is_none()) return {};
  return [held = Object(function), where](const std::vector<torch::Tensor>& arguments) {
    torch::Tensor answer;
    with_interpreter(where, [&] {
      nb::list given;
      for (const torch::Tensor& one : arguments) given.append(one);
      answer = nb::cast<at::Tensor>(held.get()(*nb::tuple(given)));
    });
    return answer;
  };
}

}  // namespace

void add_functions() {
  nn::find_python_functions([](const std::string& word, const std::string& kind) {
    nn::PythonFunction function;
    with_interpreter(word, [&] {
      const nb::object found = nb::module_::import_("sagips.functions").attr("find")(word, kind);
      function.name = nb::cast<std::string>(found.attr("name"));
      function.of_classes = nb::cast<bool>(found.attr("of_classes"));
      function.call = call_of(found, "call", function.name);
      if (auto meaning = call_of(found, "meaning", function.name))
        function.meaning = [meaning](const torch::Tensor& outputs) { return meaning({outputs}); };
    });
    return function;
  });
}

}  // namespace sagips::python
