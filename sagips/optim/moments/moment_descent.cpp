#include "sagips/optim/moments/moment_descent.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"

namespace sagips::optim {

namespace {

constexpr double level_factor = 4;
constexpr int steps_of_level = 3;
constexpr int steps_at_end = 60;
constexpr double level_gain = 0.5, last_gain = 0.01;  // of Q, that a step must reach to go on
constexpr double first_damping = 1e-2, level_damping = 1e-3, damping_success = 1.0 / 20,
                 damping_failure = 8, largest_damping = 1e8;

}  // namespace

double sum_of_squares(const torch::Tensor& numbers) {
  const double found = numbers.square().sum().item<double>();
  return std::isfinite(found) ? found : std::numeric_limits<double>::infinity();
}

bool MomentDescent::from(torch::Tensor start) {
  theta_ = std::move(start);
  const double all = model_.data_events();
  double count = std::min(static_cast<double>(config_.first_level), all);
  damping_ = first_damping;
  while (true) {
    if (!level(count)) return false;
    if (count >= all) return true;
    count = std::min(count * level_factor, all);
    damping_ = level_damping;
  }
}

bool MomentDescent::polish(torch::Tensor start) {
  theta_ = std::move(start);
  damping_ = level_damping;
  return level(model_.data_events());
}

// All ranks stop together.
bool MomentDescent::out_of_time() const {
  double stop = context_.interrupted && context_.interrupted() ? 1 : 0;
  if (context_.add_up) context_.add_up({&stop, 1});
  return stop > 0;
}

double MomentDescent::prior(const torch::Tensor& theta) const {
  return has_prior_ ? 0.5 * theta.square().dot(pull()).item<double>() : 0;
}

// How strongly the prior pulls to the middle; a circle has none.
torch::Tensor MomentDescent::pull() const {
  return torch::full_like(theta_, 1 / (config_.prior_width * config_.prior_width))
      .masked_fill(model_.parameters().periodic(), 0);
}

// A periodic parameter moves along its circle, as far as a logit does in the middle of a range.
torch::Tensor MomentDescent::moved(const torch::Tensor& move) const {
  const torch::Tensor turned = torch::sigmoid(theta_) + move / 4;
  return torch::where(model_.parameters().periodic(), torch::logit(turned - turned.floor()),
                      theta_ + move)
      .clamp(-largest_logit, largest_logit);
}

double MomentDescent::score(const torch::Tensor& theta, torch::Tensor& residuals) const {
  // what the next step begins with, if this point is taken
  model_.expect_descent_jacobian(torch::sigmoid(theta), events_);
  residuals = model_.residuals(torch::sigmoid(theta).unsqueeze(0), events_)[0];
  return 0.5 * share_ * sum_of_squares(residuals) + prior(theta);
}

bool MomentDescent::level(double count) {
  try {
    return steps_of(count);
  } catch (const OutOfTime&) {
    return false;
  }
}

bool MomentDescent::steps_of(double count) {
  share_ = count / model_.data_events();
  has_prior_ = count < model_.data_events();
  events_ = config_.events_for(count);
  torch::Tensor residuals;
  double best = score(theta_, residuals);
  if (!std::isfinite(best))
    throw core::StateError(
        "the pipeline gives no finite features at the starting point (no event, or NaN). "
        "Guard its formulas or narrow the parameters' ranges.");
  const int most = has_prior_ ? steps_of_level : steps_at_end;
  for (int step = 0; step < most; ++step) {
    const double gain = improve(best, residuals);
    best -= gain;
    chi2_ = sum_of_squares(residuals);
    visit();
    if (context_.progress && context_.observe) context_.progress->score = chi2_;
    if (out_of_time()) return false;
    if (gain < (has_prior_ ? level_gain : last_gain)) break;
  }
  return true;
}

// One accepted Levenberg-Marquardt step; returns what it gained, 0 when none was.
double MomentDescent::improve(double best, torch::Tensor& residuals) {
  const torch::Tensor unit = torch::sigmoid(theta_);
  const torch::Tensor scale =
      torch::where(model_.parameters().periodic(), torch::full_like(unit, 0.25), unit * (1 - unit));
  const torch::Tensor jacobian = model_.descent_jacobian(unit, events_) * scale;
  torch::Tensor gradient = torch::matmul(jacobian.t(), residuals) * share_;
  torch::Tensor hessian = torch::matmul(jacobian.t(), jacobian) * share_;
  if (has_prior_) {
    gradient = gradient + theta_ * pull();
    hessian = hessian + torch::diag(pull());
  }
  const torch::Tensor diagonal = hessian.diagonal().clamp_min(1e-12);
  while (damping_ < largest_damping) {
    const torch::Tensor matrix = hessian + torch::diag(diagonal * damping_);
    const torch::Tensor move = -torch::linalg_solve(matrix, gradient);
    const double longest = move.abs().max().item<double>();
    if (!std::isfinite(longest)) return 0;
    const torch::Tensor tried = moved(move.clamp(-longest_step, longest_step));
    torch::Tensor there;
    const double found = score(tried, there);
    if (found < best) {
      theta_ = tried;
      residuals = there;
      damping_ *= damping_success;
      return best - found;
    }
    damping_ *= damping_failure;
    if (longest < 1e-9) return 0;
  }
  return 0;
}

void MomentDescent::visit() const {
  if (!context_.observe) return;
  Visit visit;
  visit.time_s = std::chrono::duration<double>(Clock::now() - began_).count();
  visit.evaluations = model_.evaluations();
  visit.values = numbers_of(model_.parameters().physical_from_logit(theta_));
  visit.score = chi2_;
  context_.observe(visit);
}

}  // namespace sagips::optim
