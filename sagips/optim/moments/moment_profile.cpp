#include "sagips/optim/moments/moment_profile.hpp"

#include <cmath>
#include <limits>

#include "sagips/optim/moments/moment_descent.hpp"

namespace sagips::optim {

namespace {

constexpr int most_steps = 10;      // of the other parameters
constexpr double longest_step = 3;  // of their errors: a longer one may lead into another minimum
constexpr double worth_a_step = 0.02;    // of chi2
constexpr std::int64_t simulations = 4;  // whose mean moves

// A basis of the directions in which the parameters move the residuals at a minimum: others hold no
// information there, but fluctuations would enter chi2 through them. shape: [residuals, fixed
// directions]
torch::Tensor tangent_of(const MomentSlopes& slopes) {
  const auto [values, vectors] = torch::linalg_eigh(slopes.information);
  const torch::Tensor fixed = (values > 1).nonzero().flatten();
  const torch::Tensor along = slopes.jacobian.matmul(vectors.index_select(1, fixed));
  return std::get<0>(torch::linalg_qr(along));
}

class MomentProfile {
 public:
  MomentProfile(const MomentModel& model, const MomentMinimum& minimum)
      : model_(model),
        minimum_(minimum),
        ends_(model.parameters()),
        errors_(minimum.covariance.diagonal().clamp_min(0).sqrt()),
        tangent_(tangent_of(minimum.slopes)),
        simulated_(simulated(minimum.unit.unsqueeze(0))[0]),
        here_(minimum.residuals.matmul(tangent_)),
        least_(sum_of_squares(here_)) {}

  const torch::Tensor& errors() const { return errors_; }

  std::vector<bool> parabolic() const {
    return like_parabolas(minimum_.unit, minimum_.covariance, ends_,
                          [&](const torch::Tensor& points) {
                            const torch::Tensor residuals = residuals_at(points);
                            torch::Tensor grown = torch::empty({points.size(0)}, torch::kFloat64);
                            for (std::int64_t i = 0; i < points.size(0); ++i)
                              grown[i] = like_a_likelihood(points[i], residuals[i]) - least_;
                            return grown;
                          });
  }

  double growth(std::int64_t parameter, double value) const {
    torch::Tensor point = in_valley(minimum_.unit, minimum_.covariance, parameter, value, ends_);
    torch::Tensor residuals = residuals_at(point.unsqueeze(0))[0],
                  jacobian = minimum_.slopes.jacobian;
    double chi2 = sum_of_squares(residuals);
    torch::Tensor others = torch::arange(point.size(0));
    others = others.index({others != parameter});
    for (int i = 0; i < most_steps && others.numel() > 0; ++i) {
      if (i > 0) jacobian = model_.jacobian(point, minimum_.slopes.steps, minimum_.events);
      const torch::Tensor slopes = tangent_.t().matmul(jacobian);
      torch::Tensor step = step_in_ranges(slopes.t().matmul(slopes), slopes.t().matmul(residuals),
                                          point, others, ends_);
      step = step / (step.abs() / errors_.clamp_min(1e-300)).max().div(longest_step).clamp_min(1);
      double gain = 0;
      for (int halving = 0; halving < 3 && !(gain > 0); ++halving, step = step / 4) {
        const torch::Tensor tried = point + step, there = residuals_at(tried.unsqueeze(0))[0];
        gain = chi2 - sum_of_squares(there);
        if (gain > 0) {
          point = tried;
          residuals = there;
          chi2 -= gain;
        }
      }
      if (gain < worth_a_step && i > 0) break;
    }
    chi2 = like_a_likelihood(point, residuals);
    return std::isfinite(chi2) ? chi2 - least_ : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  // Residuals are measured by their covariance at the minimum, but data fluctuate as they do at the
  // point that is judged. Where means of features are the parameters of an exponential family, -2 ln L
  // grows by 2 * integral over t in 0 .. 1 of t d' C(t)^-1 d along a difference d. A covariance C that
  // changes linearly, by s along one of its directions, makes 2 (s - ln(1 + s)) / s^2 of that
  // direction's square: for counts, the Poisson likelihood.
  // source: Baker and Cousins, Nucl. Instr. Meth. 221 (1984) 437, for counts
  double like_a_likelihood(const torch::Tensor& point, const torch::Tensor& residuals) const {
    constexpr double almost_none = -0.999, small = 1e-3;
    if (!covariance_.defined())
      covariance_ = model_.covariance_along(tangent_, minimum_.unit, minimum_.events);
    const torch::Tensor change =
        model_.covariance_along(tangent_, point, minimum_.events) - covariance_;
    if (!torch::isfinite(change).all().item<bool>())
      return std::numeric_limits<double>::quiet_NaN();
    const auto [values, vectors] = torch::linalg_eigh(change);
    const torch::Tensor s = values.clamp_min(almost_none);
    const torch::Tensor factors =
        torch::where(s.abs() < small, 1 - s * 2 / 3, 2 * (s - torch::log1p(s)) / s.square());
    return residuals.matmul(vectors).square().dot(factors).item<double>();
  }

  // shape: [points, free] -> [points, fixed directions]
  torch::Tensor simulated(const torch::Tensor& points) const {
    torch::Tensor sum;
    for (std::int64_t i = 1; i < simulations; ++i)
      model_.expect_residuals(points, minimum_.events, i);
    for (std::int64_t i = 0; i < simulations; ++i) {
      const torch::Tensor found = model_.residuals(points, minimum_.events, i).matmul(tangent_);
      sum = i == 0 ? found : sum + found;
    }
    return sum / static_cast<double>(simulations);
  }

  // The mean of all simulations, moved as some of them move.
  torch::Tensor residuals_at(const torch::Tensor& points) const {
    return simulated(points) - simulated_ + here_;
  }

  const MomentModel& model_;
  const MomentMinimum& minimum_;
  RangeEnds ends_;
  torch::Tensor errors_, tangent_, simulated_, here_;
  mutable torch::Tensor covariance_;  ///< at the minimum; none before it is asked for
  double least_;
};

}  // namespace

void take_profile(Estimate& estimate, const MomentModel& model, const MomentMinimum& minimum) {
  const MomentProfile profile(model, minimum);
  add_profile(
      estimate, model.parameters(), minimum.unit, profile.errors(), profile.parabolic(),
      [&](std::int64_t parameter, double value) { return profile.growth(parameter, value); });
}

}  // namespace sagips::optim
