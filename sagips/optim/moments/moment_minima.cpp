#include "sagips/optim/moments/moment_minima.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/nn/workers.hpp"
#include "sagips/optim/moments/moment_profile.hpp"

namespace sagips::optim {

namespace {

constexpr std::int64_t round_size = 8, rounds = 8;
constexpr int often = 6;            // met: seldom enough is a minimum overlooked
constexpr double allowed = 9;       // of chi2, above the best
constexpr double apart = 9;         // squared distance in errors, and one a parameter more
constexpr double fewer_events = 4;  // simulated in the search
constexpr double barrier = 1;       // of chi2, that separates two minima
constexpr double some_rise = 0.2;   // of chi2, on a path between what may be two minima
constexpr int most_doubts = 2;      // conclusions take long, and valleys have many places
constexpr double lower_in_valley = 0.1;
constexpr int path_points = 7;  // between them
constexpr std::int64_t scan_points = 16, most_places = 12, most_mirrors = 6;

// Another place of one parameter that a symmetry may lead to: mirrored in the middle of its range, or in zero, or
// half a range away.
std::vector<double> symmetric_places(const env::Parameter& parameter, double at) {
  const double range = parameter.high - parameter.low, zero = -parameter.low / range;
  std::vector<double> all{1 - at, at < 0.5 ? at + 0.5 : at - 0.5};
  if (zero > 0 && zero < 1 && std::abs(zero - 0.5) > 1e-6) all.push_back(2 * zero - at);
  if (parameter.periodic)
    for (double& one : all) one -= std::floor(one);
  std::erase_if(all, [&](double one) {
    return one < closest_to_end || one > 1 - closest_to_end || std::abs(one - at) < 1e-3;
  });
  return all;
}

std::vector<double> chi2_at(const MomentModel& model, const torch::Tensor& points,
                            std::int64_t events) {
  return numbers_of(model.residuals(points, events)
                        .square()
                        .sum(1)
                        .nan_to_num(std::numeric_limits<double>::infinity()));
}

class Minima {
 public:
  Minima(const MomentModel& model, const SolveContext& context,
         MomentDescent::Clock::time_point began, Concluded first)
      : model_(model),
        context_(context),
        began_(began),
        cheap_(model.config()),
        ends_(model.parameters()) {
    context_.observe = nullptr;
    cheap_.most_events =
        std::max(cheap_.least_events,
                 static_cast<std::int64_t>(static_cast<double>(cheap_.most_events) / fewer_events));
    const std::int64_t events = model_.config().events_for(model_.data_events());
    chi2_here_ = sum_of_squares(model_.residuals(first.unit.unsqueeze(0), events)[0]);
    add(std::move(first), chi2_here_);
  }

  std::vector<Concluded> found(bool everywhere) {
    try {
      if (leave_saddle() && everywhere) look();
    } catch (const OutOfTime&) {  // those that were found are known
    }
    if (std::none_of(known_.begin(), known_.end(),
                     [&](const Known& one) { return is_allowed(one); }))
      known_.front().is_between = false;  // between nothing that was found
    return allowed_ones();
  }

 private:
  // Where slopes vanish between mirror images, chi2 need not fall on a straight line to either: descents begin
  // beside it. false: out of time
  bool leave_saddle() {
    const std::vector<torch::Tensor> beside = places_beside(known_.front().minimum);
    if (beside.empty()) return true;
    known_.front().is_between = true;
    bool in_time = false;
    try {
      in_time = visit_all(beside, true);
    } catch (const OutOfTime&) {  // what was found decides
    }
    const double here = known_.front().minimum.solution.score;
    known_.front().is_between =
        std::any_of(known_.begin() + 1, known_.end(), [&](const Known& one) {
          return one.minimum.settled && one.minimum.solution.score < here - barrier;
        });
    // without a lower one these are places of a direction that is open
    if (!known_.front().is_between) known_.erase(known_.begin() + 1, known_.end());
    return in_time;
  }

