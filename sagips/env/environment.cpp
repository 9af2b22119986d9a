#include "sagips/env/environment.hpp"

#include <algorithm>
#include <memory>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

Moments Moments::of(const torch::Tensor& values) {
  return {values.mean(0), values.std(0, false).clamp_min(1e-12)};
}

data::Dataset toy_data(const Pipeline& pipeline, const torch::Tensor& physical, std::int64_t events,
                       const std::vector<std::string>& observables,
                       const core::RandomStream& stream) {
  constexpr std::int64_t events_per_sample = 1000;
  constexpr std::int64_t largest_chunk = 256;
  // at most 1000 events are drawn for each one asked for, or a million to find out
  constexpr std::int64_t drawn_for_one = 1000, drawn_to_judge = 1'000'000;
  const auto source = std::make_shared<PhiloxNoise>(stream);
  const torch::Tensor one = physical.to(torch::kFloat32).unsqueeze(0);
  data::Dataset toys;
  std::vector<torch::Tensor> values, weights;
  std::int64_t found = 0, first_sample = 0;
  for (std::int64_t chunk = 0; found < events; ++chunk) {
    const std::int64_t tried = first_sample * events_per_sample;
    if (tried >= drawn_to_judge && found * drawn_for_one < tried)
      throw core::DataError("toy data", core::text("only ", found, " of ", tried,
                                                   " events pass the selection (it needs 1 of ",
                                                   drawn_for_one, "). Widen its cuts."));
    const std::int64_t samples =
        std::min(largest_chunk, (events - found + events_per_sample - 1) / events_per_sample);
    Noise noise(source, samples, events_per_sample, first_sample);
    const Events drawn = pipeline.infer(one.expand({samples, one.size(1)}), noise);
    const auto [rows, row_weights] = drawn.rows();
    values.push_back(rows);
    if (row_weights.defined()) weights.push_back(row_weights);
    found += values.back().size(0);
    first_sample += samples;
    if (chunk == 0)
      for (const auto& [name, number] : drawn.numbers)
        toys.reference[name] = number[0].item<double>();
  }
  toys.values = torch::cat(values).narrow(0, 0, events).contiguous();
  if (!weights.empty()) toys.weights = torch::cat(weights).narrow(0, 0, events).contiguous();
  toys.observables = observables;
  toys.origin = core::text("toy data: ", events, " events");
  return toys;
}

}  // namespace sagips::env
