#pragma once
#include <torch/nn/module.h>

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "sagips/nn/network.hpp"

namespace sagips::nn {

class Layer;

/// Tensors by name, each [rows, ...].
using NamedRows = std::map<std::string, torch::Tensor>;
using Rows = std::variant<torch::Tensor, NamedRows>;

/// A `torch::nn` module, or a pointer to a class of one, whose `forward` takes one tensor, [rows, ...].
template <class T>
concept TakesRows = requires(T module, const torch::Tensor& rows) {
  module->forward(rows);
};
/// The same, of tensors by name.
template <class T>
concept TakesNamedRows = !TakesRows<T> && requires(T module, const NamedRows& rows) {
  module->forward(rows);
};
/// Either, whose `forward` gives one tensor, [rows, ...], or several by name.
template <class T>
concept ForwardsRows = (TakesRows<T> &&
                        requires(T module, const torch::Tensor& rows) {
                          { module->forward(rows) } -> std::convertible_to<Rows>;
                        }) ||
                       (TakesNamedRows<T> && requires(T module, const NamedRows& rows) {
                         { module->forward(rows) } -> std::convertible_to<Rows>;
                       });

/// Such a module without its type.
class AnyRowsModule {
 public:
  template <ForwardsRows T>
  AnyRowsModule(T module)  // NOLINT(google-explicit-constructor): functions return their own type
      : module_(pointer(module)),
        takes_names_(TakesNamedRows<T>),
        forward_([module = std::move(module)](const Rows& rows) mutable -> Rows {
          if constexpr (TakesNamedRows<T>)
            return module->forward(std::get<NamedRows>(rows));
          else
            return module->forward(std::get<torch::Tensor>(rows));
        }) {}

  torch::nn::Module& module() const { return *module_; }
  bool takes_names() const { return takes_names_; }
  /// rows: by name for a module that takes such. throws: std::bad_variant_access for others
  Rows forward(const Rows& rows) const { return forward_(rows); }

 private:
  template <class T>
  static std::shared_ptr<torch::nn::Module> pointer(const T& module) {
    if constexpr (requires { module.ptr(); })
      return module.ptr();
    else
      return module;
  }

  std::shared_ptr<torch::nn::Module> module_;
  bool takes_names_;
  std::function<Rows(const Rows&)> forward_;
};

/// Makes a `torch::nn` module of a program or a plug-in for samples of such a shape: the same module at
/// each call but for the numbers that its weights begin at.
///
/// Its weights and buffers move into the replica's flat arrays. Each thread has a module of its own, so
/// `forward` may keep intermediate results, and nothing that a later call depends on.
using MakeModule = std::function<AnyRowsModule(const Shape& input)>;
/// The same for inputs by name.
using MakeNamedModule = std::function<AnyRowsModule(const std::map<std::string, Shape>& inputs)>;

/// From now on configs know it as a layer, `{module: NAME}`; an earlier one of the name is replaced. Called
/// before configs are read, or from a plug-in, on one thread.
void add_module(const std::string& name, MakeModule make);
void add_module(const std::string& name, MakeNamedModule make);

/// Makes either, of the tensors that the input is made of where it has several.
using MakeAnyModule =
    std::function<AnyRowsModule(const Shape& input, const core::RowTensors& tensors)>;
/// Asked for modules of names that nobody has added; gives nothing for those that it does not know.
using FindModule = std::function<MakeAnyModule(const std::string& name)>;
void find_modules(FindModule find);
/// By which a layer asks for its module, with arguments: "nets:make(width=8)"; empty: it is of another kind.
std::string module_word(const Layer& layer);

/// In `forward`, in place of torch::dropout and torch::nn::Dropout: draws from the run's own stream,
/// named by the row in the batch of all ranks, so no result depends on threads, tiles or ranks. A row
/// that is predicted passes as it is.
/// shape: input [rows, ...]; throws: Error for other rows than the network's
torch::Tensor dropout(const torch::Tensor& input, double probability);

}  // namespace sagips::nn