  // Along the direction that is known least, where its error is half a range and more.
  std::vector<torch::Tensor> places_beside(const Concluded& found) const {
    const auto [values, vectors] = torch::linalg_eigh(found.slopes.information);
    if (values[0].item<double>() > 4) return {};
    std::vector<torch::Tensor> places;
    for (const double step : {0.25, -0.25, 0.125, -0.125, 0.0625, -0.0625})
      places.push_back(model_.parameters()
                           .in_first_turn(ends_.inside(found.unit + step * vectors.select(1, 0)))
                           .clamp(closest_to_end, 1 - closest_to_end));
    return places;
  }

  void look() {
    const torch::Tensor starts = model_.points_in_ranges(rounds * round_size);
    std::size_t mirrored = 0;
    if (const auto lower = lower_beside(known_.front().minimum)) {
      known_.front().is_between = true;
      if (!visit_from(torch::logit(*lower), false)) return;
      if (known_.size() == 1) known_.front().is_between = false;
    }
    for (std::int64_t round = 0; round < rounds && !has_enough(); ++round) {
      if (!visit_all(starts.narrow(0, round * round_size, round_size).unbind(0), false)) return;
      for (; mirrored < known_.size() && !has_enough(); ++mirrored)
        if (is_allowed(known_[mirrored]) &&
            !visit_all(mirrors_of(known_[mirrored].minimum.unit), true))
          return;
      if (std::all_of(known_.begin(), known_.end(), [&](const Known& one) {
            return one.met >= often || known_.size() == 1 || !is_allowed(one);
          }))
        return;
    }
  }

  bool has_enough() const {
    return std::count_if(known_.begin(), known_.end(),
                         [&](const Known& one) { return is_allowed(one); }) >= most_minima;
  }

  struct Known {
    Concluded minimum;
    double chi2 = 0;  ///< with the numbers of a descent
    int met = 0;
    bool is_between = false;  ///< minima, and is none
    int doubted = 0;          ///< whether what a path joins with it is another one, in vain
  };

  void add(Concluded minimum, double chi2) {
    known_.push_back({.minimum = std::move(minimum), .chi2 = chi2, .met = 1});
  }

  // Another place of a known minimum, which is where chi2 is less.
  void meet(Known& one, const MomentDescent& lower) {
    ++one.met;
    if (!(lower.chi2() < one.chi2 - lower_in_valley)) return;
    take_lower(one, conclude(model_, torch::sigmoid(lower.theta()), Conclude::moving),
               lower.chi2());
  }

  static void take_lower(Known& one, Concluded found, double chi2) {
    if (!(chi2 < one.chi2 - lower_in_valley)) return;
    if (!found.settled || found.solution.score > one.minimum.solution.score) return;
    one.minimum = std::move(found);
    one.chi2 = chi2;
  }

  // How far a place is from a minimum, squared, in the errors of that one.
  double away_squared(const Concluded& minimum, const torch::Tensor& unit) const {
    const torch::Tensor away = model_.parameters().away(unit, minimum.unit);
    return away.dot(minimum.slopes.information.matmul(away)).item<double>();
  }

  // Beyond what errors and the simulation of so many events explain.
  bool is_apart(const Concluded& minimum, const torch::Tensor& unit, std::int64_t events) const {
    const double noise = 1 + model_.data_events() / static_cast<double>(events);
    return away_squared(minimum, unit) > (apart + static_cast<double>(unit.size(0))) * noise;
  }

  // By more simulations than descents use. Seen from one of them alone, a valley that bends may rise.
  bool are_apart(const Concluded& one, const Concluded& other) const {
    return one.settled && other.settled && !(growth_half_way(model_, one, other.unit) <= barrier) &&
           !(growth_half_way(model_, other, one.unit) <= barrier);
  }

  // The minimum within three errors, or so far away as a descent with so many events may end, if nothing is
  // between.
  Known* near(const torch::Tensor& unit, std::int64_t events) {
    for (Known& one : known_) {
      if (one.is_between || !one.minimum.settled)
        continue;  // errors between two minima reach over both
      if (away_squared(one.minimum, unit) < apart + static_cast<double>(unit.size(0))) return &one;
      if (!is_apart(one.minimum, unit, events) &&
          !is_behind_a_barrier(one.minimum.unit, unit, events))
        return &one;
    }
    return nullptr;
  }

