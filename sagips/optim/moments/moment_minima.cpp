#include "sagips/optim/moments/moment_minima.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/nn/workers.hpp"

namespace sagips::optim {

namespace {

constexpr std::int64_t round_size = 8, rounds = 8;
constexpr int often = 6;            // met: seldom enough is a minimum overlooked
constexpr double allowed = 9;       // of chi2, above the best
constexpr double apart = 9;         // squared distance in errors, and one a parameter more
constexpr double far_apart = 25;    // before simulations were averaged
constexpr double fewer_events = 4;  // simulated in the search
constexpr double barrier = 1;       // of chi2, that separates two minima
constexpr double lower_in_valley = 0.1;
constexpr int path_points = 7;  // between them

class Minima {
 public:
  Minima(const MomentModel& model, const SolveContext& context,
         MomentDescent::Clock::time_point began, Concluded first)
      : model_(model), context_(context), began_(began), cheap_(model.config()) {
    context_.observe = nullptr;
    cheap_.most_events =
        std::max(cheap_.least_events,
                 static_cast<std::int64_t>(static_cast<double>(cheap_.most_events) / fewer_events));
    const std::int64_t events = model_.config().events_for(model_.data_events());
    chi2_here_ = sum_of_squares(model_.residuals(first.unit.unsqueeze(0), events)[0]);
    add(std::move(first), chi2_here_);
  }

  std::vector<Concluded> found() {
    try {
      look();
    } catch (const OutOfTime&) {  // those that were found are known
    }
    return allowed_ones();
  }

 private:
  void look() {
    const torch::Tensor starts = model_.points_in_ranges(rounds * round_size);
    for (std::int64_t round = 0; round < rounds; ++round) {
      std::vector<Quick> quick = quick_descents(starts.narrow(0, round * round_size, round_size));
      for (Quick& one : quick)
        if (!visit(one)) return;
      if (std::all_of(known_.begin(), known_.end(), [&](const Known& one) {
            return one.met >= often || known_.size() == 1 || !is_allowed(one);
          }))
        return;
    }
  }

  struct Known {
    Concluded minimum;
    double chi2 = 0;  ///< with the numbers of a descent
    int met = 0;
    bool refused = false;  ///< no parabola there
  };

  void add(Concluded minimum, double chi2) {
    const bool refused = !minimum.settled && !known_.empty();
    known_.push_back({std::move(minimum), chi2, 1, refused});
  }

  void replace(Known& one, const MomentDescent& lower) {
    Concluded found = conclude(model_, torch::sigmoid(lower.theta()), Conclude::moving);
    if (!found.settled || found.solution.score > one.minimum.solution.score) return;
    one.minimum = std::move(found);
    one.chi2 = lower.chi2();
  }

  // The minimum within so many squared errors, which simulations of few events make larger.
  Known* near(const torch::Tensor& unit, double squared, double events) {
    const double noise = 1 + model_.data_events() / events;
    squared += static_cast<double>(unit.size(0));
    for (Known& one : known_) {
      const torch::Tensor away = unit - one.minimum.unit;
      if (away.dot(one.minimum.slopes.information.matmul(away)).item<double>() < squared * noise)
        return &one;
    }
    return nullptr;
  }

  // The minimum that a path without a barrier leads to: few data leave long valleys, in which a descent
  // ends anywhere.
  Known* in_valley_of(const torch::Tensor& unit) {
    for (Known& one : known_)
      if (barrier_between(one.minimum.unit, unit) < barrier) return &one;
    return nullptr;
  }

  // The lowest barrier that was found on a straight line, then on lines that bend towards smaller
  // chi2: each point that is too high steps across the line, by less where that was no gain.
  double barrier_between(const torch::Tensor& from, const torch::Tensor& to) const {
    constexpr int bends = 25;
    const std::int64_t events = model_.config().events_for(model_.data_events());
    const auto residuals_at = [&](const torch::Tensor& point) {
      return model_.residuals(point.unsqueeze(0), events)[0];
    };
    const torch::Tensor line = to - from, along = line / line.norm();
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
                           point, torch::arange(point.size(0)));
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
  std::vector<Quick> quick_descents(const torch::Tensor& starts) const {
    std::vector<std::packaged_task<std::optional<torch::Tensor>()>> descents;
    std::vector<Quick> all;
    for (const torch::Tensor& start : starts.unbind(0)) {
      descents.emplace_back([this, start]() -> std::optional<torch::Tensor> {
        torch::NoGradGuard no_grad;  // of this thread
        MomentDescent quick(model_, cheap_, context_, began_);
        if (!quick.from(torch::logit(start))) return std::nullopt;
        return quick.theta();
      });
      all.push_back(descents.back().get_future());
    }
    // ranks meet in each simulation, in the same order
    const std::int64_t most =
        context_.add_up ? 1 : std::max<std::int64_t>(at::get_num_threads(), model_.at_a_time());
    const auto threads = static_cast<int>(std::min<std::int64_t>(most, starts.size(0)));
    nn::Workers(threads).run(
        descents.size(), [&](std::size_t i, const auto&) { descents[i](); }, {}, threads);
    return all;
  }

  // One start to its end; false: out of time.
  bool visit(Quick& begun) {
    const double all = model_.data_events();
    try {
      const std::optional<torch::Tensor> theta = begun.get();
      if (!theta) return false;
      const auto few = static_cast<double>(cheap_.events_for(all));
      if (Known* one = near(torch::sigmoid(*theta), far_apart, few)) return ++one->met, true;
      MomentDescent whole(model_, model_.config(), context_, began_);
      if (!whole.polish(*theta)) return false;
      const auto many = static_cast<double>(model_.config().events_for(all));
      if (Known* one = near(torch::sigmoid(whole.theta()), far_apart, many))
        return ++one->met, true;
      // with the same random numbers as the best one, a difference of chi2 is mostly no chance
      if (whole.chi2() > chi2_here_ + allowed * (1 + all / many)) return true;
      if (Known* one = in_valley_of(torch::sigmoid(whole.theta()))) {
        ++one->met;
        if (whole.chi2() < one->chi2 - lower_in_valley) replace(*one, whole);
        return true;
      }
      Concluded found = conclude(model_, torch::sigmoid(whole.theta()), Conclude::moving);
      if (Known* one = near(found.unit, apart, 1e300)) return ++one->met, true;
      add(std::move(found), whole.chi2());
    } catch (const core::StateError&) {  // no events there: no minimum either
    }
    return true;
  }

  double best() const {
    double score = known_.front().minimum.solution.score;
    for (const Known& one : known_)
      if (!one.refused) score = std::min(score, one.minimum.solution.score);
    return score;
  }
  bool is_allowed(const Known& one) const {
    return !one.refused && one.minimum.solution.score < best() + allowed;
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
  std::vector<Known> known_;
  double chi2_here_ = 0;  ///< of the first minimum, with the numbers of a descent
};

}  // namespace

std::vector<Concluded> minima_around(const MomentModel& model, const SolveContext& context,
                                     MomentDescent::Clock::time_point began, Concluded first) {
  return Minima(model, context, began, std::move(first)).found();
}

}  // namespace sagips::optim
