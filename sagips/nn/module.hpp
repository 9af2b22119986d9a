#pragma once
#include <torch/nn/module.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "sagips/nn/network.hpp"

namespace sagips::nn {

/// A `torch::nn` module, or a pointer to a class of one, whose `forward` takes and gives one tensor:
/// [rows, ...] -> [rows, ...].
template <class T>
concept ForwardsRows = requires(T module, const torch::Tensor& rows) {
  { module->forward(rows) } -> std::convertible_to<torch::Tensor>;
};

/// Such a module without its type.
class AnyRowsModule {
 public:
  template <ForwardsRows T>
  AnyRowsModule(T module)  // NOLINT(google-explicit-constructor): functions return their own type
      : module_(pointer(module)),
        forward_([module = std::move(module)](const torch::Tensor& rows) mutable {
          return module->forward(rows);
        }) {}

  torch::nn::Module& module() const { return *module_; }
  torch::Tensor forward(const torch::Tensor& rows) const { return forward_(rows); }

 private:
  template <class T>
  static std::shared_ptr<torch::nn::Module> pointer(const T& module) {
    if constexpr (requires { module.ptr(); })
      return module.ptr();
    else
      return module;
  }

  std::shared_ptr<torch::nn::Module> module_;
  std::function<torch::Tensor(const torch::Tensor&)> forward_;
};

/// Makes a `torch::nn` module of a program or a plug-in for samples of such a shape: the same module at
/// each call but for the numbers that its weights begin at.
///
/// Its weights and buffers move into the replica's flat arrays. Each thread has a module of its own, so
/// `forward` may keep intermediate results, and nothing that a later call depends on.
using MakeModule = std::function<AnyRowsModule(const Shape& input)>;

/// From now on configs know it as a layer, `{module: NAME}`; an earlier one of the name is replaced. Called
/// before configs are read, or from a plug-in, on one thread.
void add_module(const std::string& name, MakeModule make);

/// In `forward`, in place of torch::dropout and torch::nn::Dropout: draws from the run's own stream,
/// named by the row in the batch of all ranks, so no result depends on threads, tiles or ranks. A row
/// that is predicted passes as it is.
/// shape: input [rows, ...]; throws: Error for other rows than the network's
torch::Tensor dropout(const torch::Tensor& input, double probability);

}  // namespace sagips::nn
