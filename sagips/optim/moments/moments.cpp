#include "sagips/optim/moments/moments.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/goodness.hpp"
#include "sagips/optim/moments/conclusion.hpp"
#include "sagips/optim/moments/equal_events.hpp"
#include "sagips/optim/moments/learned_features.hpp"
#include "sagips/optim/moments/moment_descent.hpp"
#include "sagips/optim/moments/moment_minima.hpp"
#include "sagips/optim/moments/moment_slopes.hpp"

namespace sagips::optim {

namespace {

constexpr double hopeless = 1e-6;      // p-value below which another start is tried
constexpr double same_minimum = 1e-3;  // relative difference of chi2
constexpr double wide_error = 1. / 6;  // of a range, of which the interval then is a third

using Clock = MomentDescent::Clock;

torch::Tensor starting_point(const MomentsConfig& config, std::int64_t free, std::int64_t start,
                             std::uint64_t seed) {
  if (start == 0 && config.start == MomentsConfig::Start::middle)
    return torch::zeros({free}, torch::kFloat64);
  torch::Tensor unit = torch::empty({free}, torch::kFloat64);
  core::RandomStream(seed, "moments starts")
      .uniform(static_cast<std::uint32_t>(start), 0,
               std::span<double>(unit.data_ptr<double>(), static_cast<std::size_t>(free)));
  return torch::logit(unit, 1e-3);
}

// The weights follow the point, then the point the weights, until it stays.
torch::Tensor with_model_weights(MomentModel& model, const MomentsConfig& config,
                                 MomentDescent& descent, torch::Tensor theta) {
  constexpr int rounds = 4;
  constexpr double at_rest = 1e-3;  // of a logit
  for (int round = 0; round < rounds; ++round) {
    model.weigh_at(torch::sigmoid(theta), config.events_for(model.data_events()));
    if (!descent.polish(theta)) throw OutOfTime();
    const double moved = (descent.theta() - theta).abs().max().item<double>();
    theta = descent.theta();
    if (moved < at_rest) break;
  }
  return theta;
}

/// Whether a model has been replaced by one whose features are enough, or what the user may do.
struct Enough {
  bool grew = false;
  std::string hint{};
  std::optional<MomentSlopes> slopes{};  ///< of the model at the point, unless it grew
};

// The largest factor by which more features lower a variance, for certain. What chance adds to a sum of n
// squared slopes is taken out in the mean, a share c of the sum, but scatters by the root of
// (4 c + 2 c^2) / n of it. noise: of the slopes of n features
double certain_gain(const torch::Tensor& before, const torch::Tensor& after,
                    const torch::Tensor& noise, double features) {
  constexpr double deviations = 2;  // of chance
  const torch::Tensor chance = after * noise.diagonal().clamp_min(0),
                      scatter = ((4 * chance + 2 * chance.square()) / features).sqrt();
  return (before / after - deviations * scatter).max().item<double>();
}

constexpr double worth_a_word = 1.1;  // a ratio of variances: 5 % of errors

long long per_cent_of_errors(double gain) { return std::llround(100 * (1 - 1 / std::sqrt(gain))); }

std::string hint_of_the_last(double gain) {
  if (gain <= worth_a_word) return {};
  return core::text("the last features shrank an error by ", per_cent_of_errors(gain),
                    " %, and no larger set was tried (a structure may be narrower than they tell). "
                    "Set moments.features.learned=true, or a larger moments.features.degree");
}

std::string hint_of_more(double gain, const EventFeaturesConfig& larger, std::int64_t observables) {
  if (gain <= worth_a_word) return {};
  return core::text("more features would shrink an error by ", per_cent_of_errors(gain),
                    " %. Set moments.features.degree=", larger.degree_for(observables),
                    " and moments.features.cross_degree=", larger.cross_degree_grown(),
                    ", or let them grow: moments.features.degree=0");
}

// More features hold more of what events tell, up to the likelihood's. Judged by the errors they
// leave at one point, which costs slopes but no descent. Where the training form is not the one that makes
// events (a smooth edge for a cut), the slopes of a descent along features that resolve the difference would
// lead away.
Enough take_enough_features(const env::Environment& environment, const SolveContext& context,
                            std::unique_ptr<MomentModel>& model, const torch::Tensor& unit) {
  constexpr double worth_it = 1.04;  // as worth_a_word
  constexpr double events_a_feature = 60, most_features = 300;
  constexpr int most_growth = 4;
  constexpr double same_forms = 0.1;  // of a chi2
  Enough enough;
  const std::int64_t events = model->config().events_for(model->data_events());
  const bool weigh = model->config().weighting == MomentsConfig::Weighting::model;
  if (model->distance_of_forms(unit, events) > same_forms) return enough;
  if (weigh) model->weigh_at(unit, events);
  enough.slopes = slopes_at(*model, unit, events);
  const MomentSlopes first = *enough.slopes;
  torch::Tensor before = variances_left(first.information);
  double last_gain = 1;
  for (;;) {
    if (model->config().features.growth == most_growth) {
      enough.hint = hint_of_the_last(last_gain);
      break;
    }
    MomentsConfig config = model->config();
    const bool automatic = config.features.grow && config.features.degree == 0;
    ++config.features.growth;
    auto larger = std::make_unique<MomentModel>(environment, config, context);
    const bool affordable = static_cast<double>(larger->size()) <
                            std::min(most_features, larger->data_events() / events_a_feature);
    if (!affordable && automatic) {
      enough.hint = hint_of_the_last(last_gain);
      break;
    }
    if (weigh) larger->weigh_at(unit, events);
    const MomentSlopes with_more = slopes_like(first, *larger, unit, events);
    const torch::Tensor after = variances_left(with_more.information);
    const double gain =
        certain_gain(before, after, with_more.noise, static_cast<double>(larger->size()));
    if (!std::isfinite(gain) || gain < worth_it) break;
    if (!automatic) {
      enough.hint = hint_of_more(gain, config.features, environment.channels[0].observables());
      break;
    }
    model = std::move(larger);
    last_gain = gain;
    enough.grew = true;
    enough.slopes.reset();
    before = after;
  }
  return enough;
}

/// One answer from its beginning to its end.
class Answer {
 public:
  Answer(const env::Environment& environment, const MomentsConfig& config,
         const SolveContext& context)
      : config_(config), environment_(&environment), free_(environment.parameters.free_size()) {
    context_ = context;
    context_.interrupted = [&context, began = began_] {
      return (context.interrupted && context.interrupted()) ||
             std::chrono::duration<double>(Clock::now() - began).count() > context.time_limit_s;
    };
    make_model();
    if (model_->data_events() <= static_cast<double>(free_))
      throw core::ConfigError(
          "data", core::text(std::llround(model_->data_events()),
                             model_->data_events() == 1 ? " event" : " events", " cannot fix ",
                             free_, " free parameters. Give more events, or fix parameters."));
    if (model_->size() == 0)
      throw core::ConfigError("data",
                              "all events are equal, which sets a limit on one free parameter, on "
                              "one rank, if the pipeline makes such events. Fix the others.");
    if (model_->size() < free_)
      throw core::ConfigError("moments.features",
                              core::text(model_->size(), " moments cannot fix ", free_,
                                         " free parameters. Raise moments.features.degree."));
  }

