#pragma once
#include <cstdint>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/compare/event_rows.hpp"

namespace sagips::env {

/// A small network that was trained once to tell measured events (label 1) from synthetic ones
/// (label 0). Both kinds count the same in its training, whatever their numbers.
///
/// With D its sigmoid, D / (1 - D) estimates the ratio of both densities.
/// source: Cranmer, Pavez and Louppe, arXiv 1506.02169, Sec. 2
class EventClassifier {
 public:
  struct Config {
    std::int64_t width = 32;  ///< neurons of each hidden layer
    std::int64_t layers = 2;  ///< hidden layers; 0: logistic regression
    std::int64_t steps = 200;
    double learning_rate = 1e-2;
    double weight_decay = 1e-3;

    void fields(core::FieldList& list);
  };

  /// Trains: `steps` steps of AdamW on all given events, the learning rate falling along a cosine.
  /// cost: 6 weights events products a step
  EventClassifier(const Config& config, const EventRows& measured, const EventRows& synthetic,
                  const core::RandomStream& stream);

  /// Differentiable by the events, not by the weights.
  /// shape: values [..., observables] -> [...]
  torch::Tensor logits(const torch::Tensor& values) const;
  /// Mean cross entropy of events with their labels, both kinds counting the same; ln 2 for a
  /// classifier that cannot tell.
  /// shape: []
  torch::Tensor loss(const EventRows& measured, const EventRows& synthetic) const;

 private:
  torch::Tensor shift_, scale_;         ///< of both samples together. shape: [observables]
  std::vector<torch::Tensor> weights_;  ///< weight and bias of each layer
};

}  // namespace sagips::env
