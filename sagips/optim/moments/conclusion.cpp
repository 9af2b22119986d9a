#include "sagips/optim/moments/conclusion.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/text.hpp"
#include "sagips/optim/goodness.hpp"
#include "sagips/optim/moments/moment_descent.hpp"

namespace sagips::optim {

namespace {

constexpr double longest_move = 0.2;     // on the unit scale
constexpr double settled = 0.01;         // squared length of a step in errors
constexpr int most_rounds = 6;           // of simulations, each where the last one led
constexpr std::int64_t least = 4;        // simulations whose scatter says something
constexpr double small_share = 1. / 16;  // of the simulation in a variance: a quarter of an error
constexpr double large_share = 1. / 9;   // a third of an error: seeds scatter visibly
constexpr double few_events = 50;        // effective ones
constexpr double large_doubt = 0.2;      // share of a variance

// excess: expected of the simulation's scatter in chi2
GoodnessOfFit goodness_of(double chi2, double excess, double degrees) {
  const double corrected = chi2 / (1 + excess / degrees);
  return {"chi2 of the moments", corrected, degrees, chi_square_tail(corrected, degrees)};
}

// What chi2 is expected to be larger by, of weighted data.
// source: Satorra and Bentler, Latent Variables Analysis (1994) 399
double mean_of_diagonal(const torch::Tensor& covariance) {
  return covariance.defined() ? covariance.diagonal().mean().item<double>() : 1;
}

// With the numbers of a descent and of so many repetitions. shape: [1 + repetitions, residuals]
torch::Tensor simulations(const MomentModel& model, const torch::Tensor& unit, std::int64_t events,
                          std::int64_t repetitions) {
  for (std::int64_t i = 1; i <= repetitions; ++i)
    model.expect_residuals(unit.unsqueeze(0), events, i);
  std::vector<torch::Tensor> rows;
  for (std::int64_t i = 0; i <= repetitions; ++i)
    rows.push_back(model.residuals(unit.unsqueeze(0), events, i)[0]);
  return torch::stack(rows);
}

double excess_of(const torch::Tensor& scatter) {
  const auto count = static_cast<double>(scatter.size(0));
  return count < 2 ? 0 : sum_of_squares(scatter) / (count * (count - 1));
}

class Conclusion {
 public:
  Conclusion(const MomentModel& model, torch::Tensor unit, const MomentSlopes* slopes)
      : model_(model),
        events_(model.config().events_for(model.data_events())),
        ends_(model.parameters()),
        unit_(ends_.inside(unit)) {
    take_slopes(slopes);
    simulate(model.config().repetitions == 0 ? 0 : std::max(least, model.config().repetitions));
    while (simulation_share() > small_share && count() <= model.config().most_repetitions / 2)
      simulate(count() * 2 - 1);
  }

  void move() {
    double lowest = sum_of_squares(mean_);
    for (int round = 1;; ++round) {
      const torch::Tensor step = this->step();
      const double length = step.dot(slopes_.information.matmul(step)).item<double>();
      if (length < settled || round == most_rounds) {
        unit_ = unit_ + step;
        mean_ = mean_ + slopes_.jacobian.matmul(step);
        unsettled_ = length > 1;
        return;
      }
      if (!go(step, length > 1, lowest)) {
        unsettled_ = length > 1;
        return;
      }
      lowest = std::min(lowest, sum_of_squares(mean_));
    }
  }

  Concluded concluded(Conclude how) const {
    return {{unit_, mean_, slopes_, uncertainty_.covariance, events_}, solution(how), !unsettled_};
  }

 private:
  Solution solution(Conclude how) const {
    const auto fixed = static_cast<double>(unit_.size(0) - uncertainty_.open.size(0));
    double degrees = static_cast<double>(model_.size());
    if (how == Conclude::moving) degrees -= fixed;
    const torch::Tensor data = model_.data_covariance();
    const GoodnessOfFit goodness = goodness_of(sum_of_squares(mean_) / mean_of_diagonal(data),
                                               excess(how), std::max(degrees, 1.0));
    const double misfit = std::max(1.0, goodness.value / goodness.degrees_of_freedom);
    const torch::Tensor& spared = uncertainty_.covariance;
    const torch::Tensor moved = slopes_.jacobian.matmul(spared);
    const torch::Tensor of_data = data.defined() ? moved.t().matmul(data).matmul(moved) : spared;
    const torch::Tensor from_slopes = spared.matmul(slopes_.noise).matmul(spared) * misfit;
    Solution solution;
    static_cast<Estimate&>(solution) = estimate_at(
        model_.parameters(), unit_, unit_ - spared.matmul(slopes_.jacobian.t().matmul(mean_)),
        {of_data + simulation_covariance() + from_slopes, uncertainty_.open});
    solution.errors_from = "covariance of the moments";
    solution.score = sum_of_squares(mean_);
    if (degrees > 0) solution.goodness.push_back(goodness);
    add_doubts(solution);
    return solution;
  }

  std::int64_t count() const { return all_.size(0); }

  void take_slopes(const MomentSlopes* known = nullptr) {
    slopes_ = known ? *known : slopes_at(model_, unit_, events_);
    uncertainty_ = uncertainty_of(slopes_.information, none());
  }