  Solution solution() {
    Solution solution;
    try {
      descend();
      simulate_enough();
      if (config_.features.learned) learn_features();
      grow_features();
      solution = concluded();
    } catch (const OutOfTime&) {
      solution = best_so_far();
    }
    solution.starts = starts_;
    solution.evaluations = model_->evaluations() + earlier_evaluations_;
    solution.time_s = std::chrono::duration<double>(Clock::now() - began_).count();
    return solution;
  }

 private:
  // Calls of the pipelines that each part takes with a few parameters, for the time that is left.
  static constexpr std::int64_t calls_of_level = 6, calls_of_features = 12,
                                calls_of_conclusion = 28, calls_of_minima = 180;
  static constexpr double few_kept = 0.25;  // of the events that are needed

  void make_model() {
    model_ = std::make_unique<MomentModel>(*environment_, config_, context_);
    config_.least_events = model_->config().least_events;
    make_descent();
  }
  void make_descent() {
    degrees_ = std::max(1.0, static_cast<double>(model_->size() - free_));
    descent_ = std::make_unique<MomentDescent>(*model_, config_, context_, began_);
  }

  void begin(const char* phase, std::int64_t calls) const {
    if (context_.progress)
      context_.progress->begin(phase, calls + (looks_for_minima() ? calls_of_minima : 0));
  }

