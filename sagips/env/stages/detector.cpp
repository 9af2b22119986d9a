#include "sagips/env/stages/detector.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

void Detector::Config::fields(core::FieldList& list) {
  list.add("enabled", enabled, "whether events pass through the detector");
  list.add("smearing", smearing, "relative resolution of each observable",
           core::Range::between(0, 10));
  list.add("mixing", mixing, "constant share of every other observable",
           core::Range::between(-10, 10));
  list.add("random_mixing", random_mixing, "size of the random share of every other observable",
           core::Range::between(-10, 10));
  list.add("mixing_low", mixing_low, "lower end of the random share");
  list.add("mixing_high", mixing_high, "upper end of the random share");
}

Detector::Detector(Config config, std::int64_t observables)
    : config_(std::move(config)), observables_(observables) {
  if (static_cast<std::int64_t>(config_.smearing.size()) != observables)
    throw core::ConfigError(
        "detector.smearing",
        core::text("has ", config_.smearing.size(), " numbers for ", observables,
                   observables == 1 ? " observable" : " observables",
                   " (2 where it is not said). Give one an observable."));
}

torch::Tensor Detector::operator()(torch::Tensor events, Noise& noise) const {
  if (events.dim() != 3 || events.size(2) != observables_)
    throw core::ShapeError(
        name(), core::text("gets shape ", events.sizes(),
                           " from the stage before it, expected [samples, events, ", observables_,
                           "]. Give it one smearing an observable."));
  std::vector<torch::Tensor> in = events.unbind(2), out;
  for (std::size_t i = 0; i < in.size(); ++i)
    out.push_back(in[i] * (noise.normal() * config_.smearing[i] + 1.0));
  const double width = config_.mixing_high - config_.mixing_low;
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t j = i + 1; j < in.size(); ++j) {
      const torch::Tensor uniform = (noise.uniform() + noise.uniform()) * 0.5;
      const torch::Tensor share =
          (uniform * width + config_.mixing_low) * config_.random_mixing + config_.mixing;
      out[i] = out[i] + share * in[j];
      out[j] = out[j] + share * in[i];
    }
  }
  return torch::stack(out, 2);
}

}  // namespace sagips::env
