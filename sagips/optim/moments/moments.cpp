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
#include "sagips/optim/moments/learned_features.hpp"
#include "sagips/optim/moments/moment_descent.hpp"
#include "sagips/optim/moments/moment_minima.hpp"
#include "sagips/optim/moments/moment_slopes.hpp"

namespace sagips::optim {

namespace {

constexpr double hopeless = 1e-6;      // p-value below which another start is tried
constexpr double same_minimum = 1e-3;  // relative difference of chi2

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
                                 MomentDescent& descent, torch::Tensor theta, bool& in_time) {
  constexpr int rounds = 4;
  constexpr double at_rest = 1e-3;  // of a logit
  for (int round = 0; round < rounds; ++round) {
    model.weigh_at(torch::sigmoid(theta), config.events_for(model.data_events()));
    in_time = descent.polish(theta);
    if (!in_time) break;
    const double moved = (descent.theta() - theta).abs().max().item<double>();
    theta = descent.theta();
    if (moved < at_rest) break;
  }
  return theta;
}

/// A model whose features are enough, or what the user may do about it.
struct Enough {
  std::unique_ptr<MomentModel> model;
  bool grew = false;
  std::string hint{};
  std::optional<MomentSlopes> slopes{};  ///< of the model at the point, unless it grew
};

// More features hold more of what events tell, up to the likelihood's. Judged by the errors they
// leave at one point, which costs slopes but no descent. Where the form that slopes are taken of is not
// the one that makes events (a smooth edge for a cut), features that resolve the difference would know
// more than events tell.
Enough with_enough_features(const env::Environment& environment, const SolveContext& context,
                            std::unique_ptr<MomentModel> model, const torch::Tensor& unit) {
  constexpr double worth_it = 1.04, worth_a_word = 1.1;  // ratios of variances: 2 and 5 % of errors
  constexpr double events_a_feature = 60, most_features = 300;
  constexpr int most_growth = 4;
  constexpr double same_forms = 0.1;  // of a chi2
  Enough enough{std::move(model)};
  const std::int64_t events = enough.model->config().events_for(enough.model->data_events());
  const bool weigh = enough.model->config().weighting == MomentsConfig::Weighting::model;
  if (enough.model->distance_of_forms(unit, events) > same_forms) return enough;
  if (weigh) enough.model->weigh_at(unit, events);
  enough.slopes = slopes_at(*enough.model, unit, events);
  const MomentSlopes first = *enough.slopes;
  torch::Tensor before = variances_left(first.information);
  while (enough.model->config().features.growth < most_growth) {
    MomentsConfig config = enough.model->config();
    const bool automatic = config.features.grow && config.features.degree == 0;
    ++config.features.growth;
    auto larger = std::make_unique<MomentModel>(environment, config, context);
    const bool affordable = static_cast<double>(larger->size()) <
                            std::min(most_features, larger->data_events() / events_a_feature);
    if (!affordable && automatic) break;
    if (weigh) larger->weigh_at(unit, events);
    const torch::Tensor after =
        variances_left(slopes_like(first, *larger, unit, events).information);
    const double gain = (before / after).max().item<double>();
    if (!std::isfinite(gain) || gain < worth_it) break;
    if (!automatic) {
      if (gain > worth_a_word)
        enough.hint = core::text(
            "more features would shrink an error by ",
            std::llround(100 * (1 - 1 / std::sqrt(gain))), " %. Set moments.features.degree=",
            config.features.degree_for(environment.channels[0].observables()),
            " and moments.features.cross_degree=", config.features.cross_degree_grown(),
            ", or let them grow: moments.features.degree=0");
      break;
    }
    enough.model = std::move(larger);
    enough.grew = true;
    enough.slopes.reset();
    before = after;
  }
  return enough;
}

}  // namespace

