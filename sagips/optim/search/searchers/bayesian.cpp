#include "sagips/optim/search/searchers/bayesian.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <torch/optim/adam.h>

#include "sagips/data/numbers.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/optim/search/search_features.hpp"
#include "sagips/optim/search/search_numbers.hpp"

namespace sagips::optim::searchers {

namespace {

constexpr double edge = 1e-3;        // candidates keep this distance from the ends of the ranges
constexpr double climb_rate = 0.05;  // of Adam, in logits
constexpr double near = 0.05, nearer = 0.005;  // deviations of candidates around the best points
constexpr double same = 1e-4;                  // two points that differ by less
constexpr double other_value = 0.2;            // chance that a candidate there has another one
constexpr double bound = 1.96, least = 0.01;   // of the hedge: deviations below, and least gain

torch::Tensor tensor_of(const std::vector<Point>& points) {
  std::vector<torch::Tensor> rows;
  for (const Point& point : points) rows.push_back(torch::tensor(point, torch::kFloat64));
  return torch::stack(rows);
}

std::vector<Point> points_of(const torch::Tensor& rows) {
  std::vector<Point> points;
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    const double* const first = rows[row].data_ptr<double>();
    points.emplace_back(first, first + rows.size(1));
  }
  return points;
}

// ln of the expected improvement over `best`: ln(s (phi(u) + u Phi(u))), u = (best - mean) / s
torch::Tensor log_improvement(const GaussianProcess::Prediction& at, const torch::Tensor& best) {
  const torch::Tensor u = (best - at.mean) / at.deviation;
  const torch::Tensor log_phi = -0.5 * u.square() - 0.5 * std::log(2 * std::numbers::pi);
  // for large -u it is phi(u) / u^2, and the difference of large numbers fails
  const torch::Tensor clamped = u.clamp_min(-6);
  const torch::Tensor plain =
      torch::log(torch::exp(-0.5 * clamped.square()) / std::sqrt(2 * std::numbers::pi) +
                 clamped * torch::special_ndtr(clamped));
  const torch::Tensor far = log_phi - 2 * torch::log(u.clamp_max(-1).neg());
  return torch::log(at.deviation) + torch::where(u > -6, plain, far);
}

using Gain = Bayesian::Gain;
constexpr std::array hedged = {Gain::improvement, Gain::lower_bound, Gain::probability};

torch::Tensor gain_of(Gain gain, const GaussianProcess::Prediction& at, const torch::Tensor& best) {
  if (gain == Gain::lower_bound) return bound * at.deviation - at.mean;
  if (gain == Gain::probability)
    return torch::special_log_ndtr((best - least - at.mean) / at.deviation);
  return log_improvement(at, best);
}

// To mean 0 and deviation 1. designed: how many were not chosen by their scores
torch::Tensor compressed(const std::vector<double>& scores, std::size_t designed) {
  double worst = -std::numeric_limits<double>::infinity();
  for (const double score : scores)
    if (std::isfinite(score)) worst = std::max(worst, score);
  if (!std::isfinite(worst)) worst = 0;
  std::vector<double> finite = scores;
  for (double& score : finite)
    if (!std::isfinite(score)) score = worst;
  const torch::Tensor values = torch::tensor(finite, torch::kFloat64);
  const torch::Tensor above = values - values.min();
  const auto first = static_cast<std::int64_t>(std::min(designed, scores.size()));
  const double scale = above.narrow(0, 0, first).median().item<double>();
  const torch::Tensor compressed = scale > 0 ? torch::log1p(above / scale) : above;
  return (compressed - compressed.mean()) / compressed.std(0, false).clamp_min(1e-12);
}

}  // namespace

/// All points so far: those with scores first, then those at work.
struct Bayesian::Known {
  std::vector<Point> points{}, pending{};
  std::vector<double> scores{};

  explicit Known(const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) {
      (trial.score ? points : pending).push_back(trial.point);
      if (trial.score) scores.push_back(*trial.score);
    }
  }

  // Where a score would tell nothing new. shape: [m, n] -> [m]
  torch::Tensor contains(const torch::Tensor& all) const {
    std::vector<Point> both = points;
    both.insert(both.end(), pending.begin(), pending.end());
    const torch::Tensor apart = all.unsqueeze(1) - tensor_of(both).unsqueeze(0);
    return std::get<0>(apart.abs().amax(2).min(1)) < same;
  }

  // The lowest first.
  torch::Tensor best(std::size_t most) const {
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return comparable(scores[a]) < comparable(scores[b]);
    });
    std::vector<Point> found;
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
      found.push_back(points[order[i]]);
    return tensor_of(found);
  }
};

