#pragma once
#include <nanobind/nanobind.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/types.h>

namespace nanobind::detail {

/// Tensors pass between Python and C++ as they are, with their place in the graph.
template <>
struct type_caster<at::Tensor> {
  NB_TYPE_CASTER(at::Tensor, const_name("torch.Tensor"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!THPVariable_Check(source.ptr())) return false;
    value = THPVariable_Unpack(source.ptr());
    return true;
  }
  static handle from_cpp(const at::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    return THPVariable_Wrap(tensor);
  }
};

}  // namespace nanobind::detail
