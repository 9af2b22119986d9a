#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::env {

/// A TorchScript module from a file, written with a user's own PyTorch: no C++ needed.
///
///   forward(input)         input -> output
///   forward(input, noise)  noise: [samples, events, noise_dimensions], uniform in (0, 1); the
///                          module's attribute `noise_dimensions` says how many it takes
///   infer(...)             optional, with arguments of the same kind: the form without gradients
///
/// All are tensors; the first dimension of input and output is the samples. In place of its output it
/// may give a dictionary with `values` and what else OutsideArrays knows. The module must be a pure
/// function: what assigns to its attributes is refused. Its own weights are constants.
///
/// noise: `noise_dimensions` uniform dimensions
class ScriptStage {
 public:
  /// throws: DataError when the file is no TorchScript module, was written by a PyTorch that this
  /// LibTorch cannot read, or has another signature
  explicit ScriptStage(const std::string& path);

  Events operator()(Events input, Noise& noise) const;
  Events infer(Events input, Noise& noise) const;
  std::string name() const { return name_; }

 private:
  struct Module;
  struct Modules;
  std::shared_ptr<Modules> modules_;
  std::string name_;  ///< the file's, without folders
};

}  // namespace sagips::env
