#include "sagips/optim/likelihood/maximum_likelihood.hpp"

#include <algorithm>
#include <cmath>
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
constexpr int newton_steps = 30;

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
      last_point_ = likelihood_.at(tensor_of(theta));
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
  torch::Tensor theta, covariance;  // covariance in logit space
  double value = 0, edm = 0;
};

// least-squares multipliers of the constraints: J' lambda = -g
torch::Tensor multipliers_at(const Likelihood::Point& point) {
  if (point.jacobian.size(0) == 0) return {};
  return -torch::linalg_pinv(point.jacobian.t()).matmul(point.gradient);
}

// Directions that the data leave open, in shares of the parameters' ranges. There the curvature
// knows nothing of the logit's own bend, which near a minimum is all that an open direction would
// show.
// shape: [directions, free]
torch::Tensor open_directions(const Likelihood& likelihood, const torch::Tensor& theta) {
  const Likelihood::Point point = likelihood.at(theta);
  const torch::Tensor multipliers = multipliers_at(point);
  const torch::Tensor slope = multipliers.defined()
                                  ? point.gradient + point.jacobian.t().matmul(multipliers)
                                  : point.gradient;
  const torch::Tensor share = torch::sigmoid(theta), width = share * (1 - share);
  const torch::Tensor curvature =
      likelihood.hessian(theta, multipliers) - torch::diag(slope * (1 - share * 2));
  return flat_directions(curvature / (width.unsqueeze(1) * width), point.jacobian / width);
}

// "p_1 - 0.5 p_2": a direction in physical units, its largest part 1.
std::string words_of(const env::ParameterSet& parameters, const torch::Tensor& direction) {
  constexpr double negligible = 0.01;
  std::vector<double> parts;
  double largest = 0;
  for (std::size_t i = 0; i < parameters.free().size(); ++i) {
    const env::Parameter& parameter = parameters.all()[parameters.free()[i]];
    parts.push_back(direction[static_cast<std::int64_t>(i)].item<double>() *
                    (parameter.high - parameter.low));
    if (std::abs(parts.back()) > std::abs(largest)) largest = parts.back();
  }
  std::string words;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double part = parts[i] / largest;
    if (std::abs(part) < negligible) continue;
    if (words.empty())
      words = part < 0 ? "-" : "";
    else
      words += part < 0 ? " - " : " + ";
    if (std::abs(part) < 1 - negligible) words += core::significant(std::abs(part), 2) + " ";
    words += parameters.all()[parameters.free()[i]].name;
  }
  return words;
}

// Empty: the data fix all of them.
std::string describe_open_directions(const Likelihood& likelihood, const torch::Tensor& theta) {
  const torch::Tensor directions = open_directions(likelihood, theta);
  if (directions.size(0) == 0) return {};
  std::vector<std::string> words;
  for (std::int64_t i = 0; i < directions.size(0); ++i)
    words.push_back("(" + words_of(likelihood.parameters(), directions[i]) + ")");
  return core::text(directions.size(0) == 1 ? "a direction is" : "directions are",
                    " not identifiable from these data, moving along ", core::join(words, " or "),
                    " changes no event's probability");
}

