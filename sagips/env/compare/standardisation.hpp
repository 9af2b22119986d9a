#pragma once

#include "sagips/data/torch.hpp"
#include "sagips/env/compare/event_rows.hpp"

namespace sagips::env {

/// Shifts and scales observables so that given events get mean 0 and deviation 1.
class Standardisation {
 public:
  explicit Standardisation(const EventRows& rows) {
    const torch::Tensor values = rows.values.to(torch::kFloat64);
    const torch::Tensor shares = rows.shares().unsqueeze(1);
    mean_ = (values * shares).sum(0);
    deviation_ = ((values - mean_).square() * shares).sum(0).sqrt().clamp_min(1e-12);
  }

  /// shape: [..., observables] -> the same, float64
  torch::Tensor operator()(const torch::Tensor& values) const {
    return (values.to(torch::kFloat64) - mean_) / deviation_;
  }

 private:
  torch::Tensor mean_, deviation_;
};

}  // namespace sagips::env
