#include "sagips/nn/script.hpp"

#include <torch/script.h>
#include <torch/version.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

using core::DataError;
using core::text;

namespace {

[[noreturn]] void refuse_file(const std::string& path, const std::string& message) {
  const auto contains = [&](const char* words) { return message.find(words) != std::string::npos; };
  const std::string here = text("this is LibTorch ", TORCH_VERSION);
  if (contains("maximum supported version"))
    throw DataError(path, text("was written by a newer PyTorch (", reason_of(message), "; ", here,
                               "). Save it with an older PyTorch."));
  if (contains("Unknown builtin op") || contains("Unknown type"))
    throw DataError(path, text("uses what this LibTorch does not know (", reason_of(message), "; ",
                               here, "). Save it with PyTorch ", TORCH_VERSION, " or older."));
  const char first = core::read_file(path)[0];  // an archive without code, or a pickle alone
  const bool is_saved = contains("constants.pkl") || first == '\x80';
  throw DataError(path, text(is_saved ? "was written by torch.save, which keeps no code"
                                      : "is no TorchScript module, or is cut off",
                             ". Save one with torch.jit.script(module).save(\"", path, "\")."));
}

}  // namespace

std::string reason_of(const std::string& message) {
  const std::size_t error = message.rfind("Error: ");
  const std::string line = error == std::string::npos ? message : message.substr(error + 7);
  return core::trim(line.substr(0, line.find('\n')));
}

std::string first_line(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "out of memory. Lower batch (batch.samples where parameters are looked for) or "
           "train.engine.tile_samples.";
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr)
    return "out of memory on the GPU. Lower batch (batch.samples where parameters are looked for), "
           "or set "
           "train.engine.tile_samples, which cuts it.";
  const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string message = of_torch ? of_torch->what_without_backtrace() : error.what();
  if (message.starts_with("The following operation failed in the TorchScript interpreter"))
    return "a TorchScript module: " + reason_of(message);
  return message.substr(0, message.find('\n'));
}

torch::jit::Module load_script(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))
    throw DataError(
        path, text("is not there (looked for it from ", std::filesystem::current_path().string(),
                   "). Relative paths of a YAML count from its folder, those of the command "
                   "line from where you start."));
  try {
    return torch::jit::load(path, torch::kCPU);
  } catch (const c10::Error& problem) {
    refuse_file(path, problem.what_without_backtrace());
  } catch (const std::exception& problem) {
    refuse_file(path, problem.what());
  }
}

std::function<torch::Tensor(const torch::Tensor& rows)> script_function(const std::string& path) {
  auto module = std::make_shared<torch::jit::Module>(load_script(path));
  module->eval();
  if (!module->find_method("forward")) throw DataError(path, "has no method forward.");
  return [path, module](const torch::Tensor& rows) {
    const torch::NoGradGuard no_grad;
    const torch::jit::GraphOptimizerEnabledGuard as_written(false);
    try {
      return module->forward({rows}).toTensor().to(torch::kFloat32);
    } catch (const std::exception& problem) {
      throw DataError(path, text("fails for ", rows.size(0), " rows of shape ", rows.sizes(), ": ",
                                 reason_of(problem.what())));
    }
  };
}

void save_script(const std::string& from, const std::string& to,
                 std::span<const NamedTensor> tensors) {
  torch::jit::Module module = load_script(from);
  std::map<std::string, torch::Tensor> places;
  for (const auto& item : module.named_parameters()) places.emplace(item.name, item.value);
  for (const auto& item : module.named_buffers()) places.emplace(item.name, item.value);
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors) {
    const auto place = places.find(name);
    if (place == places.end() || place->second.sizes() != tensor.sizes())
      throw DataError(from, text("holds no '", name, "' of such a shape (it has changed since it ",
                                 "was read). Put the former file back."));
    place->second.copy_(tensor);
  }
  module.eval();
  std::ostringstream content;
  module.save(content);
  core::write_file(to, content.str());
}

}  // namespace sagips::nn