// Newton steps on the Lagrangian. Nothing when they do not settle in a minimum.
std::optional<Minimum> polish(const Likelihood& likelihood, torch::Tensor theta, double edm,
                              std::int64_t& evaluations) {
  const std::int64_t k = likelihood.constraints(), n = theta.size(0);
  for (int step = 0; step < newton_steps; ++step) {
    const Likelihood::Point point = likelihood.at(theta);
    ++evaluations;
    const torch::Tensor multipliers = multipliers_at(point);
    const torch::Tensor hessian = likelihood.hessian(theta, multipliers);
    torch::Tensor covariance;
    try {
      covariance = constrained_covariance(hessian, point.jacobian);
    } catch (const core::StateError&) {
      return std::nullopt;
    }
    // [H J'; J 0] [d; lambda] = [-g; -c]
    torch::Tensor matrix = torch::zeros({n + k, n + k}, torch::kFloat64);
    matrix.narrow(0, 0, n).narrow(1, 0, n).copy_(hessian);
    matrix.narrow(0, n, k).narrow(1, 0, n).copy_(point.jacobian);
    matrix.narrow(0, 0, n).narrow(1, n, k).copy_(point.jacobian.t());
    const torch::Tensor move =
        torch::linalg_solve(matrix, -torch::cat({point.gradient, point.constraints}))
            .narrow(0, 0, n);
    const double distance =
        0.5 * point.gradient.dot(covariance.matmul(point.gradient)).item<double>();
    const double violation = k > 0 ? point.constraints.abs().max().item<double>() : 0.0;
    if (distance < edm && violation < 1e-9) {
      if (open_directions(likelihood, theta).size(0) > 0) return std::nullopt;
      return Minimum{theta, covariance, point.value, distance};
    }
    const double longest = move.abs().max().item<double>();
    if (!std::isfinite(longest)) return std::nullopt;
    theta = theta + move * std::min(1.0, 1.0 / longest);
    if (theta.abs().max().item<double>() > largest_logit + 1) return std::nullopt;
  }
  return std::nullopt;
}

std::vector<double> starting_point(std::size_t dimensions, std::int64_t start, std::uint64_t seed) {
  std::vector<double> theta(dimensions, 0.0);  // the first start is the middle of every range
  if (start == 0) return theta;
  core::RandomStream(seed, "fit starts")
      .uniform(static_cast<std::uint32_t>(start), 0, std::span<double>(theta));
  for (double& value : theta) value = std::log(value / (1 - value));
  return theta;
}

}  // namespace

FitResult fit_maximum_likelihood(const env::Environment& environment, const FitConfig& config,
                                 std::uint64_t seed) {
  const Likelihood likelihood(environment, config.reference);
  const env::ParameterSet& parameters = environment.parameters;
  if (likelihood.constraints() > parameters.free_size())
    throw core::ConfigError(
        "data.reference", core::text(likelihood.constraints(), " exactly known numbers constrain ",
                                     parameters.free_size(),
                                     " free parameters (no choice of them meets all). Free more, "
                                     "or set fit.reference=ignore."));
  FitResult result;
  result.events = likelihood.events();
  std::optional<Minimum> minimum;
  torch::Tensor last;
  while (!minimum && result.starts < config.starts) {
    std::vector<double> theta =
        starting_point(static_cast<std::size_t>(parameters.free_size()), result.starts++, seed);
    for (double count = std::min(first_level, likelihood.events());;
         count = std::min(count * level_growth, likelihood.events())) {
      Level(likelihood, count, result.evaluations).minimise(theta, config.evaluations);
      if (count >= likelihood.events()) break;
    }
    last = tensor_of(theta);
    minimum = polish(likelihood, last, config.edm, result.evaluations);
  }
  if (!minimum) {
    const std::string open = describe_open_directions(likelihood, last);
    const std::string why =
        open.empty()
            ? "a parameter may not be identifiable from these data, or lies at an end of its range"
            : open;
    throw core::Error(core::text(
        "the fit found no minimum from ", config.starts, " starting points (", why,
        "). Fix a parameter, add a data set, widen the ranges or give reference numbers."));
  }
  result.negative_log_likelihood = minimum->value;
  result.edm = minimum->edm;
  static_cast<Estimate&>(result) = estimate_at(parameters, minimum->theta, minimum->covariance);
  return result;
}

std::vector<double> cramer_rao_errors(const env::Environment& environment, ReferenceUse reference,
                                      const torch::Tensor& truth, double events) {
  const Likelihood likelihood = Likelihood::expected(environment, reference, truth, events);
  const env::ParameterSet& parameters = environment.parameters;
  const torch::Tensor theta = parameters.logit_from_physical(truth);
  if (const std::string open = describe_open_directions(likelihood, theta); !open.empty())
    throw core::StateError(open + ". Fix a parameter, or add a data set or reference numbers.");
  return estimate_at(
             parameters, theta,
             constrained_covariance(likelihood.hessian(theta, {}), likelihood.at(theta).jacobian))
      .errors;
}

}  // namespace sagips::optim