  // On a straight line, as a simulation of few events sees it.
  bool is_behind_a_barrier(const torch::Tensor& from, const torch::Tensor& to,
                           std::int64_t events) const {
    const torch::Tensor line = model_.parameters().away(to, from),
                        steps = torch::arange(path_points + 2, torch::kFloat64) / (path_points + 1);
    const std::vector<double> chi2 =
        chi2_at(model_, from.unsqueeze(0) + steps.unsqueeze(1) * line.unsqueeze(0), events);
    const double noise = 1 + model_.data_events() / static_cast<double>(events);
    return *std::max_element(chi2.begin(), chi2.end()) >
           std::max(chi2.front(), chi2.back()) + barrier * noise;
  }

  // The best of the places that are like a minimum which are behind a barrier.
  std::vector<torch::Tensor> mirrors_of(const torch::Tensor& minimum) const {
    const std::int64_t events = cheap_.events_for(model_.data_events());
    std::vector<torch::Tensor> found;
    for (const LikePlace& place : places_like(model_, minimum, events))
      if (found.size() < most_mirrors && is_behind_a_barrier(minimum, place.unit, events))
        found.push_back(place.unit);
    return found;
  }

  // The minimum that a path without a barrier leads to, and how far that path rises: few data leave long
  // valleys, in which a descent ends anywhere.
  std::pair<Known*, double> in_valley_of(const torch::Tensor& unit) {
    for (Known& one : known_)
      if (!one.is_between)
        if (const double rise = barrier_between(one.minimum.unit, unit); rise < barrier)
          return {&one, rise};
    return {nullptr, 0};
  }

  // The lowest barrier that was found on a straight line, then on lines that bend towards smaller
  // chi2: each point that is too high steps across the line, by less where that was no gain.
  double barrier_between(const torch::Tensor& from, const torch::Tensor& to) const {
    constexpr int bends = 25;
    const std::int64_t events = model_.config().events_for(model_.data_events());
    const auto residuals_at = [&](const torch::Tensor& point) {
      return model_.residuals(point.unsqueeze(0), events)[0];
    };
    const torch::Tensor line = model_.parameters().away(to, from), along = line / line.norm();
    const torch::Tensor held = 1e10 * along.unsqueeze(0) * along.unsqueeze(1);
    const double top =
        std::max(sum_of_squares(residuals_at(from)), sum_of_squares(residuals_at(to)));
    double highest = 0;
    for (int i = 1; i <= path_points; ++i) {
      torch::Tensor point = from + line * i / (path_points + 1.);
      torch::Tensor residuals = residuals_at(point);
      double chi2 = sum_of_squares(residuals), longest = 0.2;
      for (int bend = 0; bend < bends && chi2 > top + barrier; ++bend) {
        const torch::Tensor jacobian = model_.descent_jacobian(point, events);
        const torch::Tensor step =
            step_in_ranges(jacobian.t().matmul(jacobian) + held, jacobian.t().matmul(residuals),
                           point, torch::arange(point.size(0)), ends_);
        const double length = step.abs().max().item<double>();
        double gain = 0;
        for (longest = std::min(longest, length); longest > length / 1e4 && !(gain > 0);
             longest /= 4) {
          const torch::Tensor tried = point + step * (longest / length),
                              there = residuals_at(tried);
          gain = chi2 - sum_of_squares(there);
          if (gain > 0) {
            point = tried;
            residuals = there;
          }
        }
        if (!(gain > 1e-3 * (chi2 - top))) break;
        chi2 -= gain;
        longest *= 16;
      }
      highest = std::max(highest, chi2 - top);
      if (highest > barrier) break;
    }
    return highest;
  }

  /// Where a start was led with few events; nothing: out of time.
  using Quick = std::future<std::optional<torch::Tensor>>;

