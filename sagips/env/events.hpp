#pragma once
#include <map>
#include <optional>
#include <string>

#include "sagips/data/torch.hpp"

namespace sagips::env {

/// What flows from stage to stage.
///
/// A pipeline starts with values = parameters [samples, parameters] in physical units; between two
/// stages they may have any shape whose first dimension is the samples; it ends with [samples,
/// events, observables].
struct Events {
  torch::Tensor values;
  std::optional<torch::Tensor> weights{};  ///< [samples, events], at least 0; absent: all 1
  std::optional<torch::Tensor> mask{};  ///< [samples, events] bool: the event exists; absent: all
  std::map<std::string, torch::Tensor> numbers{};  ///< named per-sample [samples], e.g. norm_1

  std::int64_t samples() const { return values.size(0); }

  /// Weights with masked events at zero.
  /// shape: [samples, events]; undefined when every event counts 1
  torch::Tensor effective_weights() const;
  /// The events that exist, one a row.
  /// shape: [rows, observables]; weights [rows] or undefined
  std::pair<torch::Tensor, torch::Tensor> rows() const;
  /// The same events outside the graph.
  Events detached() const;
};

}  // namespace sagips::env
