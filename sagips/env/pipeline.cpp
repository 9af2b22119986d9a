#include "sagips/env/pipeline.hpp"

namespace sagips::env {

Events Pipeline::operator()(torch::Tensor parameters, Noise& noise) const {
  Events events;
  events.values = std::move(parameters);
  for (const Stage& stage : stages_) events = stage(std::move(events), noise);
  return events;
}

Events Pipeline::infer(torch::Tensor parameters, Noise& noise) const {
  torch::NoGradGuard no_grad;
  Events events;
  events.values = std::move(parameters);
  for (const Stage& stage : stages_) events = stage.infer(std::move(events), noise);
  return events;
}

}  // namespace sagips::env
