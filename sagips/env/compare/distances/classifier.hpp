#pragma once
#include "sagips/env/compare/event_distance.hpp"
#include "sagips/env/compare/event_rows.hpp"

namespace sagips::env::distances {

/// Jensen-Shannon divergence as a classifier sees it: ln 2 less its loss on events that it was not
/// trained on. The classifier is trained anew at each sample, on half of its events. A lower bound
/// in the mean; below zero when the classifier learnt nothing.
///
/// Its gradient goes through the events alone, with the classifier held: that is the divergence's
/// gradient for the best possible classifier (envelope theorem). A poor classifier costs the value
/// little and the gradient more.
/// cost:   the training of a classifier a sample
/// source: Goodfellow et al., arXiv 1406.2661, theorem 1
class Classifier final : public EventDistance {
 public:
  Classifier(const Config& config, const EventRows& measured, const core::RandomStream& stream);
  torch::Tensor operator()(const torch::Tensor& physical, const Events& synthetic) const override;

 private:
  EventClassifier::Config config_;
  EventRows training_, held_out_;  ///< halves of the measured events
  core::RandomStream stream_;
};

}  // namespace sagips::env::distances
