#pragma once
#include <functional>
#include <string>
#include <vector>

#include <torch/types.h>

namespace sagips::nn {

/// A function of tensors that is written in Python. Threads may call it at a time.
struct PythonFunction {
  std::string name{};
  std::function<torch::Tensor(const std::vector<torch::Tensor>& arguments)> call{};
  bool of_classes = false;  ///< of a loss: it compares outputs with numbers of classes
  std::function<torch::Tensor(const torch::Tensor& outputs)>
      meaning{};  ///< of a loss: what outputs stand for; null: themselves
};

/// Whether a word of a config names something of Python: MODULE:NAME, FOLDER/MODULE:NAME, or a file that keeps it, with
/// or without arguments, (a=1), behind it.
bool is_python(const std::string& word);

/// kind: "loss", "metric" or "rows"
using FindPythonFunction =
    std::function<PythonFunction(const std::string& word, const std::string& kind)>;
/// From now on configs may name such functions; called by programs that are Python.
void find_python_functions(FindPythonFunction find);
/// throws: ConfigError where this program is not Python. key: for messages
PythonFunction python_function(const std::string& word, const std::string& kind,
                               const std::string& key);
/// "'nets:make' is written in Python, ...": what to do where this program is not.
std::string not_python(const std::string& word);

}  // namespace sagips::nn
