#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/env/compare/distances/distances.hpp"
#include "sagips/env/noise/shuffle.hpp"

namespace sagips::env::distances {

EventDistance classifier(const EventDistance::Config& config, const EventRows& measured,
                         const core::RandomStream& stream) {
  if (measured.size() < 2)
    throw core::DataError("measured events",
                          "there is only one (a classifier needs some to train and some to judge). "
                          "Use distance.kind=energy.");
  const torch::Tensor order = shuffled(measured.size(), 1, stream)[0];
  const std::int64_t half = measured.size() / 2;
  const EventRows to_train = measured.select(order.narrow(0, 0, half));
  EventRows to_judge = measured.select(order.narrow(0, half, measured.size() - half));
  to_judge.values = to_judge.values.to(torch::kFloat64);
  return {[=, settings = config.classifier, training_stream = stream.at_step(2)](
              const torch::Tensor&, const Events& synthetic) {
    return score_samples(synthetic, [&](const torch::Tensor& values, const torch::Tensor& shares) {
      // events of a sample have no order, so halves need no shuffling
      const std::int64_t first = values.size(0) / 2, rest = values.size(0) - first;
      const EventRows training{values.narrow(0, 0, first), shares.narrow(0, 0, first)};
      const EventRows held_out{values.narrow(0, first, rest), shares.narrow(0, first, rest)};
      const EventClassifier trained(settings, to_train, training, training_stream);
      return std::numbers::ln2 - trained.loss(to_judge, held_out);
    });
  }};
}

}  // namespace sagips::env::distances
