#include "sagips/optim/search/searchers/bayesian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <torch/optim/adam.h>

#include "sagips/env/noise/noise.hpp"
#include "sagips/env/noise/shuffle.hpp"

namespace sagips::optim::searchers {

namespace {

constexpr double edge = 1e-3;        // candidates keep this distance from the ends of the ranges
constexpr double climb_rate = 0.05;  // of Adam, in logits
constexpr double near = 0.05, nearer = 0.005;  // deviations of candidates around the best points

torch::Tensor tensor_of(const std::vector<Point>& points) {
  std::vector<torch::Tensor> rows;
  for (const Point& point : points) rows.push_back(torch::tensor(point, torch::kFloat64));
  return torch::stack(rows);
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

// Gradient steps on all points at once, in logits.
torch::Tensor climbed(const GaussianProcess& process, const torch::Tensor& best,
                      const torch::Tensor& from, std::int64_t steps) {
  torch::AutoGradMode with_gradients(true);
  torch::Tensor logits = torch::logit(from).requires_grad_();
  torch::optim::Adam method({logits}, torch::optim::AdamOptions(climb_rate));
  for (std::int64_t step = 0; step < steps; ++step) {
    method.zero_grad();
    const torch::Tensor gain = log_improvement(process.predict(torch::sigmoid(logits)), best);
    (-gain.sum()).backward();
    method.step();
  }
  return torch::sigmoid(logits.detach()).clamp(edge, 1 - edge);
}

}  // namespace

void Bayesian::Config::fields(core::FieldList& list) {
  list.add(
      "initial", initial,
      "points spread evenly before the first process; 0: 2 (n + 1) for n parameters, at least 8",
      core::Range::between(0, 1e5));
  list.add("batch", batch, "points at a time", core::Range::between(1, 1000));
  list.add("candidates", candidates, "random points from which the search for the next one starts",
           core::Range::between(10, 1e6));
  list.add("climbs", climbs, "best candidates that climb along the gradient",
           core::Range::between(1, 1000));
  list.add("climb_steps", climb_steps, "steps of a climb", core::Range::between(0, 1e4));
}

Bayesian::Bayesian(const Config& config, const SearchStart& start)
    : config_(config),
      stream_(start.seed, "bayesian search"),
      dimensions_(static_cast<std::int64_t>(start.dimensions)),
      design_(even_design(start)),
      designed_(design_.size()) {}

// Latin hypercube: each parameter takes each of as many equal parts of its range once.
std::vector<Point> Bayesian::even_design(const SearchStart& start) const {
  const std::int64_t size =
      config_.initial > 0 ? config_.initial : std::max<std::int64_t>(8, 2 * (dimensions_ + 1));
  const torch::Tensor part = env::shuffled(size, dimensions_, stream_).to(torch::kFloat64);
  const torch::Tensor inside =
      env::PhiloxNoise(stream_.at_step(1)).uniform(0, dimensions_, size, 0, torch::kFloat64);
  const torch::Tensor design = ((part + inside) / static_cast<double>(size)).t().contiguous();
  std::vector<Point> points;
  for (std::int64_t i = 0; i < size; ++i) {
    const double* row = design[i].data_ptr<double>();
    points.emplace_back(row, row + dimensions_);
  }
  if (start.start) points.back() = *start.start;
  return points;
}

std::vector<Point> Bayesian::ask(std::size_t most) {
  waiting_.clear();
  if (!design_.empty()) {
    for (std::size_t i = 0; i < most && !design_.empty(); ++i) {
      waiting_.push_back(design_.back());
      design_.pop_back();
    }
    return waiting_;
  }
  torch::NoGradGuard no_grad;
  // now and then afresh: the last one's parameters may lead to a lesser maximum
  const bool afresh = points_.size() % 10 == 0;
  GaussianProcess process(tensor_of(points_), compressed_scores(),
                          afresh ? torch::Tensor() : parameters_);
  parameters_ = process.parameters();
  const std::size_t count = std::min(most, static_cast<std::size_t>(config_.batch));
  for (std::size_t i = 0; i < count; ++i) {
    const torch::Tensor next = best_next(process);
    waiting_.emplace_back(next.data_ptr<double>(), next.data_ptr<double>() + dimensions_);
    if (i + 1 < count) process = process.believing(next.unsqueeze(0));
  }
  return waiting_;
}

void Bayesian::tell(const std::vector<double>& scores) {
  points_.insert(points_.end(), waiting_.begin(), waiting_.end());
  scores_.insert(scores_.end(), scores.begin(), scores.end());
  waiting_.clear();
}

// To mean 0 and deviation 1.
torch::Tensor Bayesian::compressed_scores() const {
  double worst = -std::numeric_limits<double>::infinity();
  for (const double score : scores_)
    if (std::isfinite(score)) worst = std::max(worst, score);
  if (!std::isfinite(worst)) worst = 0;
  std::vector<double> finite = scores_;
  for (double& score : finite)
    if (!std::isfinite(score)) score = worst;
  const torch::Tensor values = torch::tensor(finite, torch::kFloat64);
  const torch::Tensor above = values - values.min();
  const auto first = static_cast<std::int64_t>(std::min(designed_, points_.size()));
  const double scale = above.narrow(0, 0, first).median().item<double>();
  const torch::Tensor compressed = scale > 0 ? torch::log1p(above / scale) : above;
  return (compressed - compressed.mean()) / compressed.std(0, false).clamp_min(1e-12);
}

// Over the whole cube, and around the best points so far.
torch::Tensor Bayesian::candidates() const {
  const auto step = static_cast<std::uint32_t>(points_.size() + waiting_.size() + 2);
  const env::PhiloxNoise noise(stream_.at_step(step));
  const std::int64_t around = config_.candidates / 4;
  const torch::Tensor all = torch::tensor(scores_, torch::kFloat64);
  const torch::Tensor order = all.argsort(/*dim=*/int64_t{0}, /*descending=*/false);
  const torch::Tensor best = tensor_of(points_).index_select(
      0, order.narrow(0, 0, std::min<std::int64_t>(5, all.size(0))));
  const torch::Tensor centre = best.repeat({(around + best.size(0) - 1) / best.size(0), 1});
  const auto normal = [&](std::int64_t sample) {
    return torch::special_ndtri(
        noise.uniform(sample, centre.size(0), dimensions_, 0, torch::kFloat64));
  };
  const torch::Tensor even = noise.uniform(0, config_.candidates, dimensions_, 0, torch::kFloat64);
  return torch::cat({even, centre + near * normal(config_.candidates),
                     centre + nearer * normal(2 * config_.candidates)})
      .clamp(edge, 1 - edge);
}

torch::Tensor Bayesian::best_next(const GaussianProcess& process) const {
  torch::NoGradGuard no_grad;
  const torch::Tensor best = process.predict(tensor_of(points_)).mean.min();
  const torch::Tensor all = candidates();
  const torch::Tensor gain = log_improvement(process.predict(all), best);
  const torch::Tensor from = all.index_select(0, std::get<1>(gain.topk(config_.climbs)));
  const torch::Tensor ends = torch::cat({from, climbed(process, best, from, config_.climb_steps)});
  const torch::Tensor found = log_improvement(process.predict(ends), best);
  return ends[found.argmax().item<std::int64_t>()].contiguous();
}

}  // namespace sagips::optim::searchers