  // They do not know of each other, so threads and simulators may work on several.
  // is_close: the first levels would lead away from where a minimum is near.
  std::vector<Quick> quick_descents(const std::vector<torch::Tensor>& starts, bool is_close) const {
    std::vector<std::packaged_task<std::optional<torch::Tensor>()>> descents;
    std::vector<Quick> all;
    for (const torch::Tensor& start : starts) {
      descents.emplace_back([this, start, is_close]() -> std::optional<torch::Tensor> {
        torch::NoGradGuard no_grad;  // of this thread
        MomentDescent quick(model_, cheap_, context_, began_);
        const torch::Tensor theta = torch::logit(start);
        if (!(is_close ? quick.polish(theta) : quick.from(theta))) return std::nullopt;
        return quick.theta();
      });
      all.push_back(descents.back().get_future());
    }
    // ranks meet in each simulation, in the same order
    const std::int64_t most =
        context_.add_up ? 1 : std::max<std::int64_t>(at::get_num_threads(), model_.at_a_time());
    const auto threads = static_cast<int>(std::min(most, static_cast<std::int64_t>(starts.size())));
    nn::Workers(threads).run(
        descents.size(), [&](std::size_t i, const auto&) { descents[i](); }, {}, threads);
    return all;
  }

  // false: out of time
  bool visit_all(const std::vector<torch::Tensor>& starts, bool are_close) {
    if (starts.empty()) return true;
    std::vector<Quick> quick = quick_descents(starts, are_close);
    return std::all_of(quick.begin(), quick.end(), [this](Quick& one) { return visit(one); });
  }

  // One start to its end; false: out of time.
  bool visit(Quick& begun) {
    try {
      const std::optional<torch::Tensor> theta = begun.get();
      if (!theta) return false;
      Known* one = near(torch::sigmoid(*theta), cheap_.events_for(model_.data_events()));
      if (one && one->minimum.solution.open_directions.empty()) return ++one->met, true;
      return visit_from(*theta);
    } catch (const core::StateError&) {  // no events there: no minimum either
    }
    return true;
  }

  bool visit_from(const torch::Tensor& theta, bool may_be_between = true) {
    const double all = model_.data_events();
    try {
      MomentDescent whole(model_, model_.config(), context_, began_);
      if (!whole.polish(theta)) return false;
      const std::int64_t many = model_.config().events_for(all);
      if (Known* one = near(torch::sigmoid(whole.theta()), many)) {
        // anywhere along what is open is near: a small peak where it may be anywhere
        if (!one->minimum.solution.open_directions.empty()) return meet(*one, whole), true;
        return ++one->met, true;
      }
      // with the same random numbers as the best one, a difference of chi2 is mostly no chance
      if (whole.chi2() > chi2_here_ + allowed * (1 + all / static_cast<double>(many))) return true;
      const auto [joined, rise] = in_valley_of(torch::sigmoid(whole.theta()));
      // a descent ends above its minimum, so that a low barrier hides
      const bool may_be_apart = joined && rise > some_rise && joined->doubted < most_doubts &&
                                is_apart(joined->minimum, torch::sigmoid(whole.theta()), many);
      if (joined && !may_be_apart) return meet(*joined, whole), true;
      Concluded found = conclude(model_, torch::sigmoid(whole.theta()), Conclude::moving);
      Known* one = near(found.unit, many);
      if (!one && joined && !are_apart(joined->minimum, found)) one = joined;
      if (one) {
        if (joined) ++joined->doubted;
        if (one == joined) take_lower(*joined, std::move(found), whole.chi2());
        return ++one->met, true;
      }
      if (may_be_between)
        if (const auto lower = lower_beside(found)) return visit_from(torch::logit(*lower), false);
      add(std::move(found), whole.chi2());
    } catch (const core::StateError&) {  // no events there: no minimum either
    }
    return true;
  }

  // A place lower down, beside a point that is no minimum: between two mirror images slopes are zero, too.
  std::optional<torch::Tensor> lower_beside(const Concluded& found) const {
    constexpr double longest = 0.25;
    const auto [values, vectors] = torch::linalg_eigh(found.slopes.information);
    const double length = std::min(longest, 1 / std::sqrt(std::max(values[0].item<double>(), 1.)));
    if (length < longest / 4) return std::nullopt;
    torch::Tensor steps = torch::tensor({1., 0.5, 0.25, 0.125, 0.0625}, torch::kFloat64) * length;
    steps = torch::cat({torch::zeros({1}, torch::kFloat64), steps, -steps});
    const torch::Tensor points = ends_.inside(
        found.unit.unsqueeze(0) + steps.unsqueeze(1) * vectors.select(1, 0).unsqueeze(0));
    const std::vector<double> chi2 =
        chi2_at(model_, points, model_.config().events_for(model_.data_events()));
    const auto least = std::min_element(chi2.begin(), chi2.end());
    if (!(*least < chi2.front() - barrier)) return std::nullopt;
    return model_.parameters()
        .in_first_turn(points[least - chi2.begin()])
        .clamp(closest_to_end, 1 - closest_to_end);
  }

