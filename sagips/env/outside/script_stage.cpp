#include "sagips/env/outside/script_stage.hpp"

#include <torch/csrc/jit/passes/inliner.h>
#include <torch/script.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/outside/outside_events.hpp"
#include "sagips/nn/script.hpp"

namespace sagips::env {

using core::DataError;
using core::text;

namespace {

constexpr const char* expected =
    "expected forward(input) or forward(input, noise), tensors that give one tensor or a "
    "Dict[str, Tensor]";

/// One method of a module, and whether it takes noise.
struct Form {
  torch::jit::Method method;
  bool takes_noise;
};

torch::jit::Module load(const std::string& path, const torch::Device& device) {
  torch::jit::Module module = nn::load_script(path);
  module.eval();
  module.to(device);
  // several threads would add to the gradients of the same weights
  for (torch::Tensor parameter : module.parameters()) parameter.set_requires_grad(false);
  return module;
}

bool assigns_attributes(const torch::jit::Block& block) {
  for (const torch::jit::Node* node : block.nodes()) {
    if (node->kind() == torch::jit::prim::SetAttr) return true;
    for (const torch::jit::Block* inner : node->blocks())
      if (assigns_attributes(*inner)) return true;
  }
  return false;
}

Form checked_form(const std::string& path, const torch::jit::Method& method) {
  const c10::FunctionSchema& schema = method.function().getSchema();
  const auto is_tensor = [](const c10::Argument& argument) {
    return argument.type()->isSubtypeOf(*c10::TensorType::get());
  };
  const auto dictionary = c10::DictType::create(c10::StringType::get(), c10::TensorType::get());
  const auto& arguments = schema.arguments();  // the first is the module itself
  bool fits =
      (arguments.size() == 2 || arguments.size() == 3) && schema.returns().size() == 1 &&
      (is_tensor(schema.returns()[0]) || schema.returns()[0].type()->isSubtypeOf(*dictionary));
  for (std::size_t i = 1; fits && i < arguments.size(); ++i) fits = is_tensor(arguments[i]);
  if (!fits) throw DataError(path, text("its method is ", schema, ", ", expected, "."));
  const auto graph = method.graph()->copy();
  torch::jit::Inline(*graph);
  if (assigns_attributes(*graph->block()))
    throw DataError(path, text("its method ", method.name(),
                               " assigns to an attribute (several threads call it at a time, in "
                               "any order). Compute from the arguments alone."));
  return {method, arguments.size() == 3};
}

std::int64_t noise_dimensions(const std::string& path, const torch::jit::Module& module,
                              bool takes_noise) {
  const bool says = module.hasattr("noise_dimensions");
  if (takes_noise && !(says && module.attr("noise_dimensions").isInt() &&
                       module.attr("noise_dimensions").toInt() > 0))
    throw DataError(path,
                    "takes noise and does not say how much. Set self.noise_dimensions = NUMBER in "
                    "the module's __init__: random numbers an event.");
  if (!takes_noise && says)
    throw DataError(path,
                    "has noise_dimensions, and no method takes noise. Write forward(self, input, "
                    "noise), or leave noise_dimensions away.");
  return says ? module.attr("noise_dimensions").toInt() : 0;
}

}  // namespace

struct ScriptStage::Module {
  explicit Module(const std::string& path, const torch::Device& device = torch::kCPU)
      : module(load(path, device)), train(find_forward(path)), infer(find_infer(path)) {
    dimensions = noise_dimensions(path, module, train.takes_noise || infer.takes_noise);
  }

  Events call(const Form& form, const std::string& name, Events before, Noise& noise) const {
    const torch::Tensor input = before.values;
    std::vector<torch::jit::IValue> arguments = {input};
    if (form.takes_noise) {
      std::vector<torch::Tensor> numbers;
      for (std::int64_t i = 0; i < dimensions; ++i) numbers.push_back(noise.uniform());
      arguments.push_back(torch::stack(numbers, 2));
    }
    // An optimised graph may round differently from the first, profiled calls: the same noise must
    // give the same events.
    const torch::jit::GraphOptimizerEnabledGuard as_written(false);
    OutsideArrays arrays;
    try {
      const torch::jit::IValue answer = form.method(std::move(arguments));
      if (answer.isTensor()) {
        before.values = answer.toTensor();
        return before;
      }
      for (const auto& one : answer.toGenericDict())
        arrays[one.key().toStringRef()] = one.value().toTensor();
    } catch (const std::exception& problem) {
      throw core::ShapeError(name, text("fails on input of shape ", input.sizes(), ": ",
                                        nn::reason_of(problem.what())));
    }
    for (const auto& one : arrays)
      if (one.first != "values" && one.first != "mask" && one.first != "weights" &&
          one.first != "counts")
        throw core::ShapeError(name, text("gives '", one.first,
                                          "', which nobody reads. Give values, mask, weights, "
                                          "counts."));
    if (arrays.count("values") == 0)
      throw core::ShapeError(name, "gives a dictionary without 'values'. Put the output there.");
    fill_up(name, arrays, noise.events(), false);
    return events_behind(name, std::move(before), arrays);
  }

  Form find_forward(const std::string& path) const {
    const auto method = module.find_method("forward");
    if (!method) throw DataError(path, text("has no method forward, ", expected, "."));
    return checked_form(path, *method);
  }
  Form find_infer(const std::string& path) const {
    const auto method = module.find_method("infer");
    return method ? checked_form(path, *method) : train;
  }

  torch::jit::Module module;
  Form train, infer;
  std::int64_t dimensions = 0;
};

/// The module once a device that it was asked on.
struct ScriptStage::Modules {
  explicit Modules(const std::string& file) : path(file), on_cpu(file) {}

  const Module& on(const torch::Device& device) {
    if (device.is_cpu()) return on_cpu;
    const std::lock_guard lock(mutex);
    return elsewhere.try_emplace(device.index(), path, device).first->second;
  }

  std::string path;
  Module on_cpu;
  std::mutex mutex;
  std::map<int, Module> elsewhere;
};

ScriptStage::ScriptStage(const std::string& path)
    : modules_(std::make_shared<Modules>(path)),
      name_(std::filesystem::path(path).filename().string()) {}

Events ScriptStage::operator()(Events input, Noise& noise) const {
  const Module& module = modules_->on(input.values.device());
  return module.call(module.train, name_, std::move(input), noise);
}

Events ScriptStage::infer(Events input, Noise& noise) const {
  const Module& module = modules_->on(input.values.device());
  return module.call(module.infer, name_, std::move(input), noise);
}

}  // namespace sagips::env
