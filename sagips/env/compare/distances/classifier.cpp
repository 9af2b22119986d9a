#include "sagips/env/compare/distances/classifier.hpp"

#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/env/noise/shuffle.hpp"

namespace sagips::env::distances {

Classifier::Classifier(const Config& config, const EventRows& measured,
                       const core::RandomStream& stream)
    : config_(config.classifier), stream_(stream.at_step(2)) {
  if (measured.size() < 2)
    throw core::DataError("measured events",
                          "there is only one (a classifier needs some to train and some to judge). "
                          "Use distance.kind=energy.");
  const torch::Tensor order = shuffled(measured.size(), 1, stream)[0];
  const std::int64_t half = measured.size() / 2;
  training_ = measured.select(order.narrow(0, 0, half));
  held_out_ = measured.select(order.narrow(0, half, measured.size() - half));
}

torch::Tensor Classifier::operator()(const torch::Tensor&, const Events& synthetic) const {
  return score_samples(synthetic, [&](const torch::Tensor& values, const torch::Tensor& shares) {
    // events of a sample have no order, so halves need no shuffling
    const std::int64_t half = values.size(0) / 2, rest = values.size(0) - half;
    const EventRows training{values.narrow(0, 0, half), shares.narrow(0, 0, half)};
    const EventRows held_out{values.narrow(0, half, rest), shares.narrow(0, half, rest)};
    const EventClassifier classifier(config_, training_, training, stream_);
    const EventRows measured{held_out_.values.to(torch::kFloat64), held_out_.weights};
    return std::numbers::ln2 - classifier.loss(measured, held_out);
  });
}

}  // namespace sagips::env::distances