  // By a step, or less where chi2 is no parabola and the whole step leads up. Where slopes nearly vanish a
  // step that seems short leads out of the minimum. Returns false where it stays.
  // lowest: chi2 so far
  bool go(torch::Tensor step, bool is_long, double lowest) {
    constexpr int halvings = 3;
    constexpr double out = 1;  // of chi2, above the lowest
    const torch::Tensor from = unit_, all = all_, mean = mean_;
    const double before = sum_of_squares(mean_);
    double after = 0;
    for (int halving = 0; halving <= halvings; ++halving, step = step / 2) {
      unit_ = from + step;
      simulate(count() - 1);
      after = sum_of_squares(mean_);
      if (after < (is_long ? before : lowest + out)) break;
    }
    if (!(after < lowest + out)) {
      unit_ = from;
      all_ = all;
      mean_ = mean;
      return false;
    }
    if (is_long) take_slopes();
    return true;
  }

  torch::Tensor none() const { return torch::zeros({0, unit_.size(0)}, torch::kFloat64); }

  void simulate(std::int64_t repetitions) {
    all_ = simulations(model_, unit_, events_, repetitions);
    mean_ = all_.mean(0);
  }

  // The covariance of the mean of all simulations, on the unit scale.
  torch::Tensor simulation_covariance() const {
    if (count() < 2) return torch::zeros_like(uncertainty_.covariance);
    const torch::Tensor moved =
        (all_ - all_.mean(0)).matmul(slopes_.jacobian).matmul(uncertainty_.covariance);
    return moved.t().matmul(moved) / static_cast<double>(count() * (count() - 1));
  }

  // In the variance that the data leave, of the worst parameter.
  double simulation_share() const {
    const torch::Tensor data = uncertainty_.covariance.diagonal();
    return (simulation_covariance().diagonal() / data.clamp_min(1e-300)).max().item<double>();
  }

  // Expected of the simulation's scatter in chi2.
  double excess(Conclude how) const {
    torch::Tensor scatter = all_ - all_.mean(0);
    if (how == Conclude::moving)
      scatter = scatter - scatter.matmul(slopes_.jacobian)
                              .matmul(uncertainty_.covariance)
                              .matmul(slopes_.jacobian.t());
    return excess_of(scatter);
  }

  torch::Tensor step() const {
    const torch::Tensor found =
        step_in_ranges(slopes_.information, slopes_.jacobian.t().matmul(mean_), unit_,
                       torch::arange(unit_.size(0)), ends_);
    const double longest = found.abs().max().item<double>();
    return found * std::min(1.0, longest_move / std::max(longest, 1e-300));
  }

  // Where data are fewer than `most_events`, that many are never simulated.
  std::string what_simulates_more() const {
    const bool few = model_.data_events() < static_cast<double>(model_.config().most_events);
    return core::text("moments.", few ? "least" : "most", "_events=", 8 * events_);
  }

  void add_doubts(Solution& solution) const {
    if (model_.data_events() < few_events)
      solution.warnings.push_back(
          {"few-events",
           core::text(
               "the data are ", std::llround(model_.data_events()),
               " events (means of so few are not normal, so values, errors and chi2 may be far "
               "off). Trust none of them; where the density is known, use sagips fit")});
    if (unsettled_)
      solution.warnings.push_back(
          {"unsettled",
           "the last step was still longer than an error (chi2 is no parabola there). Simulate "
           "more: " +
               what_simulates_more()});
    if (slopes_.doubt > large_doubt)
      solution.warnings.push_back(
          {"uncertain-errors",
           core::text("the errors may be off by ",
                      slopes_.doubt < 2 ? core::text(std::llround(50 * slopes_.doubt))
                                        : std::string("more than 100"),
                      " % (slopes of the moments differ by the simulation's chance or by their "
                      "steps). Simulate more: ",
                      what_simulates_more(), "; or change moments.difference")});
    if (count() < 2)
      solution.warnings.push_back(
          {"no-repetitions",
           "the errors do not hold the simulation's chance (moments.repetitions=0). Set it to 8"});
    else if (simulation_share() > large_share)
      solution.warnings.push_back(
          {"simulation-chance",
           core::text("other seeds of the simulation would scatter by ",
                      core::significant(std::sqrt(simulation_share()), 2),
                      " of an error (that is part of the errors stated). Simulate more: ",
                      what_simulates_more())});
  }

  const MomentModel& model_;
  std::int64_t events_;
  RangeEnds ends_;
  torch::Tensor unit_;
  MomentSlopes slopes_;
  Uncertainty uncertainty_;
  torch::Tensor all_, mean_;  ///< residuals. [simulations, residuals], [residuals]
  bool unsettled_ = false;
};

}  // namespace

GoodnessOfFit goodness_at(const MomentModel& model, const torch::Tensor& unit, double fitted) {
  const torch::Tensor all = simulations(model, unit, model.config().events_for(model.data_events()),
                                        model.config().repetitions);
  const torch::Tensor mean = all.mean(0);
  return goodness_of(sum_of_squares(mean) / mean_of_diagonal(model.data_covariance()),
                     excess_of(all - mean),
                     std::max(1.0, static_cast<double>(model.size()) - fitted));
}

Concluded conclude(const MomentModel& model, const torch::Tensor& unit, Conclude how,
                   const MomentSlopes* slopes) {
  Conclusion conclusion(model, unit, slopes);
  if (how == Conclude::moving) conclusion.move();
  return conclusion.concluded(how);
}

}  // namespace sagips::optim
