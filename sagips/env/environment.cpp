#include "sagips/env/environment.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

Moments Moments::of(const torch::Tensor& values) {
  return {values.mean(0), values.std(0, false).clamp_min(1e-12)};
}

std::int64_t Environment::processes() const {
  std::int64_t most = 0;
  for (const Channel& channel : channels) most = std::max(most, channel.pipeline.processes());
  return most;
}

namespace {

/// Events that weights let through. The largest weight is known only when all are drawn, so every
/// event keeps the height that decides about it, and those that a larger weight excludes are dropped.
class AcceptedEvents {
 public:
  explicit AcceptedEvents(const core::RandomStream& stream) : stream_(stream.at_step(1)) {}

  /// shapes: rows [events, observables], weights [events]
  void add(const torch::Tensor& rows, const torch::Tensor& weights) {
    if (weights.numel() == 0) return;
    if (!(weights.min().item<float>() >= 0))
      throw core::DataError("toy data",
                            "the pipeline gives an event a negative weight, or none that is a "
                            "number (no event can be drawn by it). Set toy.weights=kept, or mend "
                            "the stage that weighs.");
    torch::Tensor heights = torch::empty({weights.size(0)}, torch::kFloat64);
    stream_.uniform(
        chunk_++, 0,
        std::span<double>(heights.data_ptr<double>(), static_cast<std::size_t>(heights.numel())));
    rows_ = rows_.defined() ? torch::cat({rows_, rows}) : rows;
    const torch::Tensor fresh = weights.to(torch::kFloat64) / heights;
    bars_ = bars_.defined() ? torch::cat({bars_, fresh}) : fresh;
    largest_ = std::max(largest_, weights.max().item<double>());
    const torch::Tensor stays = bars_ > largest_;
    rows_ = rows_.index({stays});
    bars_ = bars_.index({stays});
  }

  std::int64_t size() const { return rows_.defined() ? rows_.size(0) : 0; }
  const torch::Tensor& rows() const { return rows_; }

 private:
  core::RandomStream stream_;
  std::uint32_t chunk_ = 0;
  torch::Tensor rows_;
  torch::Tensor bars_;  ///< the largest weight up to which an event stays
  double largest_ = 0;
};

// At most 1000 events are drawn for each one asked for.
constexpr std::int64_t drawn_for_one = 1000;

[[noreturn]] void refuse_few(std::int64_t found, std::int64_t drawn, bool has_weights) {
  throw core::DataError(
      "toy data",
      has_weights
          ? core::text("only ", found, " of ", drawn,
                       " events are accepted by their weights (it "
                       "needs 1 of ",
                       drawn_for_one, "). Bound the weights, or set toy.weights=kept.")
          : core::text("only ", found, " of ", drawn, " events pass the selection (it needs 1 of ",
                       drawn_for_one, "). Widen its cuts."));
}

}  // namespace

data::Dataset toy_data(const Pipeline& pipeline, const torch::Tensor& physical, std::int64_t events,
                       const std::vector<std::string>& observables,
                       const core::RandomStream& stream, ToyWeights use) {
  constexpr std::int64_t events_per_sample = 1000;
  constexpr std::int64_t largest_chunk = 256;
  constexpr std::int64_t drawn_to_judge = 1'000'000;
  constexpr std::int64_t drawn_for_largest = 100'000;  // until the largest weight is believed
  const auto source = std::make_shared<PhiloxNoise>(stream);
  const torch::Tensor one = physical.to(torch::kFloat32).unsqueeze(0);
  data::Dataset toys;
  std::vector<torch::Tensor> values, weights;
  AcceptedEvents accepted(stream);
  bool has_weights = false;
  std::int64_t found = 0, drawn = 0;
  while (found < events || (has_weights && drawn < drawn_for_largest)) {
    if (drawn >= drawn_to_judge && found * drawn_for_one < drawn)
      refuse_few(found, drawn, has_weights);
    const std::int64_t wanted = has_weights ? drawn_for_largest : events - found;
    const std::int64_t samples =
        std::min(largest_chunk, (wanted + events_per_sample - 1) / events_per_sample);
    Noise noise(source, samples, events_per_sample, drawn / events_per_sample);
    const Events made = pipeline.infer(one.expand({samples, one.size(1)}), noise);
    const auto [rows, row_weights] = made.rows();
    if (drawn == 0)
      for (const auto& [name, number] : made.numbers)
        toys.reference[name] = number[0].item<double>();
    drawn += samples * events_per_sample;
    has_weights = row_weights.defined() && use == ToyWeights::accepted;
    if (has_weights) {
      accepted.add(rows, row_weights);
      found = accepted.size();
      continue;
    }
    values.push_back(rows);
    if (row_weights.defined()) weights.push_back(row_weights);
    found += rows.size(0);
  }
  toys.values =
      (has_weights ? accepted.rows() : torch::cat(values)).narrow(0, 0, events).contiguous();
  if (!weights.empty()) toys.weights = torch::cat(weights).narrow(0, 0, events).contiguous();
  toys.observables = observables;
  toys.origin = core::text("toy data: ", events, " events");
  if (use == ToyWeights::kept && weights.empty())
    toys.origin += " without weights (toy.weights has no effect)";
  const double share = 100.0 * static_cast<double>(found) / static_cast<double>(drawn);
  if (has_weights)
    toys.origin += core::text(", accepted by their weights: ", core::significant(share, 2),
                              " % of those drawn");
  return toys;
}

}  // namespace sagips::env
