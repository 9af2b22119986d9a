#include "sagips/optim/search/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/optim/search/event_score.hpp"

namespace sagips::optim {

namespace {

constexpr double edge = 1e-6;  // parameters lie strictly inside their ranges

torch::Tensor physical_of(const std::vector<Point>& points, const env::ParameterSet& parameters) {
  std::vector<torch::Tensor> rows;
  for (const Point& point : points) rows.push_back(torch::tensor(point, torch::kFloat64));
  return parameters.physical_from_unit(torch::stack(rows).clamp(edge, 1 - edge));
}

SearchStart start_of(const env::ParameterSet& parameters, const SolveContext& context) {
  SearchStart start{.space = SearchSpace(static_cast<std::size_t>(parameters.free_size())),
                    .seed = context.seed};
  if (context.start) {
    const torch::Tensor unit =
        parameters.unit_from_physical(context.start->to(torch::kFloat64)).clamp(edge, 1 - edge);
    start.start = numbers_of(unit);
  }
  return start;
}

// What all ranks see alike: the mean score of each point, and whether one of them wants to stop.
bool agree(std::vector<double>& scores, bool stop, const SolveContext& context) {
  if (!context.add_up) return stop;
  scores.push_back(stop ? 1 : 0);
  scores.push_back(1);
  context.add_up(scores);
  const double ranks = scores.back();
  scores.pop_back();
  const bool any = scores.back() > 0;
  scores.pop_back();
  for (double& score : scores) score /= ranks;
  return any;
}

// Whether one of the points is better than all before.
bool take_best(const torch::Tensor& physical, const std::vector<double>& scores,
               Solution& solution) {
  const auto best = std::min_element(scores.begin(), scores.end());
  if (!(*best < solution.score)) return false;
  solution.score = *best;
  solution.values = numbers_of(physical[best - scores.begin()]);
  return true;
}

}  // namespace

void Search::Config::fields(core::FieldList& list) {
  list.add("evaluations", evaluations, "parameter vectors to score", core::Range::between(1, 1e9));
  list.add("batch", batch, "parameter vectors scored at a time, at most",
           core::Range::between(1, 1e6));
}

Search::Search(const Config& config, env::EventDistance::Config distance, SearcherMaker searcher)
    : config_(config), distance_(std::move(distance)), searcher_(std::move(searcher)) {}

Solution Search::solve(const env::Environment& environment, const SolveContext& context) const {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  const env::ParameterSet& parameters = environment.parameters;
  const EventScore score(environment, distance_, context.seed);
  const auto searcher = searcher_(start_of(parameters, context));
  std::vector<Trial> trials;
  Solution solution;
  solution.score = std::numeric_limits<double>::infinity();
  solution.errors_from = "none: a search knows no errors";
  for (bool stop = false; !stop && solution.evaluations < config_.evaluations;) {
    const std::int64_t most = std::min(config_.batch, config_.evaluations - solution.evaluations);
    const std::vector<Point> points = searcher->ask(trials, static_cast<std::size_t>(most));
    const torch::Tensor physical = physical_of(points, parameters);
    std::vector<double> scores = numbers_of(score.infer(physical));
    stop = agree(scores,
                 elapsed() > context.time_limit_s || (context.interrupted && context.interrupted()),
                 context);
    for (std::size_t i = 0; i < points.size(); ++i) trials.push_back({points[i], scores[i]});
    solution.evaluations += static_cast<std::int64_t>(points.size());
    if (context.progress) {
      context.progress->called(static_cast<std::int64_t>(points.size()));
      context.progress->expected =
          context.progress->calls * config_.evaluations / solution.evaluations;
      context.progress->phase = "searches";
      context.progress->score = solution.score;
    }
    solution.converged = !stop;
    if (take_best(physical, scores, solution) && context.observe)
      context.observe({elapsed(), solution.evaluations, solution.values, solution.score});
  }
  solution.time_s = elapsed();
  if (solution.values.empty())
    throw core::Error(
        "no parameter vector of the search could be scored (the pipeline gave no finite events at "
        "any of them). Narrow the parameters' ranges, or begin with another seed.");
  return solution;
}

}  // namespace sagips::optim
