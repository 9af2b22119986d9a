#include "sagips/env/compare/two_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/noise/shuffle.hpp"

namespace sagips::env {

namespace {

constexpr double least_spread = 1e-12;
constexpr double rounding = 1e-12;  // of a statistic; equal ones must count as equal
constexpr std::int64_t permutations_at_a_time = 256;

void check_sizes(const EventRows& measured, const EventRows& synthetic, std::int64_t least) {
  const auto check = [&](const EventRows& rows, const char* which) {
    if (rows.size() < least)
      throw core::DataError(
          which, core::text("holds ", rows.size(), " events (a two-sample test needs at least ",
                            least, "). Take more."));
  };
  check(measured, "measured events");
  check(synthetic, "synthetic events");
  if (measured.observables() != synthetic.observables())
    throw core::DataError(
        "synthetic events",
        core::text("have ", synthetic.observables(), " observables, measured ones ",
                   measured.observables(), ". Compare like with like."));
}

torch::Tensor pair_distances(const EventRows& measured, const EventRows& synthetic) {
  const torch::Tensor both =
      torch::cat({measured.values.to(torch::kFloat64), synthetic.values.to(torch::kFloat64)});
  const torch::Tensor standard = (both - both.mean(0)) / both.std(0, false).clamp_min(least_spread);
  // 2: by differences, because |a|^2 + |b|^2 - 2 a b loses close pairs
  return torch::cdist(standard, standard, 2, 2);
}

// Less the mean distance to all events, in rows and columns: then each event's part has mean zero
// under the hypothesis, which signs need.
torch::Tensor centred(const torch::Tensor& distance, const torch::Tensor& share) {
  const torch::Tensor mean = distance.mv(share);
  return distance - mean.unsqueeze(0) - mean.unsqueeze(1) + mean.dot(share);
}

// -s' d s for each row of s: the energy distance when s holds shares, negative for one sample
torch::Tensor statistics(const torch::Tensor& shares, const torch::Tensor& distance) {
  return -(shares.matmul(distance) * shares).sum(1);
}

// Shares of which other events are the measured ones, as many as before: those of the smallest random
// numbers, as the order among them does not count. 52 random bits a number: equal ones are as good as absent.
torch::Tensor relabelled(std::int64_t first, std::int64_t count, std::int64_t measured,
                         const torch::Tensor& shares, const core::RandomStream& stream) {
  const torch::Tensor numbers =
      PhiloxNoise(stream).uniform(first, count, shares.size(0), 0, torch::kFloat64);
  const auto [last, place] = numbers.kthvalue(measured, 1, /*keepdim=*/true);
  return torch::where(numbers <= last, shares[0], shares[-1]);
}

torch::Tensor random_signs(std::int64_t first, std::int64_t count, std::int64_t events,
                           const core::RandomStream& stream) {
  return (PhiloxNoise(stream).uniform(first, count, events, 0, torch::kFloat64) - 0.5).sign();
}

}  // namespace

TestResult energy_test(const EventRows& measured, const EventRows& synthetic,
                       std::int64_t permutations, const core::RandomStream& stream) {
  check_sizes(measured, synthetic, 2);
  torch::NoGradGuard no_grad;
  const bool weighted = measured.weights.defined() || synthetic.weights.defined();
  const torch::Tensor shares = torch::cat({measured.shares(), -synthetic.shares()});
  torch::Tensor distance = pair_distances(measured, synthetic);
  // as the shares add up to zero, centring leaves the statistic as it is
  if (weighted) distance = centred(distance, shares.abs() / 2);
  const double statistic = statistics(shares.unsqueeze(0), distance).item<double>();
  const double least = statistic - rounding * distance.abs().max().item<double>();
  std::int64_t worse = 0;
  for (std::int64_t first = 0; first < permutations; first += permutations_at_a_time) {
    const std::int64_t count = std::min(permutations_at_a_time, permutations - first);
    const torch::Tensor other =
        weighted ? random_signs(first, count, shares.size(0), stream) * shares.abs()
                 : relabelled(first, count, measured.size(), shares, stream);
    worse += (statistics(other, distance) >= least).sum().item<std::int64_t>();
  }
  return {statistic, static_cast<double>(1 + worse) / static_cast<double>(1 + permutations)};
}

TestResult classifier_test(const EventRows& measured, const EventRows& synthetic,
                           const EventClassifier::Config& config,
                           const core::RandomStream& stream) {
  check_sizes(measured, synthetic, 4);
  if (measured.weights.defined() && measured.weights.min().item<double>() < 0)
    throw core::Error("no classifier learns from negative weights. Set solve.test=energy.");
  const auto halves = [&](const EventRows& rows, std::uint32_t step) {
    const torch::Tensor order = shuffled(rows.size(), 1, stream.at_step(step))[0];
    const std::int64_t half = rows.size() / 2;
    return std::pair(rows.select(order.narrow(0, 0, half)),
                     rows.select(order.narrow(0, half, rows.size() - half)));
  };
  const auto [data, held_out_data] = halves(measured, 0);
  const auto [made, held_out_made] = halves(synthetic, 1);
  const EventClassifier classifier(config, data, made, stream.at_step(2));
  torch::NoGradGuard no_grad;
  const auto called_measured = [&](const EventRows& rows) {
    const torch::Tensor called =
        (classifier.logits(rows.values.to(torch::kFloat32)) > 0).to(torch::kFloat64);
    return called.dot(rows.shares()).item<double>();
  };
  const double right = called_measured(held_out_data), wrong = called_measured(held_out_made);
  const double data_size = held_out_data.effective_size(),
               made_size = held_out_made.effective_size();
  // one proportion q for both under the hypothesis; half an event for the jump of a count
  const double q = (right * data_size + wrong * made_size) / (data_size + made_size);
  const double variance = q * (1 - q) * (1 / data_size + 1 / made_size);
  const double jump = 0.5 * std::max(1 / data_size, 1 / made_size);
  const double accuracy = 0.5 * (1 + right - wrong);
  if (!(variance > 0)) return {accuracy, 1};  // it calls all events alike
  const double deviations = (right - wrong - jump) / std::sqrt(variance);
  return {accuracy, 0.5 * std::erfc(deviations / std::numbers::sqrt2)};
}

}  // namespace sagips::env