  bool looks_for_minima() const { return config_.minima && !context_.start; }

  void descend() {
    const double levels = std::max(
        1.0, std::log2(model_->data_events() / static_cast<double>(config_.first_level)) / 2 + 2);
    begin("looks for the minimum", static_cast<std::int64_t>(levels) * calls_of_level +
                                       calls_of_features + calls_of_conclusion);
    double best_chi2 = std::numeric_limits<double>::infinity();
    while (starts_ < config_.starts) {
      bool in_time = true;
      try {
        in_time = descend_once();
      } catch (const core::StateError&) {  // no events there; another start may have some
        if (!best_.defined() && starts_ >= config_.starts) throw;
        continue;
      }
      const double found = descent_->chi2();
      const bool again = std::abs(found - best_chi2) < same_minimum * std::max(1.0, best_chi2);
      if (!best_.defined() || found < best_chi2) {
        best_chi2 = found;
        best_ = descent_->theta();
      }
      reached_ = best_chi2;
      if (!in_time || !leave_for_better(best_chi2)) throw OutOfTime();
      reached_ = best_chi2;
      // good enough, or two starts agree that it does not get better
      if (chi_square_tail(best_chi2, degrees_) > hopeless || again) break;
    }
    weigh();
  }

  // false: out of time
  bool descend_once() {
    const std::int64_t start = starts_++;
    if (start == 1) return descend_from_far(start);
    if (!context_.start || start > 0)
      return descent_->from(starting_point(config_, free_, start, context_.seed));
    return descent_->polish(
        environment_->parameters.logit_from_physical(context_.start->to(torch::kFloat64)));
  }

  // A descent along a symmetry ends between its images, where slopes are zero. false: out of time
  bool leave_for_better(double& best_chi2) {
    if (chi_square_tail(best_chi2, degrees_) > hopeless) return true;
    const std::vector<LikePlace> places =
        places_like(*model_, torch::sigmoid(best_), config_.events_for(model_->data_events()));
    if (places.empty() || places.front().chi2 > best_chi2) return true;
    const bool in_time = descent_->polish(torch::logit(places.front().unit));
    if (descent_->chi2() < best_chi2) {
      best_chi2 = descent_->chi2();
      best_ = descent_->theta();
    }
    return in_time;
  }

  // Where simulated events share no place with the data, means of features on the data's scale do not
  // change, so a scale that reaches over the ranges leads to them first.
  bool descend_from_far(std::int64_t start) {
    MomentsConfig config = config_;
    config.features.wide = true;
    config.features.degree = 2;  // of a narrow peak, higher ones oscillate as it moves
    config.features.cross_degree = 0;
    const MomentModel wide(*environment_, config, context_);
    MomentDescent descent(wide, config, context_, began_);
    const bool in_time = descent.from(starting_point(config_, free_, start, context_.seed));
    earlier_evaluations_ += wide.evaluations();
    return descent_->polish(descent.theta()) && in_time;
  }

  void descend_again() {
    make_descent();
    if (!descent_->polish(best_)) throw OutOfTime();
    best_ = descent_->theta();
    weigh();
  }

  void weigh() {
    if (config_.weighting == MomentsConfig::Weighting::model)
      best_ = with_model_weights(*model_, config_, *descent_, best_);
  }