void Bayesian::Config::fields(core::FieldList& list) {
  list.add(
      "initial", initial,
      "points spread evenly before the first process; 0: 2 (n + 1) for n parameters, at least 8",
      core::Range::between(0, 1e5));
  list.add("batch", batch, "points at a time", core::Range::between(1, 1000));
  list.choice("gain", gain,
              {{"improvement", Gain::improvement},
               {"lower_bound", Gain::lower_bound},
               {"probability", Gain::probability},
               {"hedge", Gain::hedge}},
              "what the next point makes largest: the expected improvement, the score's lower "
              "confidence bound, the probability to improve, or NNLO's hedge between these");
  list.add("candidates", candidates, "random points from which the search for the next one starts",
           core::Range::between(10, 1e6));
  list.add("climbs", climbs, "best candidates that climb along the gradient",
           core::Range::between(1, 1000));
  list.add("climb_steps", climb_steps, "steps of a climb", core::Range::between(0, 1e4));
}

Bayesian::Bayesian(const Config& config, const SearchStart& start)
    : config_(config), start_(start), stream_(start.seed, "bayesian search") {
  const auto initial = config.initial > 0 ? static_cast<std::size_t>(config.initial)
                                          : std::max<std::size_t>(8, 2 * (start.space.size() + 1));
  initial_ = initial;
}

std::vector<Point> Bayesian::ask(const std::vector<Trial>& trials, std::size_t most) {
  torch::NoGradGuard no_grad;
  Known known(trials);
  std::vector<Point> points;
  std::size_t number = trials.size();
  for (; points.size() < most && (number < initial_ || known.points.size() < 2); ++number)
    points.push_back(design_point(number, start_.start, start_.space, stream_));
  if (!points.empty()) return points;
  GaussianProcess process(features(tensor_of(known.points)), compressed(known.scores, initial_),
                          parameters_of(known));
  if (!known.pending.empty()) process = process.believing(features(tensor_of(known.pending)));
  const std::size_t count = std::min(most, static_cast<std::size_t>(config_.batch));
  for (;; ++number) {
    const torch::Tensor next = config_.gain == Gain::hedge
                                   ? hedged_next(process, known, number)
                                   : best_next(process, config_.gain, known, number);
    points.push_back(data::numbers_of(next));
    if (points.size() == count) return points;
    known.pending.push_back(points.back());
    process = process.believing(features(next.unsqueeze(0)));
  }
}

// Parameters come from the first points alone, so that they need not be found anew for each: they change
// little where there are many. Any searcher finds the same for the same trials.
torch::Tensor Bayesian::parameters_of(const Known& known) {
  const std::size_t step = std::max<std::size_t>(1, known.points.size() / 20);
  const auto count = static_cast<std::ptrdiff_t>(known.points.size() / step * step);
  const std::vector<double> scores(known.scores.begin(), known.scores.begin() + count);
  const torch::Tensor points = tensor_of({known.points.begin(), known.points.begin() + count});
  if (parameters_.defined() && scores == fitted_scores_ && torch::equal(points, fitted_points_))
    return parameters_;
  fitted_scores_ = scores;
  fitted_points_ = points;
  parameters_ = GaussianProcess::most_probable(features(points), compressed(scores, initial_));
  return parameters_;
}

torch::Tensor Bayesian::placed(const torch::Tensor& points) const {
  std::vector<Point> all = points_of(points);
  for (Point& point : all) point = start_.space.placed(std::move(point));
  return tensor_of(all);
}

// What the process sees of points. shape: [m, n] -> [m, features]
torch::Tensor Bayesian::features(const torch::Tensor& points) const {
  if (start_.space.is_numeric()) return points;
  return search_features(start_.space, points_of(points));
}