  double best() const {
    double score = known_.front().minimum.solution.score;
    for (const Known& one : known_)
      if (one.minimum.settled) score = std::min(score, one.minimum.solution.score);
    return score;
  }
  bool is_allowed(const Known& one) const {
    if (one.is_between) return false;
    return one.minimum.settled ? one.minimum.solution.score < best() + allowed
                               : one.chi2 < chi2_here_ + allowed;
  }

  std::vector<Concluded> allowed_ones() {
    std::vector<Concluded> all;
    for (Known& one : known_)
      if (is_allowed(one)) all.push_back(std::move(one.minimum));
    std::stable_sort(all.begin(), all.end(), [](const Concluded& a, const Concluded& b) {
      return a.solution.score < b.solution.score;
    });
    return all;
  }

  const MomentModel& model_;
  SolveContext context_;
  MomentDescent::Clock::time_point began_;
  MomentsConfig cheap_;
  RangeEnds ends_;
  std::vector<Known> known_;
  double chi2_here_ = 0;  ///< of the first minimum, with the numbers of a descent
};

}  // namespace

std::vector<LikePlace> places_like(const MomentModel& model, const torch::Tensor& unit,
                                   std::int64_t events) {
  const env::ParameterSet& parameters = model.parameters();
  const torch::Tensor at = parameters.in_first_turn(unit);
  const auto with = [&](std::initializer_list<std::pair<std::int64_t, double>> changed) {
    torch::Tensor point = at.clone();
    for (const auto& [i, value] : changed) point[i] = value;
    return point;
  };
  std::vector<LikePlace> places;
  std::vector<torch::Tensor> images;
  std::vector<std::vector<double>> ways;
  for (std::int64_t i = 0; i < parameters.free_size(); ++i) {
    const std::size_t number = parameters.free()[static_cast<std::size_t>(i)];
    ways.push_back(symmetric_places(parameters.all()[number], at[i].item<double>()));
    for (const double one : ways.back()) {
      images.push_back(with({{i, one}}));
      for (std::int64_t j = 0; j < i; ++j)
        for (const double other : ways[static_cast<std::size_t>(j)])
          images.push_back(with({{i, one}, {j, other}}));
    }
    std::vector<torch::Tensor> scan;
    for (std::int64_t k = 0; k < scan_points; ++k)
      scan.push_back(with({{i, (static_cast<double>(k) + 0.5) / scan_points}}));
    const std::vector<double> chi2 = chi2_at(model, torch::stack(scan), events);
    for (std::size_t k = 1; k + 1 < chi2.size(); ++k)
      if (chi2[k] < chi2[k - 1] && chi2[k] < chi2[k + 1]) places.push_back({scan[k], chi2[k]});
  }
  for (std::size_t first = 0; first < images.size(); first += scan_points) {
    const std::size_t count = std::min<std::size_t>(scan_points, images.size() - first);
    const std::vector<double> chi2 =
        chi2_at(model, torch::stack(at::TensorList(images).slice(first, count)), events);
    for (std::size_t k = 0; k < count; ++k) places.push_back({images[first + k], chi2[k]});
  }
  std::erase_if(places, [](const LikePlace& place) { return !std::isfinite(place.chi2); });
  std::stable_sort(places.begin(), places.end(),
                   [](const LikePlace& a, const LikePlace& b) { return a.chi2 < b.chi2; });
  if (places.size() > most_places) places.erase(places.begin() + most_places, places.end());
  return places;
}

std::vector<Concluded> minima_around(const MomentModel& model, const SolveContext& context,
                                     MomentDescent::Clock::time_point began, Concluded first,
                                     bool everywhere) {
  return Minima(model, context, began, std::move(first)).found(everywhere);
}

}  // namespace sagips::optim