  // The pipeline may drop most events: features need those that are left. Only the point that was found says how
  // many that are. This may be more than `most_events`.
  void simulate_enough() {
    constexpr std::int64_t times_most = 4;
    const auto events = [&] {
      return static_cast<double>(config_.events_for(model_->data_events()));
    };
    const double share =
        model_->events_kept(torch::sigmoid(best_), config_.events_for(model_->data_events())) /
        events();
    const double wanted = std::min(model_->needed_events() / share,
                                   static_cast<double>(times_most * config_.most_events));
    if (wanted > events()) {
      earlier_evaluations_ += model_->evaluations();
      config_.least_events = static_cast<std::int64_t>(wanted);
      make_model();
      descend_again();
    }
    few_kept_ = share * events() < few_kept * model_->needed_events();
  }

  void learn_features() {
    const torch::Tensor unit = torch::sigmoid(best_);
    const std::int64_t events = config_.events_for(model_->data_events());
    const torch::Tensor errors =
        variances_left(slopes_at(*model_, unit, events).information).sqrt();
    with_learned_ = with_learned_features(*environment_, unit, errors, context_);
    environment_ = &*with_learned_;
    make_model();
    descend_again();
  }

  void grow_features() {
    begin("compares features", calls_of_features + calls_of_conclusion);
    enough_ = take_enough_features(*environment_, context_, model_, torch::sigmoid(best_));
    if (enough_.grew) descend_again();
  }

  // Weights and features are those of the descent's end, and follow.
  Solution concluded() {
    constexpr int most_rounds = 3;
    std::vector<Concluded> minima;
    bool in_time = true;
    try {
      for (int round = 1;; ++round) {
        const bool is_last = round == most_rounds;
        begin("finds the errors", calls_of_conclusion);
        Concluded first = conclude(*model_, torch::sigmoid(best_), Conclude::moving,
                                   enough_.slopes ? &*enough_.slopes : nullptr);
        const torch::Tensor unit = first.unit;
        if (is_last || !fluctuates_otherwise(first)) {
          minima = all_around(std::move(first));
          // of several that are allowed each would follow another
          const bool is_allowed =
              std::any_of(minima.begin(), minima.end(),
                          [&](const Concluded& one) { return one.unit.equal(unit); });
          if (is_last || is_allowed || !fluctuates_otherwise(minima[0])) break;
        } else {
          minima.clear();
          minima.push_back(std::move(first));
        }
        best_ = torch::logit(model_->parameters()
                                 .in_first_turn(minima[0].unit)
                                 .clamp(closest_to_end, 1 - closest_to_end));
        descend_again();
        grow_features();
      }
    } catch (const OutOfTime&) {
      if (minima.empty()) throw;
      in_time = false;
    }
    in_time = in_time && (context_.add_up || !context_.interrupted());
    in_time = take_profiles(minima) && in_time;
    return stated(minima, in_time);
  }

  // Returns false where time has ended before all were taken.
  bool take_profiles(std::vector<Concluded>& minima) const {
    try {
      for (Concluded& one : minima)
        if (context_.intervals) take_profile(one.solution, *model_, one, &one == minima.data());
      return true;
    } catch (const OutOfTime&) {
      return false;
    }
  }

  // Whether errors would be others with weights of its own, by what varies along what the parameters move: the
  // descent did not reach it, or ended between mirror images.
  bool fluctuates_otherwise(const Concluded& minimum) const {
    constexpr double unlike = 0.2;  // of a variance
    if (config_.weighting != MomentsConfig::Weighting::model) return false;
    const auto [values, vectors] = torch::linalg_eigh(minimum.slopes.information);
    const torch::Tensor along = std::get<0>(torch::linalg_qr(
        minimum.slopes.jacobian.matmul(vectors.index_select(1, (values > 1).nonzero().flatten()))));
    const torch::Tensor before =
        model_->covariance_along(along, torch::sigmoid(best_), minimum.events);
    const torch::Tensor after = model_->covariance_along(along, minimum.unit, minimum.events);
    return (after - before).norm().item<double>() > unlike * before.norm().item<double>();
  }