// Over the whole cube, and around the best points so far.
torch::Tensor Bayesian::candidates(const Known& known, std::size_t number) const {
  const env::PhiloxNoise noise(stream_.at_step(static_cast<std::uint32_t>(number) + 2));
  const auto dimensions = static_cast<std::int64_t>(start_.space.size());
  const std::int64_t around = config_.candidates / 4;
  const torch::Tensor best = known.best(5);
  const torch::Tensor centre = best.repeat({(around + best.size(0) - 1) / best.size(0), 1});
  const auto normal = [&](std::int64_t sample) {
    return torch::special_ndtri(
        noise.uniform(sample, centre.size(0), dimensions, 0, torch::kFloat64));
  };
  const torch::Tensor even = noise.uniform(0, config_.candidates, dimensions, 0, torch::kFloat64);
  torch::Tensor all = torch::cat({even, centre + near * normal(config_.candidates),
                                  centre + nearer * normal(2 * config_.candidates)})
                          .clamp(edge, 1 - edge);
  for (std::int64_t i = 0; i < dimensions; ++i) {
    if (start_.space[static_cast<std::size_t>(i)].values == 0) continue;
    const auto from = [&](std::int64_t sample) {
      return noise.uniform(sample, all.size(0), dimensions, 0, torch::kFloat64).select(1, i);
    };
    torch::Tensor column = all.select(1, i);
    column.copy_(torch::where(from(4 * config_.candidates) < other_value,
                              from(8 * config_.candidates), column));
  }
  return placed(all);
}

// Gradient steps on all points at once, in logits.
torch::Tensor Bayesian::climbed(const GaussianProcess& process, Gain gain,
                                const torch::Tensor& best, const torch::Tensor& from) const {
  torch::AutoGradMode with_gradients(true);
  torch::Tensor logits = torch::logit(from).requires_grad_();
  torch::optim::Adam method({logits}, torch::optim::AdamOptions(climb_rate));
  for (std::int64_t step = 0; step < config_.climb_steps; ++step) {
    method.zero_grad();
    const torch::Tensor found = gain_of(gain, process.predict(torch::sigmoid(logits)), best);
    (-found.sum()).backward();
    method.step();
  }
  return placed(torch::sigmoid(logits.detach()).clamp(edge, 1 - edge));
}

torch::Tensor Bayesian::best_next(const GaussianProcess& process, Gain gain, const Known& known,
                                  std::size_t number) const {
  const torch::Tensor best = process.predict(features(tensor_of(known.points))).mean.min();
  torch::Tensor ends = candidates(known, number);
  // where all are known, the best of them comes again
  const auto judged = [&](const torch::Tensor& gains) {
    const torch::Tensor known_already = known.contains(ends);
    return known_already.all().item<bool>() ? gains : gains.masked_fill(known_already, -HUGE_VAL);
  };
  torch::Tensor found = judged(gain_of(gain, process.predict(features(ends)), best));
  if (start_.space.is_numeric()) {
    const std::int64_t climbs = std::min(config_.climbs, found.size(0));
    const torch::Tensor from = ends.index_select(0, std::get<1>(found.topk(climbs)));
    ends = torch::cat({from, climbed(process, gain, best, from)});
    found = judged(gain_of(gain, process.predict(ends), best));
  }
  return ends[found.argmax().item<std::int64_t>()].contiguous();
}

// What each gain names is judged by the next process.
torch::Tensor Bayesian::hedged_next(const GaussianProcess& process, const Known& known,
                                    std::size_t number) {
  if (nominated_.defined()) {
    const torch::Tensor lost = process.predict(features(nominated_)).mean;
    for (std::size_t i = 0; i < hedge_.size(); ++i)
      hedge_[i] -= lost[static_cast<std::int64_t>(i)].item<double>();
  }
  std::vector<torch::Tensor> named;
  for (const Gain gain : hedged) named.push_back(best_next(process, gain, known, number));
  nominated_ = torch::stack(named);
  const torch::Tensor chances = torch::softmax(torch::tensor(hedge_, torch::kFloat64), 0);
  double left = SearchNumbers(stream_.at_step(static_cast<std::uint32_t>(number) + 2)).uniform();
  std::size_t chosen = 0;
  while (chosen + 1 < named.size()) {
    left -= chances[static_cast<std::int64_t>(chosen)].item<double>();
    if (left < 0) break;
    ++chosen;
  }
  return named[chosen];
}

}  // namespace sagips::optim::searchers
