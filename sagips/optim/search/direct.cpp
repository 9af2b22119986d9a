#include "sagips/optim/search/direct.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/optim/search/event_score.hpp"

namespace sagips::optim {

namespace {

constexpr double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-12;
constexpr double start_edge = 1e-4;  // of the ranges: a logit far out has no slope
constexpr double largest_logit = 12;
constexpr std::int64_t visits = 50;  // told to the observer

// The mean over ranks. shape: [n], float64
torch::Tensor mean_over_ranks(const torch::Tensor& numbers, const SolveContext& context) {
  if (!context.add_up) return numbers;
  torch::Tensor all = torch::cat({numbers, torch::ones({1}, torch::kFloat64)});
  context.add_up({all.data_ptr<double>(), static_cast<std::size_t>(all.numel())});
  return (all / all[-1]).narrow(0, 0, numbers.numel());
}

// Points that walk side by side, each with an Adam of its own. shape: [starts, free]
class Walkers {
 public:
  Walkers(const env::ParameterSet& parameters, const Direct::Config& config,
          const SolveContext& context)
      : parameters_(parameters) {
    const torch::Tensor unit =
        env::PhiloxNoise(core::RandomStream(context.seed, "direct starts"))
            .uniform(0, config.starts, parameters.free_size(), 0, torch::kFloat64);
    logits_ = torch::logit(unit, start_edge);
    if (context.start)
      logits_[0].copy_(torch::logit(
          parameters.unit_from_physical(context.start->to(torch::kFloat64)), start_edge));
    mean_ = torch::zeros_like(logits_);
    square_ = torch::zeros_like(logits_);
  }

  std::int64_t size() const { return logits_.size(0); }
  torch::Tensor physical() const { return parameters_.physical_from_logit(logits_); }

  // Scores and their gradients by the logits, over all ranks.
  torch::Tensor scores_and_gradient(const EventScore& score, std::uint32_t step,
                                    const SolveContext& context, torch::Tensor& gradient) const {
    torch::AutoGradMode with_gradients(true);
    const torch::Tensor leaf = logits_.detach().requires_grad_();
    const torch::Tensor found = score(parameters_.physical_from_logit(leaf), step);
    if (!found.requires_grad())
      throw core::ConfigError(
          "solve.method",
          "direct needs a gradient, and the score of this pipeline has none (a stage breaks the "
          "graph). Take moments, evolution, bayesian or policy_gradient.");
    gradient = torch::autograd::grad({found.sum()}, {leaf}, {}, {}, false, true)[0];
    if (!gradient.defined())
      throw core::ConfigError(
          "solve.method",
          "direct needs a gradient, and none reaches the parameters (a stage breaks the graph). "
          "Take moments, evolution, bayesian or policy_gradient.");
    const torch::Tensor all =
        mean_over_ranks(torch::cat({found.detach(), gradient.flatten()}), context);
    gradient = all.narrow(0, size(), gradient.numel()).view_as(gradient);
    return all.narrow(0, 0, size());
  }

  void move(const torch::Tensor& gradient, double rate) {
    // a point without a finite score stays where it is and is left behind
    const torch::Tensor slope = torch::nan_to_num(gradient, 0, 0, 0);
    ++steps_;
    mean_ = beta1 * mean_ + (1 - beta1) * slope;
    square_ = beta2 * square_ + (1 - beta2) * slope.square();
    const torch::Tensor unbiased = mean_ / (1 - std::pow(beta1, steps_));
    const torch::Tensor scale = (square_ / (1 - std::pow(beta2, steps_))).sqrt() + epsilon;
    logits_ = (logits_ - rate * unbiased / scale).clamp(-largest_logit, largest_logit);
  }

  // The starts with the lowest scores go on.
  void keep(std::int64_t count, const torch::Tensor& scores) {
    const torch::Tensor order = torch::nan_to_num(scores, 1e300, 1e300)
                                    .argsort(/*dim=*/int64_t{0}, /*descending=*/false)
                                    .narrow(0, 0, count);
    logits_ = logits_.index_select(0, order);
    mean_ = mean_.index_select(0, order);
    square_ = square_.index_select(0, order);
  }

 private:
  const env::ParameterSet& parameters_;
  torch::Tensor logits_, mean_, square_;
  int steps_ = 0;
};

// Whether any rank is out of time or interrupted.
bool must_stop(const SolveContext& context, double elapsed_s) {
  double stop[1] = {
      elapsed_s > context.time_limit_s || (context.interrupted && context.interrupted()) ? 1.0
                                                                                         : 0.0};
  if (context.add_up) context.add_up(stop);
  return stop[0] > 0;
}

// The best of the points at the end, by one draw for all.
void choose(const EventScore& score, const Walkers& walkers, const SolveContext& context,
            Solution& solution) {
  const torch::Tensor physical = walkers.physical();
  const torch::Tensor scores = mean_over_ranks(score.infer(physical), context);
  const auto best = scores.argmin().item<std::int64_t>();
  solution.evaluations += walkers.size();
  solution.score = scores[best].item<double>();
  solution.values = numbers_of(physical[best]);
  if (!std::isfinite(solution.score))
    throw core::Error(
        "the descent ended where the pipeline gives no finite events. Narrow the parameters' "
        "ranges, lower the learning rate or begin with another seed.");
}

}  // namespace

void Direct::Config::fields(core::FieldList& list) {
  list.add("starts", starts, "starting points that walk side by side",
           core::Range::between(1, 1e5));
  list.add("steps", steps, "of Adam", core::Range::between(1, 1e7));
  list.add("learning_rate", learning_rate, "first step size of Adam, falls along a cosine [logit]",
           core::Range::positive());
}

Direct::Direct(const Config& config, env::EventDistance::Config distance)
    : config_(config), distance_(std::move(distance)) {}

Solution Direct::solve(const env::Environment& environment, const SolveContext& context) const {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  const EventScore score(environment, distance_, context.seed);
  Walkers walkers(environment.parameters, config_, context);
  Solution solution;
  solution.starts = config_.starts;
  solution.errors_from = "none: a descent knows no errors";
  const std::int64_t quarter = std::max<std::int64_t>(1, config_.steps / 4);
  torch::Tensor recent;  // sum of the scores since the last choice: one draw's would fluctuate
  for (std::int64_t step = 0; step < config_.steps && solution.converged; ++step) {
    torch::Tensor gradient;
    const torch::Tensor scores =
        walkers.scores_and_gradient(score, static_cast<std::uint32_t>(step + 1), context, gradient);
    solution.evaluations += walkers.size();
    recent = recent.defined() ? recent + scores : scores;
    if (context.observe && step % std::max<std::int64_t>(1, config_.steps / visits) == 0) {
      const auto best = torch::nan_to_num(scores, 1e300, 1e300).argmin().item<std::int64_t>();
      context.observe({elapsed(), solution.evaluations, numbers_of(walkers.physical()[best]),
                       scores[best].item<double>()});
    }
    const double progress = static_cast<double>(step) / static_cast<double>(config_.steps);
    walkers.move(gradient,
                 config_.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * progress)));
    if ((step + 1) % quarter == 0 && walkers.size() > 1) {
      walkers.keep((walkers.size() + 1) / 2, recent);
      recent = torch::Tensor();
    }
    solution.converged = !must_stop(context, elapsed());
  }
  choose(score, walkers, context, solution);
  solution.time_s = elapsed();
  if (context.observe)
    context.observe({solution.time_s, solution.evaluations, solution.values, solution.score});
  return solution;
}

}  // namespace sagips::optim
