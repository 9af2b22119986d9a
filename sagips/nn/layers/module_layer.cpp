#include <torch/nn/modules/batchnorm.h>

#include <map>
#include <mutex>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/layers/bound_module.hpp"
#include "sagips/nn/layers/layers.hpp"
#include "sagips/nn/module.hpp"
#include "sagips/nn/python_function.hpp"

namespace sagips::nn {

using core::Error;
using core::text;

namespace {

/// Modules that programs and plug-ins have added, from any thread.
class Makers {
 public:
  void add(const std::string& name, MakeAnyModule make) {
    const std::lock_guard lock(mutex_);
    all_.insert_or_assign(name, std::move(make));
  }
  std::map<std::string, MakeAnyModule> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  void ask(FindModule find) {
    const std::lock_guard lock(mutex_);
    find_ = std::move(find);
  }
  /// Nothing: nobody has it.
  MakeAnyModule named(const std::string& name) const {
    FindModule find;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = all_.find(name); found != all_.end()) return found->second;
      find = find_;
    }
    return find ? find(name) : MakeAnyModule();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, MakeAnyModule> all_;
  FindModule find_;
};

Makers& makers() {
  static Makers all;
  return all;
}

/// Its counters alone would need whole numbers, and they count for nothing where there is a momentum.
template <class BatchNorm>
void check_momentum(const torch::nn::Module& module) {
  if (const auto* norm = module.as<BatchNorm>(); norm && !norm->options.momentum())
    throw Error("a batch norm averages over all batches. Give it a momentum.");
}

class RowsModule final : public BoundModule {
 public:
  RowsModule(AnyRowsModule any, core::RowTensors inputs)
      : any_(std::move(any)), inputs_(std::move(inputs)) {
    if (any_.takes_names() && inputs_.empty())
      throw Error("it takes tensors by name, and its input is one without a name.");
    for (const auto& item : any_.module().named_parameters())
      add_parameter(item.key(), item.value());
    for (const auto& item : any_.module().named_buffers()) add_buffer(item.key(), item.value());
    for (const auto& part : any_.module().modules()) {
      check_momentum<torch::nn::BatchNorm1dImpl>(*part);
      check_momentum<torch::nn::BatchNorm2dImpl>(*part);
      check_momentum<torch::nn::BatchNorm3dImpl>(*part);
    }
  }

  torch::Tensor forward(const torch::Tensor& rows, bool trains) override {
    any_.module().train(trains);
    Rows given = any_.takes_names() ? any_.forward(named(rows)) : any_.forward(rows);
    if (auto* const one = std::get_if<torch::Tensor>(&given)) return std::move(*one);
    std::vector<NamedTensor> several;
    for (const auto& [name, tensor] : std::get<NamedRows>(given)) several.push_back({name, tensor});
    return joined(several, rows.size(0));
  }

 private:
  NamedRows named(const torch::Tensor& rows) const {
    NamedRows all;
    for (const core::RowTensor& input : inputs_) all[input.name] = input.of(rows);
    return all;
  }

  AnyRowsModule any_;
  core::RowTensors inputs_;
};

class ModuleLayer final : public BoundLayer {
 public:
  void fields(core::FieldList& list) override {
    list.add("module", name_, "name of a torch::nn module that the program or its plug-in has");
    list.add("settings", settings_, "numbers that a Python function which makes it gets by name");
  }
  std::shared_ptr<Layer> copy() const override { return std::make_shared<ModuleLayer>(*this); }
  std::string word() const {
    std::vector<std::string> settings;
    for (const auto& [name, value] : settings_)
      settings.push_back(text(name, "=", core::round_trip(value)));
    return settings.empty() ? name_ : text(name_, "(", core::join(settings, ", "), ")");
  }

 protected:
  MakeBoundModule maker(const Shape& input, const core::RowTensors& tensors) const override {
    MakeAnyModule make = makers().named(word());
    if (!make) throw Error(unknown());
    return [make = std::move(make), input, tensors](std::uint64_t) {
      return std::make_shared<RowsModule>(make(input, tensors), tensors);
    };
  }
  std::string name() const override { return name_; }
  bool draws_weights() const override { return true; }
  Advice advice() const override {
    return {
        "Call sagips::nn::dropout in place of torch::dropout and torch::nn::Dropout (in Python "
        "torch.nn.Dropout, as a part of the module, in place of functions).",
        "Leave it out; a weight that two parts share is used through one of them "
        "(torch::linear(x, first->weight))."};
  }

 private:
  std::string unknown() const {
    if (is_python(name_)) return not_python(name_);
    std::vector<std::string> known;
    for (const auto& [name, make] : makers().all()) known.push_back(name);
    if (known.empty())
      return text("There is no module '", name_,
                  "': neither the program nor `plugin: FILE` of the ",
                  "config has one (sagips::nn::add_module).");
    return text("There is no module '", name_, "'", core::suggestion(name_, known), ".");
  }

  std::string name_;
  std::map<std::string, double> settings_;
};

}  // namespace

void add_module(const std::string& name, MakeModule make) {
  makers().add(name, [make = std::move(make)](const Shape& input, const core::RowTensors&) {
    return make(input);
  });
}

void add_module(const std::string& name, MakeNamedModule make) {
  makers().add(name, [make = std::move(make)](const Shape&, const core::RowTensors& tensors) {
    std::map<std::string, Shape> inputs;
    for (const core::RowTensor& input : tensors) inputs[input.name] = input.shape;
    return make(inputs);
  });
}

void find_modules(FindModule find) { makers().ask(std::move(find)); }

std::string module_word(const Layer& layer) {
  const auto* const module = dynamic_cast<const ModuleLayer*>(&layer);
  return module ? module->word() : std::string();
}

std::vector<LayerKind> module_layers() { return {kind_of<ModuleLayer>("module")}; }

}  // namespace sagips::nn