  std::vector<Concluded> all_around(Concluded first) {
    // where nothing describes the data minima say nothing, and there are many
    const bool may_be_right = chi_square_tail(first.solution.score, degrees_) > hopeless;
    if (looks_for_minima() && (may_be_right || !first.solution.open_directions.empty())) {
      begin("looks for other minima", 0);
      return minima_around(*model_, context_, began_, std::move(first), may_be_right);
    }
    std::vector<Concluded> alone;
    alone.push_back(std::move(first));
    return alone;
  }

  void warn_of_features(Solution& solution) const {
    for (std::size_t i = 0; i < solution.errors.size(); ++i) {
      const env::Parameter& parameter = model_->parameters().all()[i];
      const double share = solution.errors[i] / (parameter.high - parameter.low);
      if (share > wide_error && !config_.features.learned)
        solution.warnings.push_back(
            {"wide-error",
             core::text("the error of ", parameter.name, " is ", std::llround(100 * share),
                        " % of its range (these features may tell little of it). Try "
                        "moments.features.learned=true")});
    }
    if (const std::int64_t count = model_->features_left_out(); count > 0)
      solution.warnings.push_back(
          {"no-products",
           core::text(count,
                      " products of observables are left out (with them there would be more "
                      "features than events, or more than 2,000; what only products tell is "
                      "not seen). Name fewer observables, or set moments.features.learned=true")});
    if (few_kept_)
      solution.warnings.push_back(
          {"few-simulated",
           core::text(
               "the pipeline drops so many of its events that too few are left for these "
               "features (values and errors may be off). Simulate more: moments.most_events=",
               8 * config_.most_events)});
    if (!enough_.hint.empty()) solution.warnings.push_back({"coarse-features", enough_.hint});
  }

  Solution stated(std::vector<Concluded>& minima, bool in_time) const {
    Solution solution = std::move(minima[0].solution);
    for (std::size_t i = 1; i < minima.size(); ++i)
      solution.others.push_back(std::move(minima[i].solution));
    for (const Solution& other : solution.others)  // a limit excludes none that the data allow
      for (std::size_t i = 0; i < other.values.size(); ++i) {
        auto &lower = solution.lower_limits[i], &upper = solution.upper_limits[i];
        if (lower && other.values[i] < *lower) lower.reset();
        if (upper && other.values[i] > *upper) upper.reset();
      }
    if (!solution.others.empty())
      solution.warnings.push_back(
          {"several-solutions",
           core::text("the data allow ", std::ssize(minima) < most_minima ? "" : "at least ",
                      minima.size(),
                      " separate solutions (chi2 within 9 of the best; the others "
                      "are in results.json). Narrow the ranges, or add a data set that tells them "
                      "apart")});
    warn_of_features(solution);
    solution.converged = in_time;
    return solution;
  }

  // Errors and chi2 would take longer than all before.
  Solution best_so_far() const {
    const torch::Tensor theta = best_.defined() ? best_ : descent_->theta();
    const double chi2 = std::isfinite(descent_->chi2()) ? descent_->chi2() : reached_;
    if (!std::isfinite(chi2))
      throw core::Error(
          "stopped before the pipeline had been called at a first point. Give it more time "
          "(solve.minutes).");
    Solution solution;
    solution.values = numbers_of(model_->parameters().physical_from_logit(theta));
    solution.score = chi2;
    solution.errors_from = "none: out of time";
    solution.warnings.push_back(
        {"unsettled",
         "the time was over before errors were found (the values are those of the "
         "best point so far)"});
    solution.converged = false;
    return solution;
  }

