#include "sagips/optim/search/searchers/tpe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sagips/optim/search/search_numbers.hpp"

namespace sagips::optim::searchers {

namespace {

constexpr double far_behind = 1e3;  // in ln: any other point is better than one that is known

bool is_known(const std::vector<Trial>& trials, const Point& point) {
  return std::any_of(trials.begin(), trials.end(),
                     [&](const Trial& trial) { return trial.point == point; });
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// A mixture of kernels around points, and one kernel for all that is possible.
class Density {
 public:
  Density(const SearchSpace& space, std::vector<Point> centres)
      : space_(space), centres_(std::move(centres)) {
    const auto n = static_cast<double>(centres_.size());
    const auto d = static_cast<double>(space.size());
    // Scott's rule; no narrower than the gaps between as many points would be
    width_ = std::max(0.2 * std::pow(std::max(n, 1.0), -1 / (d + 4)), 1 / std::min(100.0, n + 1));
  }

  double log_at(const Point& point) const {
    const auto kernels = static_cast<double>(centres_.size() + 1);
    double sum = 1 / kernels;  // of the even one, with density 1
    for (const Point& centre : centres_) {
      double product = 1 / kernels;
      for (std::size_t i = 0; i < point.size(); ++i)
        if (space_.counts(point, i) && space_.counts(centre, i))
          product *= kernel(i, point, centre);
      sum += product;
    }
    return std::log(sum);
  }

  Point draw(SearchNumbers& numbers) const {
    const std::size_t number = numbers.below(centres_.size() + 1);
    Point point = numbers.point(space_.size());
    if (number == centres_.size()) return space_.placed(std::move(point));
    const Point& centre = centres_[number];
    for (std::size_t i = 0; i < point.size(); ++i)
      if (space_.counts(centre, i)) point[i] = near(i, centre, numbers);
    return space_.placed(std::move(point));
  }

 private:
  bool is_category(std::size_t i) const { return space_[i].values > 0 && !space_[i].ordered; }
  // The share of a kernel that lies at its own value, beyond the even part.
  double peak(std::size_t i) const {
    const auto values = static_cast<double>(space_[i].values);
    const auto kernels = static_cast<double>(centres_.size() + 1);
    return kernels / (kernels + values);
  }

  // Relative to an even density.
  double kernel(std::size_t i, const Point& point, const Point& centre) const {
    if (is_category(i)) {
      const double at_own = space_.value(point, i) == space_.value(centre, i)
                                ? static_cast<double>(space_[i].values)
                                : 0;
      return (1 - peak(i)) + peak(i) * at_own;
    }
    const double inside =
        normal_below((1 - centre[i]) / width_) - normal_below(-centre[i] / width_);
    if (space_[i].values > 0) {
      const auto values = static_cast<double>(space_[i].values);
      const double half = 0.5 / values;
      return values *
             (normal_below((point[i] + half - centre[i]) / width_) -
              normal_below((point[i] - half - centre[i]) / width_)) /
             inside;
    }
    const double z = (point[i] - centre[i]) / width_;
    return std::exp(-0.5 * z * z) / (std::sqrt(2 * std::numbers::pi) * width_ * inside);
  }

  double near(std::size_t i, const Point& centre, SearchNumbers& numbers) const {
    if (is_category(i)) return numbers.uniform() < peak(i) ? centre[i] : numbers.uniform();
    for (;;) {
      const double at = centre[i] + width_ * numbers.normal();
      if (at > 0 && at < 1) return at;
    }
  }

  const SearchSpace& space_;
  std::vector<Point> centres_;
  double width_;
};

}  // namespace

void Tpe::Config::fields(core::FieldList& list) {
  list.add("initial", initial, "even points before the first density",
           core::Range::between(1, 1e5));
  list.add("good_share", good_share, "share of the points that count as better",
           core::Range{0, 1, true, true});
  list.add("most_good", most_good, "points that count as better, at most",
           core::Range::between(1, 1e5));
  list.add("candidates", candidates, "drawn from the density of the better ones",
           core::Range::between(1, 1e6));
}

Tpe::Tpe(const Config& config, const SearchStart& start)
    : config_(config), start_(start), stream_(start.seed, "tpe search") {}

Point Tpe::next(const std::vector<Trial>& trials) const {
  std::vector<const Trial*> scored;
  for (const Trial& trial : trials)
    if (trial.score) scored.push_back(&trial);
  std::stable_sort(scored.begin(), scored.end(), [](const Trial* a, const Trial* b) {
    return comparable(*a->score) < comparable(*b->score);
  });
  const double share = std::ceil(config_.good_share * static_cast<double>(scored.size()));
  const auto good_count =
      static_cast<std::size_t>(std::min(share, static_cast<double>(config_.most_good)));
  std::vector<Point> good, other;
  for (std::size_t i = 0; i < scored.size(); ++i)
    (i < good_count ? good : other).push_back(scored[i]->point);
  for (const Trial& trial : trials)
    if (!trial.score) other.push_back(trial.point);
  const Density better(start_.space, std::move(good)), worse(start_.space, std::move(other));
  SearchNumbers numbers(stream_.at_step(static_cast<std::uint32_t>(trials.size()) + 1));
  Point best;
  double highest = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < config_.candidates; ++i) {
    Point candidate = better.draw(numbers);
    double ratio = better.log_at(candidate) - worse.log_at(candidate);
    if (is_known(trials, candidate)) ratio -= far_behind;
    if (!best.empty() && ratio <= highest) continue;
    best = std::move(candidate);
    highest = ratio;
  }
  return best;
}

std::vector<Point> Tpe::ask(const std::vector<Trial>& trials, std::size_t most) {
  std::vector<Trial> known = trials;
  std::vector<Point> points;
  const bool any = std::any_of(trials.begin(), trials.end(),
                               [](const Trial& trial) { return trial.score.has_value(); });
  while (points.size() < most) {
    const bool designed = !any || known.size() < static_cast<std::size_t>(config_.initial);
    points.push_back(designed ? design_point(known.size(), start_.start, start_.space, stream_)
                              : next(known));
    known.push_back({points.back()});
  }
  return points;
}

}  // namespace sagips::optim::searchers
