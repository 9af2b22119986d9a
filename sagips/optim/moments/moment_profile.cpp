#include "sagips/optim/moments/moment_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sagips/optim/moments/moment_descent.hpp"

namespace sagips::optim {

namespace {

constexpr int most_steps = 10;      // of the other parameters
constexpr double longest_step = 3;  // of their errors: a longer one may lead into another minimum
constexpr double worth_a_step = 0.02;          // of chi2
constexpr std::int64_t moved_simulations = 4;  // whose mean moves

constexpr std::int64_t range_points = 16;   // over the range of a vague parameter
constexpr double longest_of_vague = 0.125;  // step, of that range

// Directions in which the parameters move the residuals. shape: [residuals, fixed directions]
torch::Tensor moved_by(const torch::Tensor& jacobian, const torch::Tensor& information) {
  const auto [values, vectors] = torch::linalg_eigh(information);
  const torch::Tensor fixed = (values > 1).nonzero().flatten();
  return jacobian.matmul(vectors.index_select(1, fixed));
}

// Orthonormal, without what is nearly in the others. shape: [residuals, directions]
torch::Tensor basis_of(const torch::Tensor& directions) {
  constexpr double independent = 0.1;
  const auto [u, s, vh] =
      torch::linalg_svd(directions / directions.norm(2, 0).clamp_min(1e-300), false);
  return u.index_select(1, (s > independent).nonzero().flatten());
}

class MomentProfile {
 public:
  MomentProfile(const MomentModel& model, const MomentMinimum& minimum,
                std::vector<std::int64_t> vague)
      : model_(model),
        minimum_(minimum),
        vague_(std::move(vague)),
        ends_(model.parameters()),
        errors_(minimum.covariance.diagonal().clamp_min(0).sqrt()),
        longest_(errors_ * longest_step),
        tangent_(tangent()),
        simulated_(simulated(minimum.unit.unsqueeze(0))[0]),
        here_(minimum.residuals.matmul(tangent_)),
        least_(sum_of_squares(here_)) {
    for (const std::int64_t one : vague_) longest_[one] = longest_of_vague;
    longest_.clamp_min_(1e-300);
  }

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
    torch::Tensor point, residuals, jacobian = minimum_.slopes.jacobian;
    double chi2 = std::numeric_limits<double>::infinity();
    const auto take_least = [&](const torch::Tensor& points) {
      const torch::Tensor found = residuals_at(points);
      for (std::int64_t i = 0; i < points.size(0); ++i)
        if (const double there = sum_of_squares(found[i]); !point.defined() || there < chi2) {
          chi2 = there;
          point = points[i];
          residuals = found[i];
        }
    };
    torch::Tensor alone = minimum_.unit.clone();
    alone[parameter] = value;  // a valley that bends may lead nowhere
    take_least(torch::stack(
        {in_valley(minimum_.unit, minimum_.covariance, parameter, value, ends_), alone}));
    for (const std::int64_t other : vague_)
      if (other != parameter) take_least(over_range_of(other, point));
    torch::Tensor others = torch::arange(point.size(0));
    others = others.index({others != parameter});
    for (int i = 0; i < most_steps && others.numel() > 0; ++i) {
      if (i > 0 || !vague_.empty())
        jacobian = model_.jacobian(point, minimum_.slopes.steps, minimum_.events);
      const torch::Tensor slopes = tangent_.t().matmul(jacobian);
      torch::Tensor step = step_in_ranges(slopes.t().matmul(slopes), slopes.t().matmul(residuals),
                                          point, others, ends_);
      step = step / (step.abs() / longest_).max().clamp_min(1);
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
  // Others than those in which the parameters move the residuals hold no information, but fluctuations would
  // enter chi2 through them. Where a parameter is vague, others may move them elsewhere in its range.
  torch::Tensor tangent() const {
    std::vector<torch::Tensor> all{moved_by(minimum_.slopes.jacobian, minimum_.slopes.information)};
    for (const std::int64_t one : vague_)
      for (const torch::Tensor& point : over_range_of(one, minimum_.unit).unbind(0)) {
        const torch::Tensor there = model_.jacobian(point, minimum_.slopes.steps, minimum_.events);
        all.push_back(moved_by(there, there.t().matmul(there)));
      }
    return basis_of(torch::cat(all, 1));
  }

  // A point with a vague parameter all over its range. shape: [range_points, free]
  torch::Tensor over_range_of(std::int64_t vague, const torch::Tensor& point) const {
    torch::Tensor all = point.unsqueeze(0).repeat({range_points, 1});
    all.select(1, vague).copy_((torch::arange(range_points, torch::kFloat64) + 0.5) / range_points);
    return all;
  }

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
    for (std::int64_t i = 1; i < moved_simulations; ++i)
      model_.expect_residuals(points, minimum_.events, i);
    for (std::int64_t i = 0; i < moved_simulations; ++i) {
      const torch::Tensor found = model_.residuals(points, minimum_.events, i).matmul(tangent_);
      sum = i == 0 ? found : sum + found;
    }
    return sum / static_cast<double>(moved_simulations);
  }