  Clock::time_point began_ = Clock::now();
  MomentsConfig config_;
  const env::Environment* environment_;
  SolveContext context_;
  std::int64_t free_, starts_ = 0;
  std::int64_t earlier_evaluations_ = 0;  ///< of models that were replaced
  double degrees_ = 1, reached_ = std::numeric_limits<double>::infinity();  ///< chi2 of `best_`
  bool few_kept_ = false;
  std::optional<env::Environment> with_learned_;
  std::unique_ptr<MomentModel> model_;
  std::unique_ptr<MomentDescent> descent_;
  torch::Tensor best_;  ///< logit. [free]
  Enough enough_;
};

bool is_hopeless(const Solution& solution) {
  return !solution.goodness.empty() && solution.goodness[0].p_value < hopeless;
}

/// Parameters on a scale where the data are seen, where a range reaches over many: of steps by powers of ten
/// from its ends and from zero, one that lowers chi2 a great deal. Nothing where there is none.
std::optional<env::ParameterSet> at_other_scales(const env::Environment& environment,
                                                 const MomentsConfig& config,
                                                 const SolveContext& context,
                                                 const Solution& found) {
  constexpr int powers = 18;
  constexpr double worth_it = 0.5;  // of a chi2
  const MomentModel model(environment, config, context);
  const auto chi2 = [&](const std::vector<double>& values) {
    const torch::Tensor point = torch::tensor(values, torch::kFloat64);
    return sum_of_squares(model.residuals(
        environment.parameters.unit_from_physical(point).unsqueeze(0), config.least_events));
  };
  std::vector<env::Parameter> parameters = environment.parameters.all();
  std::vector<double> best = found.values;
  double least = chi2(best) * worth_it;
  bool is_other = false;
  for (const std::size_t i : environment.parameters.free()) {
    const double low = parameters[i].low, high = parameters[i].high;
    for (int power = 1; power <= powers; ++power)
      for (const double from : {low, high, 0.0})
        for (const double sign : {1.0, -1.0}) {
          std::vector<double> values = best;
          const double step = sign * (high - low) * std::pow(10, -power);
          values[i] = from + step;
          if (!(values[i] > low && values[i] < high && from >= low && from <= high)) continue;
          const double there = chi2(values);
          if (!(there < least)) continue;
          least = there;
          best = values;
          parameters[i].low = std::max(low, std::min(from, from + 10 * step));
          parameters[i].high = std::min(high, std::max(from, from + 10 * step));
          parameters[i].truth.reset();
          parameters[i].toy.reset();
          is_other = true;
        }
  }
  if (!is_other) return std::nullopt;
  return env::ParameterSet(std::move(parameters));
}

}  // namespace

Solution MomentSolver::solve(const env::Environment& environment,
                             const SolveContext& context) const {
  constexpr int most_rounds = 4;
  if (const auto limit = solution_of_equal_events(environment, config_, context)) return *limit;
  Solution found = Answer(environment, config_, context).solution();
  env::Environment nearer = environment;
  for (int round = 0; round < most_rounds && found.converged && found.others.empty(); ++round) {
    std::optional<env::ParameterSet> ranges;
    if (is_hopeless(found) && round == 0)
      ranges = at_other_scales(environment, config_, context, found);
    if (!ranges) ranges = better_ranges(environment.parameters, nearer.parameters, found);
    if (!ranges) break;
    nearer.parameters = *ranges;
    SolveContext rest = context;
    if (rest.start) rest.start = torch::tensor(found.values, torch::kFloat64);
    if (is_hopeless(found)) rest.start.reset();
    rest.time_limit_s -= found.time_s;
    Solution next = Answer(nearer, config_, rest).solution();
    if (is_hopeless(next) && !is_hopeless(found)) break;
    next.evaluations += found.evaluations;
    next.starts += found.starts;
    next.time_s += found.time_s;
    found = std::move(next);
  }
  if (!found.errors.empty()) warn_of_wide_ranges(found, nearer.parameters);
  return found;
}

Solution MomentSolver::judge(const env::Environment& environment, const SolveContext& context,
                             const torch::Tensor& physical) const {
  const MomentModel model(environment, config_, context);
  return conclude(model, environment.parameters.unit_from_physical(physical.to(torch::kFloat64)),
                  Conclude::staying)
      .solution;
}

GoodnessOfFit MomentSolver::goodness(const env::Environment& environment,
                                     const SolveContext& context, const torch::Tensor& physical,
                                     std::int64_t fitted) const {
  const MomentModel model(environment, config_, context);
  return goodness_at(model, environment.parameters.unit_from_physical(physical.to(torch::kFloat64)),
                     static_cast<double>(fitted));
}

}  // namespace sagips::optim