Solution MomentSolver::solve(const env::Environment& environment,
                             const SolveContext& context) const {
  const auto began = Clock::now();
  auto model = std::make_unique<MomentModel>(environment, config_, context);
  const std::int64_t free = environment.parameters.free_size();
  if (model->size() < free)
    throw core::ConfigError("moments.features",
                            core::text(model->size(), " moments cannot fix ", free,
                                       " free parameters. Raise moments.features.degree."));
  double degrees = static_cast<double>(model->size() - free);
  auto descent = std::make_unique<MomentDescent>(*model, config_, context, began);
  torch::Tensor best;
  double best_chi2 = std::numeric_limits<double>::infinity();
  std::int64_t starts = 0;
  bool in_time = true;
  while (in_time && starts < config_.starts) {
    const bool given = context.start && starts == 0;
    const torch::Tensor start =
        given ? environment.parameters.logit_from_physical(context.start->to(torch::kFloat64))
              : starting_point(config_, free, starts, context.seed);
    ++starts;
    try {
      in_time = given ? descent->polish(start) : descent->from(start);
    } catch (const core::StateError&) {  // no events there; another start may have some
      if (!best.defined() && starts >= config_.starts) throw;
      continue;
    }
    const double found = descent->chi2();
    const bool again = std::abs(found - best_chi2) < same_minimum * std::max(1.0, best_chi2);
    if (!best.defined() || found < best_chi2) {
      best_chi2 = found;
      best = descent->theta();
    }
    // good enough, or two starts agree that it does not get better
    if (chi_square_tail(best_chi2, std::max(degrees, 1.0)) > hopeless || again) break;
  }
  const auto weigh = [&] {
    if (in_time && config_.weighting == MomentsConfig::Weighting::model)
      best = with_model_weights(*model, config_, *descent, best, in_time);
  };
  weigh();
  std::string hint;
  std::optional<MomentSlopes> slopes;
  std::optional<env::Environment> with_learned;
  const auto descend_again = [&] {
    degrees = static_cast<double>(model->size() - free);
    descent = std::make_unique<MomentDescent>(*model, config_, context, began);
    in_time = descent->polish(best);
    best = descent->theta();
    weigh();
  };
  if (in_time && config_.features.learned) {
    const torch::Tensor unit = torch::sigmoid(best);
    const std::int64_t events = config_.events_for(model->data_events());
    const torch::Tensor errors = variances_left(slopes_at(*model, unit, events).information).sqrt();
    with_learned = with_learned_features(environment, unit, errors, context);
    model = std::make_unique<MomentModel>(*with_learned, config_, context);
    descend_again();
  }
  if (in_time) {
    Enough enough = with_enough_features(with_learned ? *with_learned : environment, context,
                                         std::move(model), torch::sigmoid(best));
    model = std::move(enough.model);
    hint = std::move(enough.hint);
    slopes = std::move(enough.slopes);
    if (enough.grew) descend_again();
  }
  Concluded first =
      conclude(*model, torch::sigmoid(best), Conclude::moving, slopes ? &*slopes : nullptr);
  // where nothing describes the data minima say nothing, and there are many
  const bool look = in_time && config_.minima && !context.start &&
                    chi_square_tail(first.solution.score, std::max(degrees, 1.0)) > hopeless;
  std::vector<Concluded> minima;
  if (look)
    minima = minima_around(*model, context, began, std::move(first));
  else
    minima.push_back(std::move(first));
  Solution solution = std::move(minima[0].solution);
  for (std::size_t i = 1; i < minima.size(); ++i)
    solution.others.push_back(std::move(minima[i].solution));
  if (!solution.others.empty())
    solution.warnings.push_back(core::text(
        "the data allow ", minima.size(),
        " separate solutions (chi2 within 9 of the best; the others "
        "are in results.json). Narrow the ranges, or add a data set that tells them apart"));
  if (!hint.empty()) solution.warnings.push_back(std::move(hint));
  solution.starts = starts;
  solution.converged = in_time;
  solution.evaluations = model->evaluations();
  solution.time_s = std::chrono::duration<double>(Clock::now() - began).count();
  return solution;
}

Solution MomentSolver::judge(const env::Environment& environment, const SolveContext& context,
                             const torch::Tensor& physical) const {
  const MomentModel model(environment, config_, context);
  return conclude(model, environment.parameters.unit_from_physical(physical.to(torch::kFloat64)),
                  Conclude::staying)
      .solution;
}

}  // namespace sagips::optim
