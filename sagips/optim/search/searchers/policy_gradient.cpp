#include "sagips/optim/search/searchers/policy_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sagips/data/numbers.hpp"
#include "sagips/optim/search/search_numbers.hpp"

namespace sagips::optim::searchers {

namespace {

constexpr double largest_logit = 12;  // beyond it a parameter sits at an end of its range

Point point_of(const torch::Tensor& logits) {
  return data::numbers_of(torch::sigmoid(logits.clamp(-largest_logit, largest_logit)));
}

// u_k = max(0, ln(m / 2 + 1) - ln k) / their sum - 1 / m for the k-th best of m
std::vector<double> worth_by_rank(const std::vector<double>& scores) {
  const std::size_t m = scores.size();
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  std::vector<double> worth(m);
  double sum = 0;
  for (std::size_t k = 0; k < m; ++k) {
    const double half = std::log(static_cast<double>(m) / 2 + 1);
    worth[order[k]] = std::max(0.0, half - std::log(static_cast<double>(k + 1)));
    sum += worth[order[k]];
  }
  for (double& one : worth) one = one / sum - 1 / static_cast<double>(m);
  return worth;
}

// (mean - score) / (deviation m); what could not be scored is worth as little as the worst
std::vector<double> standardised_worth(std::vector<double> scores) {
  double worst = -std::numeric_limits<double>::infinity();
  for (const double score : scores)
    if (std::isfinite(score)) worst = std::max(worst, score);
  if (!std::isfinite(worst)) worst = 0;
  for (double& score : scores)
    if (!std::isfinite(score)) score = worst;
  const auto m = static_cast<double>(scores.size());
  const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / m;
  double square = 0;
  for (const double score : scores) square += (score - mean) * (score - mean);
  const double deviation = std::sqrt(square / m);
  for (double& score : scores) score = deviation > 0 ? (mean - score) / (deviation * m) : 0;
  return scores;
}

}  // namespace

void PolicyGradient::Config::fields(core::FieldList& list) {
  list.add("batch", batch, "proposals of an update; 0: 4 + 3 ln n for n parameters",
           core::Range::between(0, 1e6));
  list.add("deviation", deviation, "first standard deviation of the policy [logit]",
           core::Range::positive());
  list.add("learning_rate", learning_rate,
           "of the policy's width and shape; 0: (9 + 3 ln n) / (5 n sqrt n)",
           core::Range::at_least(0));
  list.add("width_penalty", width_penalty, "pull towards a narrower policy (AVO's entropy term)",
           core::Range::at_least(0));
  list.choice("shaping", shaping,
              {{"ranks", Shaping::ranks}, {"standardised", Shaping::standardised}},
              "what proposals are worth: by rank, or by score less the batch's mean");
}

PolicyGradient::PolicyGradient(const Config& config, const SearchStart& start)
    : config_(config), stream_(start.seed, "policy gradient"), start_(start.start) {
  const auto n = static_cast<double>(start.space.size());
  const auto size = static_cast<std::int64_t>(start.space.size());
  batch_ = config.batch > 0 ? std::max<std::int64_t>(2, config.batch)
                            : 4 + static_cast<std::int64_t>(3 * std::log(n));
  rate_ = config.learning_rate > 0 ? config.learning_rate
                                   : (9 + 3 * std::log(n)) / (5 * n * std::sqrt(n));
  mean_ = torch::zeros({size}, torch::kFloat64);
  if (start_) mean_ = torch::logit(torch::tensor(*start_, torch::kFloat64), 1e-5);
  spread_ = torch::eye(size, torch::kFloat64) * config.deviation;
}

void PolicyGradient::draw() {
  noise_ = torch::empty({batch_, mean_.size(0)}, torch::kFloat64);
  const core::RandomStream stream = stream_.at_step(updates_);
  for (std::int64_t i = 0; i < batch_; ++i)
    stream.uniform(
        static_cast<std::uint32_t>(i), 0,
        std::span<double>(noise_[i].data_ptr<double>(), static_cast<std::size_t>(noise_.size(1))));
  noise_ = torch::special_ndtri(noise_);
  if (start_) noise_[0].zero_();  // the start itself
  start_.reset();
}

std::vector<Point> PolicyGradient::ask(const std::vector<Trial>& trials, std::size_t most) {
  torch::NoGradGuard no_grad;
  const auto size = static_cast<std::size_t>(batch_);
  if (!noise_.defined()) draw();
  while (trials.size() >= learned_ + size) {
    std::vector<double> scores;
    for (std::size_t i = learned_; i < learned_ + size; ++i) {
      if (!trials[i].score) return {};
      scores.push_back(comparable(*trials[i].score));
    }
    update(scores);
    learned_ += size;
    draw();
  }
  std::vector<Point> points;
  const std::size_t first = trials.size() - learned_;
  for (std::size_t i = first; i < std::min(first + most, size); ++i)
    points.push_back(point_of(mean_ + spread_.mv(noise_[static_cast<std::int64_t>(i)])));
  return points;
}

void PolicyGradient::update(const std::vector<double>& scores) {
  torch::NoGradGuard no_grad;
  const torch::Tensor worth = torch::tensor(
      config_.shaping == Shaping::ranks ? worth_by_rank(scores) : standardised_worth(scores),
      torch::kFloat64);
  // natural gradients in the policy's own coordinates: by the mean sum u s, by the exponent of its
  // spread sum u (s s' - 1)
  const torch::Tensor by_mean = noise_.t().mv(worth);
  const torch::Tensor one = torch::eye(mean_.size(0), torch::kFloat64);
  const torch::Tensor by_spread = (noise_ * worth.unsqueeze(1)).t().matmul(noise_) -
                                  one * worth.sum() - one * config_.width_penalty;
  mean_ = (mean_ + spread_.mv(by_mean)).clamp(-largest_logit, largest_logit);
  spread_ = spread_.matmul(torch::linalg_matrix_exp(by_spread * (0.5 * rate_)));
  ++updates_;
}

}  // namespace sagips::optim::searchers
