#include "sagips/optim/likelihood/maximum_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlopt.hpp>
#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"
#include "sagips/core/text.hpp"

namespace sagips::optim {

void FitConfig::fields(core::FieldList& list) {
  list.choice("reference", reference,
              {{"exact", ReferenceUse::exact}, {"ignore", ReferenceUse::ignore}},
              "take the data's reference numbers (norms) as exactly known, or fit events alone");
  list.add("starts", starts, "starting points at most", core::Range::between(1, 1e6));
  list.add("evaluations", evaluations, "evaluations of -ln L a level at most",
           core::Range::between(10, 1e9));
  list.add("edm", edm, "estimated distance to the minimum that counts as converged [-ln L]",
           core::Range::positive());
}

namespace {

constexpr double prior_width = 1.5;  // of the logit, while not all data count
constexpr double first_level = 100;  // events that the data count as
constexpr double level_growth = 4;
constexpr double largest_logit = 12;  // beyond it a parameter sits at an end of its range
constexpr int newton_steps = 100;     // a flat valley of few events takes some 50

torch::Tensor tensor_of(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

void copy_out(const torch::Tensor& from, double* to) {
  const torch::Tensor dense = from.contiguous();
  std::copy_n(dense.data_ptr<double>(), dense.numel(), to);
}

// One level of the tempering as NLopt sees it.
class Level {
 public:
  Level(const Likelihood& likelihood, double effective_events, std::int64_t& evaluations)
      : likelihood_(likelihood),
        scale_(effective_events / likelihood.events()),
        has_prior_(effective_events < likelihood.events()),
        evaluations_(evaluations) {}

  void minimise(std::vector<double>& theta, std::int64_t most_evaluations) {
    nlopt::opt method(nlopt::LD_SLSQP, static_cast<unsigned>(theta.size()));
    method.set_min_objective(objective, this);
    method.set_lower_bounds(-largest_logit);
    method.set_upper_bounds(largest_logit);
    if (likelihood_.constraints() > 0)
      method.add_equality_mconstraint(
          constraints, this,
          std::vector<double>(static_cast<std::size_t>(likelihood_.constraints()), 1e-9));
    method.set_ftol_abs(has_prior_ ? 1e-2 : 1e-4);
    method.set_maxeval(static_cast<int>(most_evaluations));
    double value = 0;
    try {
      method.optimize(theta, value);
    } catch (const std::exception&) {
      // SLSQP ends a level at the rounding limit by an exception; whether the point is good is
      // judged at the end.
    }
  }

 private:
  const Likelihood::Point& at(const std::vector<double>& theta) {
    if (theta != last_theta_) {
      const torch::Tensor unit = torch::sigmoid(tensor_of(theta)), slope = unit * (1 - unit);
      last_point_ = likelihood_.at(unit);
      last_point_.gradient = last_point_.gradient * slope;
      last_point_.jacobian = last_point_.jacobian * slope;
      last_theta_ = theta;
      ++evaluations_;
    }
    return last_point_;
  }

  static double objective(const std::vector<double>& theta, std::vector<double>& gradient,
                          void* self) {
    Level& level = *static_cast<Level*>(self);
    const Likelihood::Point& point = level.at(theta);
    double value = point.value * level.scale_;
    if (!gradient.empty()) copy_out(point.gradient * level.scale_, gradient.data());
    if (level.has_prior_) {
      for (std::size_t i = 0; i < theta.size(); ++i) {
        value += 0.5 * theta[i] * theta[i] / (prior_width * prior_width);
        if (!gradient.empty()) gradient[i] += theta[i] / (prior_width * prior_width);
      }
    }
    return value;
  }

  static void constraints(unsigned, double* result, unsigned dimensions, const double* theta,
                          double* gradient, void* self) {
    Level& level = *static_cast<Level*>(self);
    const Likelihood::Point& point = level.at(std::vector<double>(theta, theta + dimensions));
    copy_out(point.constraints, result);
    if (gradient) copy_out(point.jacobian, gradient);
  }

  const Likelihood& likelihood_;
  double scale_;
  bool has_prior_;
  std::int64_t& evaluations_;
  std::vector<double> last_theta_;
  Likelihood::Point last_point_;
};

struct Minimum {
  torch::Tensor unit;
  torch::Tensor beyond;  ///< of the parabola, which knows no ends
  Uncertainty uncertainty;
  double value = 0, edm = 0;
};

/// What a Newton step needs of a point in the box of all ranges.
struct NewtonPoint {
  Likelihood::Point point;
  torch::Tensor multipliers;  ///< of the constraints: J' lambda = -g where no end is near
  torch::Tensor slope;        ///< of the Lagrangian
  torch::Tensor hessian;

  NewtonPoint(const Likelihood& likelihood, const torch::Tensor& unit, const torch::Tensor& movable,
              const RangeEnds& ends)
      : point(likelihood.at(unit)), slope(point.gradient) {
    if (likelihood.constraints() > 0) {
      const torch::Tensor inside =
          ((unit > ends.low).logical_and(unit < ends.high)).to(torch::kFloat64) *
          torch::zeros_like(unit).index_fill_(0, movable, 1);
      multipliers =
          -torch::linalg_pinv((point.jacobian * inside).t()).matmul(point.gradient * inside);
      slope = slope + point.jacobian.t().matmul(multipliers);
    }
    hessian = likelihood.hessian(unit, multipliers);
  }
};

/// A step to the minimum of the parabola that meets the constraints, within the box.
struct NewtonStep {
  torch::Tensor move;     ///< [free]
  torch::Tensor movable;  ///< numbers of the coordinates that no end holds
  double distance = 0;    ///< to the minimum, of -ln L
  double least_curvature = 0;
};

// A coordinate that would leave its range is held at the end, the others step again.
NewtonStep step_at(const NewtonPoint& at, const torch::Tensor& unit, const torch::Tensor& movable,
                   const RangeEnds& ends) {
  constexpr double range_curvature = 1;  // of an error of one range
  NewtonStep step{torch::zeros_like(unit), held_by_no_end(unit, at.slope, movable, ends)};
  while (step.movable.numel() > 0) {
    const torch::Tensor held = step.move.index_fill(0, step.movable, 0);
    const torch::Tensor jacobian = at.point.jacobian.index_select(1, step.movable);
    const torch::Tensor hessian =
        at.hessian.index_select(0, step.movable).index_select(1, step.movable);
    const torch::Tensor pull = (at.slope + at.hessian.matmul(held)).index_select(0, step.movable);
    const torch::Tensor onto = jacobian.size(0) > 0 && jacobian.size(1) > 0
                                   ? -torch::linalg_pinv(jacobian).matmul(
                                         at.point.constraints + at.point.jacobian.matmul(held))
                                   : torch::zeros_like(pull);
    const torch::Tensor basis = unconstrained_directions(jacobian);
    const auto [values, vectors] = torch::linalg_eigh(basis.t().matmul(hessian).matmul(basis));
    const torch::Tensor directions = basis.matmul(vectors);
    const torch::Tensor curvature = values.abs().clamp_min(range_curvature);
    step.distance = 0.5 * (directions.t().matmul(pull).square() / curvature).sum().item<double>();
    step.least_curvature = values.numel() > 0 ? values.min().item<double>() : 0;
    step.move = held.index_copy(
        0, step.movable,
        onto - directions.matmul(directions.t().matmul(pull + hessian.matmul(onto)) / curvature));
    const torch::Tensor there = unit + step.move;
    const torch::Tensor outside =
        torch::maximum(ends.low - there, there - ends.high).index_select(0, step.movable);
    if (outside.numel() == 0 || !(outside.max().item<double>() > 1e-12)) return step;
    const torch::Tensor worst = step.movable[outside.argmax()];
    step.move.index_copy_(0, worst.unsqueeze(0),
                          (ends.inside(there) - unit).index_select(0, worst.unsqueeze(0)));
    step.movable = step.movable.index({step.movable != worst});
  }
  step.distance = step.least_curvature = 0;
  return step;
}

// What is left uncertain there. At an end the parabola may be flat or bent downwards while the slope
// holds the parameter: its curvature counts as at least a hundredth of the squared slope, which puts
// the limit where the slope alone would.
Minimum minimum_at(const NewtonPoint& at, const NewtonStep& step, const torch::Tensor& unit) {
  torch::Tensor held = torch::ones_like(unit);
  held.index_fill_(0, step.movable, 0);
  const torch::Tensor least = at.slope.square() * 0.01;
  const torch::Tensor information =
      at.hessian + torch::diag((least - at.hessian.diagonal()).clamp_min(0) * held);
  Minimum found{unit, unit, uncertainty_of(information, at.point.jacobian), at.point.value,
                step.distance};
  found.beyond = unit - found.uncertainty.covariance.matmul(at.slope);
  return found;
}

// Newton steps of some coordinates on the Lagrangian within the ranges. Nothing when they do not settle
// in a minimum.
std::optional<Minimum> polish(const Likelihood& likelihood, torch::Tensor unit,
                              const torch::Tensor& movable, const RangeEnds& ends, double edm,
                              std::int64_t& evaluations) {
  constexpr double longest_move = 0.2;  // of the range
  constexpr double satisfied = 1e-9;    // violation of a constraint
  constexpr double saddle = -1;         // curvature
  unit = ends.inside(unit);
  for (int number = 0; number < newton_steps; ++number) {
    const NewtonPoint at(likelihood, unit, movable, ends);
    ++evaluations;
    const NewtonStep step = step_at(at, unit, movable, ends);
    const double violation =
        likelihood.constraints() > 0 ? at.point.constraints.abs().max().item<double>() : 0.0;
    const double longest = step.move.abs().max().item<double>();
    if (!std::isfinite(step.distance + violation + longest)) return std::nullopt;
    const torch::Tensor held = step.move.index_fill(0, step.movable, 0);
    if (step.distance < edm && violation < satisfied &&
        held.abs().max().item<double>() < satisfied) {
      if (step.least_curvature < saddle) return std::nullopt;
      return minimum_at(at, step, unit);
    }
    unit = ends.inside(unit + step.move * std::min(1.0, longest_move / std::max(1e-300, longest)));
  }
  return std::nullopt;
}

// How far -2 times the Lagrangian has grown; its constraints hold to first order in a valley.
torch::Tensor lagrangian_growth(const Likelihood& likelihood, const Minimum& minimum,
                                const torch::Tensor& multipliers, const torch::Tensor& points) {
  std::vector<double> growth;
  for (std::int64_t i = 0; i < points.size(0); ++i) {
    const Likelihood::Point there = likelihood.at(points[i]);
    growth.push_back(2 * (there.value - minimum.value));
    if (likelihood.constraints() > 0)
      growth.back() += 2 * multipliers.dot(there.constraints).item<double>();
  }
  return tensor_of(growth);
}

// How far -2 ln L has grown; the other parameters start from the valley, beside `near`, which is
// moved there.
double profile_growth(const Likelihood& likelihood, const Minimum& minimum, std::int64_t parameter,
                      double value, const std::vector<std::int64_t>& vague, torch::Tensor& near,
                      const RangeEnds& ends, std::int64_t& evaluations) {
  constexpr int points = 16;     // over the range of a vague parameter
  constexpr double edm = 0.005;  // a hundredth of what an interval's end is looked for
  torch::Tensor unit = in_valley(near, minimum.uncertainty.covariance, parameter, value, ends);
  double least = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t other : vague)
    for (int i = 0; i < points && other != parameter; ++i) {
      torch::Tensor tried = unit.clone();
      tried[other] = (i + 0.5) / points;
      const double there = likelihood.at(tried).value;
      ++evaluations;
      if (there >= least) continue;
      least = there;
      unit = tried;
    }
  torch::Tensor others = torch::arange(unit.size(0));
  others = others.index({others != parameter});
  const auto found = polish(likelihood, unit, others, ends, edm, evaluations);
  if (found) near = found->unit;
  return 2 * ((found ? found->value : least) - minimum.value);
}

std::vector<double> starting_point(std::size_t dimensions, std::int64_t start, std::uint64_t seed) {
  std::vector<double> theta(dimensions, 0.0);  // the first start is the middle of every range
  if (start == 0) return theta;
  core::RandomStream(seed, "fit starts")
      .uniform(static_cast<std::uint32_t>(start), 0, std::span<double>(theta));
  for (double& value : theta) value = std::log(value / (1 - value));
  return theta;
}

FitResult fit_within(const env::Environment& environment, const FitConfig& config,
                     std::uint64_t seed, bool intervals) {
  const Likelihood likelihood(environment, config.reference);
  const env::ParameterSet& parameters = environment.parameters;
  if (likelihood.constraints() > parameters.free_size())
    throw core::ConfigError(
        "data.reference", core::text(likelihood.constraints(), " exactly known numbers constrain ",
                                     parameters.free_size(),
                                     " free parameters (no choice of them meets all). Free more, "
                                     "or set fit.reference=ignore."));
  const RangeEnds ends(parameters);
  FitResult result;
  result.events = likelihood.events();
  std::optional<Minimum> minimum;
  while (!minimum && result.starts < config.starts) {
    std::vector<double> theta =
        starting_point(static_cast<std::size_t>(parameters.free_size()), result.starts++, seed);
    for (double count = std::min(first_level, likelihood.events());;
         count = std::min(count * level_growth, likelihood.events())) {
      Level(likelihood, count, result.evaluations).minimise(theta, config.evaluations);
      if (count >= likelihood.events()) break;
    }
    minimum = polish(likelihood, torch::sigmoid(tensor_of(theta)),
                     torch::arange(parameters.free_size()), ends, config.edm, result.evaluations);
  }
  if (!minimum)
    throw core::Error(core::text(
        "the fit found no minimum from ", config.starts,
        " starting points (-ln L may not be smooth there). Raise fit.starts, fix a parameter or "
        "narrow the ranges."));
  result.negative_log_likelihood = minimum->value;
  result.edm = minimum->edm;
  const torch::Tensor& covariance = minimum->uncertainty.covariance;
  Uncertainty stated = minimum->uncertainty;
  if (likelihood.is_weighted())
    stated.covariance =
        covariance.matmul(likelihood.score_covariance(minimum->unit)).matmul(covariance);
  static_cast<Estimate&>(result) = estimate_at(parameters, minimum->unit, minimum->beyond, stated);
  if (!intervals) return result;
  const NewtonPoint at(likelihood, minimum->unit, torch::arange(parameters.free_size()), ends);
  torch::Tensor near = minimum->unit;
  std::int64_t latest = -1;
  add_profile(
      result, parameters, minimum->unit, covariance.diagonal().clamp_min(0).sqrt(),
      like_parabolas(minimum->unit, covariance, ends,
                     [&](const torch::Tensor& points) {
                       return lagrangian_growth(likelihood, *minimum, at.multipliers, points);
                     }),
      [&](std::int64_t parameter, double value, const std::vector<std::int64_t>& vague) {
        const double here = minimum->unit[parameter].item<double>();
        const bool other_side = (value - here) * (near[parameter].item<double>() - here) < 0;
        if (parameter != latest || other_side) near = minimum->unit;
        latest = parameter;
        return profile_growth(likelihood, *minimum, parameter, value, vague, near, ends,
                              result.evaluations);
      });
  return result;
}

}  // namespace

FitResult fit_maximum_likelihood(const env::Environment& environment, const FitConfig& config,
                                 std::uint64_t seed, bool intervals) {
  constexpr int most_rounds = 4;
  FitResult found = fit_within(environment, config, seed, intervals);
  env::Environment nearer = environment;
  for (int round = 0; round < most_rounds; ++round) {
    const auto ranges = better_ranges(environment.parameters, nearer.parameters, found);
    if (!ranges) break;
    nearer.parameters = *ranges;
    FitResult next = fit_within(nearer, config, seed, intervals);
    next.evaluations += found.evaluations;
    next.starts += found.starts;
    found = std::move(next);
  }
  warn_of_wide_ranges(found, nearer.parameters);
  return found;
}

std::vector<double> cramer_rao_errors(const env::Environment& environment, ReferenceUse reference,
                                      const torch::Tensor& truth, double events) {
  const Likelihood likelihood = Likelihood::expected(environment, reference, truth, events);
  const env::ParameterSet& parameters = environment.parameters;
  const torch::Tensor unit = parameters.unit_from_physical(truth);
  return estimate_at(parameters, unit, unit,
                     uncertainty_of(likelihood.hessian(unit, {}), likelihood.at(unit).jacobian))
      .errors;
}

}  // namespace sagips::optim
