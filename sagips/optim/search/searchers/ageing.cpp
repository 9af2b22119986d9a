#include "sagips/optim/search/searchers/ageing.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/optim/search/search_numbers.hpp"

namespace sagips::optim::searchers {

namespace {

std::vector<Trial> scored(const std::vector<Trial>& trials) {
  std::vector<Trial> found;
  for (const Trial& trial : trials)
    if (trial.score) found.push_back({trial.point, comparable(*trial.score)});
  return found;
}

// Another value, or a step, which goes the other way at the ends.
double changed(double at, const SearchDimension& dimension, double step, SearchNumbers& numbers) {
  if (dimension.values > 0 && (!dimension.ordered || dimension.values <= 3)) {
    const auto values = static_cast<double>(dimension.values);
    const double others = std::floor(numbers.uniform() * (values - 1)) + 1;
    return std::fmod(at + others / values, 1.0);
  }
  const double least = dimension.values > 0 ? 1.0 / static_cast<double>(dimension.values) : 0;
  double move = step * numbers.normal();
  if (std::abs(move) < least) move = std::copysign(least, move);
  if (at + move < 0 || at + move > 1) move = -move;
  double moved = std::fmod(std::abs(at + move), 2.0);
  if (moved > 1) moved = 2 - moved;
  return std::clamp(moved, 1e-6, 1 - 1e-6);
}

// In one of its coordinates that count.
Point mutated(const Point& parent, const SearchSpace& space, double step, SearchNumbers& numbers) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < space.size(); ++i)
    if (space[i].values != 1 && space.counts(parent, i)) places.push_back(i);
  Point child = parent;
  if (places.empty()) return child;
  const std::size_t place = places[numbers.below(places.size())];
  child[place] = changed(parent[place], space[place], step, numbers);
  // what counts only now has no value yet
  for (std::size_t i = 0; i < space.size(); ++i)
    if (space.counts(child, i) && !space.counts(parent, i)) child[i] = numbers.uniform();
  return space.placed(std::move(child));
}

}  // namespace

void Ageing::Config::fields(core::FieldList& list) {
  list.add("population", population, "last points that live", core::Range::between(2, 1e6));
  list.add("sample", sample, "of them, drawn at random, whose best one has a child",
           core::Range::between(1, 1e6));
  list.add("step", step, "deviation of a change, in units of the range", core::Range{0, 1, true});
}

Ageing::Ageing(const Config& config, const SearchStart& start)
    : config_(config), start_(start), stream_(start.seed, "ageing evolution") {}

std::vector<Point> Ageing::ask(const std::vector<Trial>& trials, std::size_t most) {
  std::vector<Trial> population = scored(trials);
  const auto size = static_cast<std::size_t>(config_.population);
  if (population.size() > size)
    population.erase(population.begin(), population.end() - static_cast<std::ptrdiff_t>(size));
  std::vector<Point> points;
  for (std::size_t number = trials.size(); points.size() < most; ++number) {
    SearchNumbers numbers(stream_.at_step(static_cast<std::uint32_t>(number) + 1));
    if (number < size || population.empty()) {
      points.push_back(design_point(number, start_.start, start_.space, stream_));
      continue;
    }
    const Trial* parent = nullptr;
    for (std::int64_t i = 0; i < config_.sample; ++i) {
      const Trial& one = population[numbers.below(population.size())];
      if (parent == nullptr || *one.score < *parent->score) parent = &one;
    }
    points.push_back(mutated(parent->point, start_.space, config_.step, numbers));
  }
  return points;
}

void Genetic::Config::fields(core::FieldList& list) {
  list.add("population", population, "best points that may be parents",
           core::Range::between(4, 1e6));
}

Genetic::Genetic(const Config& config, const SearchStart& start)
    : config_(config), start_(start), stream_(start.seed, "genetic search") {}

Point Genetic::child(const std::vector<Point>& best, std::size_t number) const {
  SearchNumbers numbers(stream_.at_step(static_cast<std::uint32_t>(number) + 1));
  // they are in order, so the lower number wins
  const auto winner = [&] {
    return std::min(numbers.below(best.size()), numbers.below(best.size()));
  };
  const std::size_t one = winner(), other = winner();
  const Point& fitter = best[std::min(one, other)];
  const Point& weaker = best[std::max(one, other)];
  const double all = static_cast<double>(std::max<std::int64_t>(1, start_.trials));
  const double left = std::max(0.0, 1 - static_cast<double>(number) / all);
  const double exponent = start_.trials > 0 ? left * left * left : 1;
  const double blend = numbers.uniform();
  Point child(fitter.size());
  for (std::size_t i = 0; i < child.size(); ++i) {
    const SearchDimension& dimension = start_.space[i];
    if (dimension.values > 0 && !dimension.ordered) {  // such values have no direction
      const double chance = numbers.uniform();
      child[i] = chance < 0.1 ? numbers.uniform() : numbers.uniform() < 0.5 ? fitter[i] : weaker[i];
      continue;
    }
    const double blended = std::clamp(fitter[i] + blend * (fitter[i] - weaker[i]), 0.0, 1.0);
    const double move = 1 - std::pow(numbers.uniform(), exponent);
    const double end = numbers.uniform() < 0.5 ? 0 : 1;
    child[i] = std::clamp(blended + move * (end - blended), 1e-6, 1 - 1e-6);
  }
  return start_.space.placed(std::move(child));
}

std::vector<Point> Genetic::ask(const std::vector<Trial>& trials, std::size_t most) {
  std::vector<Trial> population = scored(trials);
  std::stable_sort(population.begin(), population.end(),
                   [](const Trial& a, const Trial& b) { return *a.score < *b.score; });
  const auto size = static_cast<std::size_t>(config_.population);
  std::vector<Point> best;
  for (const Trial& trial : population)
    if (best.size() < size) best.push_back(trial.point);
  std::vector<Point> points;
  for (std::size_t number = trials.size(); points.size() < most; ++number)
    points.push_back(number < size || best.size() < 2
                         ? design_point(number, start_.start, start_.space, stream_)
                         : child(best, number));
  return points;
}

}  // namespace sagips::optim::searchers
