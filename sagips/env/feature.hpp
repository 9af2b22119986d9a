#pragma once
#include <functional>
#include <string>

#include "sagips/data/torch.hpp"

namespace sagips::env {

/// A number computed from an event, whose mean a pipeline must reproduce. A value that a user adds
/// to the features moment matching has by itself.
///
///   env::Feature{"product", [](const torch::Tensor& x) { return x.select(-1, 0) * x.select(-1, 1); }}
struct Feature {
  std::string name;
  /// shape: events [..., observables] -> [...]
  std::function<torch::Tensor(const torch::Tensor& events)> of;
};

}  // namespace sagips::env