  // The mean of all simulations, moved as some of them move.
  torch::Tensor residuals_at(const torch::Tensor& points) const {
    return simulated(points) - simulated_ + here_;
  }

  const MomentModel& model_;
  const MomentMinimum& minimum_;
  std::vector<std::int64_t> vague_;  ///< parameters that the data say little of
  RangeEnds ends_;
  torch::Tensor errors_, longest_, tangent_, simulated_, here_;
  mutable torch::Tensor covariance_;  ///< at the minimum; none before it is asked for
  double least_;
};

// Parameters that move hardly anything where another one vanishes.
std::vector<bool> faint(const Estimate& estimate, const MomentModel& model,
                        const MomentMinimum& minimum) {
  constexpr double hardly = 0.5;  // of what they move at the minimum
  const torch::Tensor moved = minimum.slopes.jacobian.norm(2, 0);
  std::vector<bool> found(static_cast<std::size_t>(moved.size(0)), false);
  for (const Vanishing& one : vanishing(estimate, model.parameters())) {
    torch::Tensor point = minimum.unit.clone();
    point[one.parameter] = one.unit;
    const torch::Tensor there =
        model.jacobian(point, minimum.slopes.steps, minimum.events).norm(2, 0);
    for (std::int64_t k = 0; k < moved.size(0); ++k)
      if (k != one.parameter && (there[k] < hardly * moved[k]).item<bool>())
        found[static_cast<std::size_t>(k)] = true;
  }
  return found;
}

}  // namespace

void take_profile(Estimate& estimate, const MomentModel& model, const MomentMinimum& minimum,
                  bool whole_range) {
  std::vector<std::int64_t> searched;
  std::optional<MomentProfile> profile(std::in_place, model, minimum, searched);
  const auto growth = [&](std::int64_t parameter, double value,
                          const std::vector<std::int64_t>& vague) {
    if (vague != searched) profile.emplace(model, minimum, searched = vague);
    return profile->growth(parameter, value);
  };
  add_profile(estimate, model.parameters(), minimum.unit, profile->errors(), profile->parabolic(),
              growth, whole_range ? faint(estimate, model, minimum) : std::vector<bool>{});
}

double growth_half_way(const MomentModel& model, const MomentMinimum& minimum,
                       const torch::Tensor& other) {
  const MomentProfile profile(model, minimum, {});
  const torch::Tensor away = model.parameters().away(other, minimum.unit);
  const torch::Tensor errors = profile.errors(),
                      in_errors = torch::where(errors > 0, away.abs() / errors, errors);
  const auto most = in_errors.argmax().item<std::int64_t>();
  return profile.growth(most, (minimum.unit[most] + away[most] / 2).item<double>());
}

}  // namespace sagips::optim
