#include "sagips/optim/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

constexpr double range_error = 1;         // on the unit scale: an error of all that was allowed
constexpr double part_of_open = 0.01;     // of a parameter's square in open directions
constexpr double close_to_end = 2;        // errors
constexpr double least_side = 0.5;        // of an error
constexpr double first_reach = 0.125;     // of the range, where no error is known
constexpr double two_errors = 4;          // chi2: 95 %
constexpr double flat_after = 3;          // errors: a parabola has grown by 9
constexpr double alike = 0.1;             // of an error: sides that are a parabola's
constexpr double nearly_all = 0.95;       // of a range
constexpr double error_for_range = 1e-4;  // less of a range: it is too wide
constexpr double one_sided = 2.706;       // 1.645^2: 95 % of a normal distribution lie below 1.645

// Widths of the free parameters' ranges, physical. shape: [free]
torch::Tensor widths(const env::ParameterSet& parameters) {
  std::vector<double> all;
  for (const std::size_t i : parameters.free())
    all.push_back(parameters.all()[i].high - parameters.all()[i].low);
  return torch::tensor(all, torch::kFloat64);
}

// "p_1 - 0.5 p_2": a direction in physical units, its largest part 1. direction: on the unit scale, where parts are
// large or small whatever their units
std::string words_of(const env::ParameterSet& parameters, const torch::Tensor& direction) {
  constexpr double negligible = 0.01;
  const double whole = direction.abs().max().item<double>();
  const std::vector<double> moves = numbers_of(direction / whole),
                            parts = numbers_of(direction * widths(parameters));
  double largest = 0;
  for (const double part : parts)  // the first of several alike, whatever rounding says
    if (std::abs(part) > std::abs(largest) * (1 + 1e-6)) largest = part;
  std::string words;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double part = parts[i] / largest;
    if (std::abs(moves[i]) < negligible) continue;
    if (words.empty())
      words = part < 0 ? "-" : "";
    else
      words += part < 0 ? " - " : " + ";
    if (std::abs(part) < 1 - negligible) words += core::significant(std::abs(part), 2) + " ";
    words += parameters.all()[parameters.free()[i]].name;
  }
  return words;
}

// As many directions as parameters are these, whatever the directions are that an algorithm has found.
std::vector<std::string> words_of_open(const env::ParameterSet& parameters,
                                       const torch::Tensor& directions,
                                       const std::vector<bool>& is_open) {
  std::vector<std::string> words;
  for (const std::size_t i : parameters.free())
    if (is_open[i]) words.push_back(parameters.all()[i].name);
  if (static_cast<std::int64_t>(words.size()) == directions.size(0)) return words;
  words.clear();
  for (std::int64_t k = 0; k < directions.size(0); ++k)
    words.push_back(words_of(parameters, directions[k]));
  return words;
}

// On the unit scale, from a value to the end of its range, or to the other side of its circle.
double room_of(const env::Parameter& parameter, double at, double direction) {
  if (parameter.periodic) return 0.5;
  return direction > 0 ? 1 - at : at;
}

// How far from `at` a profile grows to `level`, at most through that room.
double reach(const std::function<double(double)>& growth, double at, double direction, double room,
             double error, double level) {
  constexpr int tries = 10;
  constexpr double close_enough = 0.01;  // of the square root of the level
  const double end = std::max(0.0, room - 1.01 * closest_to_end);
  double inside = 0, outside = std::numeric_limits<double>::infinity();
  double ratio_inside = 0, ratio_outside = 0;
  double distance = std::min(error * std::sqrt(level), end);
  for (int i = 0; i < tries && distance > 0; ++i) {
    const double found = growth(at + direction * distance);
    const double ratio = std::isfinite(found) ? std::sqrt(std::max(found, 0.0) / level) : 2;
    if (std::abs(ratio - 1) < close_enough) break;
    (ratio < 1 ? inside : outside) = distance;
    (ratio < 1 ? ratio_inside : ratio_outside) = ratio;
    if (inside >= end) break;
    double next = distance / std::clamp(ratio, 0.4, 2.5);
    if (std::isfinite(outside)) {
      const double margin = 0.1 * (outside - inside);
      next = inside + (outside - inside) * (1 - ratio_inside) / (ratio_outside - ratio_inside);
      next = std::clamp(next, inside + margin, outside - margin);
    }
    distance = std::min(next, end);
  }
  return std::max(distance, 0.0);
}

// Whether a profile rises nowhere, three sides away, above what the largest of as many chances reaches as
// intervals have place in the range: then a place is one look-alike among others, and its interval need not
// hold the truth.
// source: Gross and Vitells, Eur. Phys. J. C 70 (2010) 525
bool is_flat(const std::function<double(double)>& growth, double at, double below, double above,
             double down, double up) {
  constexpr int points = 8;
  const double level = 1 + 2 * std::log(std::max(1.0, (down + up) / (below + above)));
  int far = 0;
  for (int i = 0; i <= points; ++i) {  // the ends first
    const double share = i % 2 == 0 ? 0.5 * i / points : 1 - 0.5 * (i - 1) / points;
    const double away =
        std::clamp(share, 2 * closest_to_end, 1 - 2 * closest_to_end) * (down + up) - down;
    if (away < 0 ? -away < flat_after * below : away < flat_after * above) continue;
    ++far;
    if (!(growth(at + away) < level)) return false;
  }
  return far > 0;
}

// From the minimum of a parabola, or from the end of the range where that comes first: a value beyond
// it is excluded when -2 ln L has grown by 2.71.
double limit_distance(double minimum, double end, double error) {
  const double beyond = std::max(0.0, end - minimum);
  return std::sqrt(beyond * beyond + one_sided * error * error);
}

}  // namespace

RangeEnds::RangeEnds(std::int64_t free)
    : low(torch::full({free}, closest_to_end, torch::kFloat64)), high(1 - low) {}

RangeEnds::RangeEnds(const env::ParameterSet& parameters) : RangeEnds(parameters.free_size()) {
  constexpr double nowhere = std::numeric_limits<double>::infinity();
  low = low.masked_fill(parameters.periodic(), -nowhere);
  high = high.masked_fill(parameters.periodic(), nowhere);
}

torch::Tensor differentiable(const torch::Tensor& theta) {
  return theta.detach().to(torch::kFloat64).clone().requires_grad_();
}

torch::Tensor jacobian_of(const torch::Tensor& vector, const torch::Tensor& variable) {
  std::vector<torch::Tensor> rows;
  for (std::int64_t i = 0; i < vector.size(0); ++i) {
    const auto row = torch::autograd::grad({vector[i]}, {variable}, {}, true, false, true)[0];
    rows.push_back(row.defined() ? row : torch::zeros_like(variable));
  }
  return rows.empty() ? torch::zeros({0, variable.size(0)}, torch::kFloat64) : torch::stack(rows);
}

torch::Tensor logit_covariance(const env::ParameterSet& parameters, const torch::Tensor& theta,
                               const torch::Tensor& covariance) {
  constexpr double away = 0.05;
  const torch::Tensor unit = torch::sigmoid(theta).clamp(away, 1 - away);
  const torch::Tensor slope = unit * (1 - unit) * widths(parameters);
  return covariance / slope.unsqueeze(0) / slope.unsqueeze(1);
}

double Estimate::error_towards(std::size_t i, double value) const {
  if (i >= asymmetric.size() || !asymmetric[i]) return errors[i];
  return value < values[i] ? asymmetric[i]->below : asymmetric[i]->above;
}

double Estimate::largest_error(std::size_t i) const {
  return std::max({errors[i], error_towards(i, values[i] - 1), error_towards(i, values[i] + 1)});
}

torch::Tensor unconstrained_directions(const torch::Tensor& constraints) {
  if (constraints.size(0) == 0) return torch::eye(constraints.size(1), torch::kFloat64);
  const auto [u, s, vh] = torch::linalg_svd(constraints, /*full_matrices=*/true);
  return vh.slice(0, constraints.size(0)).t();
}

Uncertainty uncertainty_of(const torch::Tensor& information, const torch::Tensor& constraints) {
  const torch::Tensor basis = unconstrained_directions(constraints);
  if (basis.size(1) == 0)  // as many constraints as parameters leave nothing uncertain
    return {torch::zeros_like(information),
            torch::zeros({0, information.size(0)}, torch::kFloat64)};
  const auto [values, vectors] = torch::linalg_eigh(basis.t().matmul(information).matmul(basis));
  const torch::Tensor directions = basis.matmul(vectors);
  const torch::Tensor fixed = values > 1 / (range_error * range_error);
  const torch::Tensor spared =
      torch::where(fixed, values.clamp_min(1e-12).reciprocal(), torch::zeros_like(values));
  return {directions.matmul(torch::diag(spared)).matmul(directions.t()),
          directions.t().index({fixed.logical_not()})};
}

Estimate estimate_at(const env::ParameterSet& parameters, const torch::Tensor& unit,
                     const torch::Tensor& minimum, const Uncertainty& uncertainty) {
  Estimate estimate;
  const auto count = static_cast<std::size_t>(parameters.size());
  const torch::Tensor width = widths(parameters);
  estimate.values = numbers_of(parameters.physical_from_unit(unit));
  estimate.covariance = uncertainty.covariance * width.unsqueeze(0) * width.unsqueeze(1);
  estimate.errors.assign(count, 0.0);
  estimate.asymmetric.resize(count);
  estimate.open.assign(count, false);
  estimate.lower_limits.resize(count);
  estimate.upper_limits.resize(count);
  const std::vector<double> errors =
      numbers_of(uncertainty.covariance.diagonal().clamp_min(0).sqrt());
  const std::vector<double> in_open = numbers_of(uncertainty.open.square().sum(0));
  const std::vector<double> at = numbers_of(unit), best = numbers_of(minimum);
  for (std::size_t i = 0; i < parameters.free().size(); ++i) {
    const std::size_t index = parameters.free()[i];
    const env::Parameter& parameter = parameters.all()[index];
    const double range = parameter.high - parameter.low;
    estimate.open[index] = in_open[i] > part_of_open;
    estimate.errors[index] =
        estimate.open[index] ? std::numeric_limits<double>::quiet_NaN() : errors[i] * range;
    if (estimate.open[index] || errors[i] == 0 || parameter.periodic) continue;
    const double upper = best[i] + limit_distance(best[i], 0, errors[i]),
                 lower = best[i] - limit_distance(-best[i], -1, errors[i]);
    if (at[i] < close_to_end * errors[i] && upper < 1)
      estimate.upper_limits[index] = parameter.low + upper * range;
    if (at[i] > 1 - close_to_end * errors[i] && lower > 0)
      estimate.lower_limits[index] = parameter.low + lower * range;
  }
  estimate.open_directions = words_of_open(parameters, uncertainty.open, estimate.open);
  return estimate;
}

torch::Tensor in_valley(const torch::Tensor& from, const torch::Tensor& covariance,
                        std::int64_t parameter, double value, const RangeEnds& ends) {
  torch::Tensor point = from.clone();
  constexpr double known = 1e-6;  // of an open parameter a row is noise
  if (const torch::Tensor variance = covariance[parameter][parameter];
      variance.item<double>() > known * known)
    point = ends.inside(from + covariance[parameter] / variance * (value - from[parameter]));
  point[parameter] = value;
  return point;
}

std::vector<bool> like_parabolas(const torch::Tensor& unit, const torch::Tensor& covariance,
                                 const RangeEnds& ends,
                                 const std::function<torch::Tensor(const torch::Tensor&)>& growth) {
  constexpr double close = 0.1;  // of an error
  const std::int64_t free = unit.size(0);
  const torch::Tensor errors = covariance.diagonal().clamp_min(1e-300).sqrt();
  const torch::Tensor moves = covariance / errors.unsqueeze(1);
  const torch::Tensor wanted = torch::cat({unit + moves, unit - moves});
  const torch::Tensor points = ends.inside(wanted);
  const torch::Tensor fine = ((growth(points).clamp_min(0).sqrt() - 1).abs() < close)
                                 .logical_and((points - wanted).abs().amax(1) < 1e-9);
  std::vector<bool> all;
  for (std::int64_t i = 0; i < free; ++i)
    all.push_back(fine[i].item<bool>() && fine[free + i].item<bool>());
  return all;
}

std::vector<Vanishing> vanishing(const Estimate& estimate, const env::ParameterSet& parameters) {
  constexpr double seen = 4;  // errors
  std::vector<Vanishing> found;
  for (std::size_t k = 0; k < parameters.free().size(); ++k) {
    const std::size_t i = parameters.free()[k];
    const env::Parameter& parameter = parameters.all()[i];
    if (parameter.periodic || estimate.open[i]) continue;
    for (const double place : {parameter.low, 0.0, parameter.high})
      if (place >= parameter.low && place <= parameter.high &&
          std::abs(estimate.values[i] - place) < seen * estimate.errors[i])
        found.push_back({static_cast<std::int64_t>(k),
                         std::clamp((place - parameter.low) / (parameter.high - parameter.low),
                                    closest_to_end, 1 - closest_to_end)});
  }
  return found;
}

namespace {

// The profile of one free parameter.
class Profile {
 public:
  Profile(Estimate& estimate, const env::ParameterSet& parameters, std::size_t number, double at,
          std::function<double(double)> growth)
      : estimate_(estimate),
        index_(parameters.free()[number]),
        place_(static_cast<std::int64_t>(number)),
        parameter_(parameters.all()[index_]),
        range_(parameter_.high - parameter_.low),
        at_(at),
        down_(room_of(parameter_, at, -1)),
        up_(room_of(parameter_, at, 1)),
        growth_(std::move(growth)) {}

  // elsewhere: another parameter may take this one away from its valley
  void add(double error, bool is_parabola, bool is_faint, bool elsewhere) {
    is_parabola = is_parabola && !elsewhere;
    if (!(error > 0) || (is_parabola && !is_faint)) return;
    error_ = error;
    wider_ = estimate_.errors[index_] / (error * range_);
    const double least = least_side * wider_ * error;
    const double below = is_parabola ? wider_ * error
                                     : std::clamp(side(-1, 1), std::min(least, down_), down_),
                 above = is_parabola ? wider_ * error
                                     : std::clamp(side(1, 1), std::min(least, up_), up_);
    if (is_whole(below, above)) return leave_open({});
    if (is_faint && is_flat(growth_, at_, below, above, down_, up_))
      return leave_open(
          core::text(parameter_.name,
                     " is not fixed: wherever it lies, chi2 grows by no more than chance reaches "
                     "somewhere in its range (a signal so faint has look-alikes)"));
    if (elsewhere) ask_for_limits(below, above);
    if (!is_parabola) state(below, above);
  }

  // Slopes say nothing of it, but chi2 may grow farther away.
  void close() {
    error_ = first_reach;
    const double below = side(-1, 1), above = side(1, 1);
    if (is_whole(below, above)) return;
    estimate_.open[index_] = false;
    std::erase(estimate_.open_directions, parameter_.name);
    estimate_.errors[index_] = (below + above) / 2 * range_;
    error_ = (below + above) / 2;
    estimate_.covariance = estimate_.covariance.clone();
    estimate_.covariance.select(0, place_).fill_(0);
    estimate_.covariance.select(1, place_).fill_(0);
    estimate_.covariance[place_][place_] = std::pow(estimate_.errors[index_], 2);
    ask_for_limits(below, above);
    state(below, above);
  }

 private:
  double side(double direction, double level) const {
    return wider_ * reach(growth_, at_, direction, direction > 0 ? up_ : down_, error_, level);
  }

  // Such an interval says nothing.
  bool is_whole(double below, double above) const {
    return below + above > nearly_all * (down_ + up_);
  }

  // Where an end of the range lies within two sides; `state` finds them.
  void ask_for_limits(double below, double above) {
    if (parameter_.periodic) return;
    if (at_ < close_to_end * below) estimate_.upper_limits[index_] = parameter_.high;
    if (1 - at_ < close_to_end * above) estimate_.lower_limits[index_] = parameter_.low;
  }

  void leave_open(const std::string& warning) {
    estimate_.open[index_] = true;
    estimate_.errors[index_] = std::numeric_limits<double>::quiet_NaN();
    estimate_.lower_limits[index_].reset();
    estimate_.upper_limits[index_].reset();
    if (warning.empty())
      estimate_.open_directions.push_back(parameter_.name);
    else
      estimate_.warnings.push_back({"not-fixed", warning});
  }

  void state(double below, double above) {
    estimate_.asymmetric[index_] = {below * range_, above * range_};
    const auto unlike = [&](double one) { return std::abs(one / (wider_ * error_) - 1) > alike; };
    if (unlike(below) || unlike(above)) {
      warn_if_flat(-1, below, down_);
      warn_if_flat(1, above, up_);
    }
    if (estimate_.upper_limits[index_]) {
      const double upper = at_ + side(1, one_sided);
      estimate_.upper_limits[index_].reset();
      if (upper < 1 - 2 * closest_to_end)
        estimate_.upper_limits[index_] = parameter_.low + upper * range_;
    }
    if (estimate_.lower_limits[index_]) {
      const double lower = at_ - side(-1, one_sided);
      estimate_.lower_limits[index_].reset();
      if (lower > 2 * closest_to_end)
        estimate_.lower_limits[index_] = parameter_.low + lower * range_;
    }
  }

  void warn_if_flat(double direction, double one, double room) {
    if (flat_after * one > room ||
        !(growth_(at_ + direction * flat_after * one / wider_) < two_errors))
      return;
    const double two = std::min(side(direction, two_errors), room);
    estimate_.warnings.push_back(
        {"flat-profile",
         core::text("the 95 % interval of ", parameter_.name, " reaches ",
                    direction > 0 ? "up" : "down", " to ",
                    core::significant(parameter_.low + (at_ + direction * two) * range_, 3),
                    two < 0.999 * room ? "" : " (its range ends there)",
                    ", more than three of its errors (chi2 flattens there). State this end, not "
                    "twice the error")});
  }

  Estimate& estimate_;
  std::size_t index_;
  std::int64_t place_;
  const env::Parameter& parameter_;
  double range_, at_, down_, up_, error_ = 0;  ///< unit scale, but the range
  double wider_ = 1;                           ///< a stated error than that of the parabola
  std::function<double(double)> growth_;
};

}  // namespace

void add_profile(Estimate& estimate, const env::ParameterSet& parameters, const torch::Tensor& unit,
                 const torch::Tensor& errors, const std::vector<bool>& parabolic,
                 const ProfileGrowth& growth, const std::vector<bool>& faint) {
  std::vector<std::int64_t> vague;
  const auto found_open = [&](const Estimate& now) {  // since it was asked last
    const std::size_t known = vague.size();
    for (std::size_t k = 0; k < parabolic.size(); ++k)
      if (const auto place = static_cast<std::int64_t>(k);
          now.open[parameters.free()[k]] &&
          std::find(vague.begin(), vague.end(), place) == vague.end())
        vague.push_back(place);
    return vague.size() > known;
  };
  found_open(estimate);
  // of several open ones with as many directions each may have its own
  const bool are_alone = vague.size() == estimate.open_directions.size();
  Estimate found;
  for (const bool again : {true, false}) {
    found = estimate;
    for (std::size_t k = 0; k < parabolic.size(); ++k) {
      const auto place = static_cast<std::int64_t>(k);
      const env::Parameter& parameter = parameters.all()[parameters.free()[k]];
      Profile one(found, parameters, k, unit[place].item<double>(),
                  [&](double value) { return growth(place, value, vague); });
      if (!estimate.open[parameters.free()[k]])
        one.add(errors[place].item<double>(), parabolic[k], !faint.empty() && faint[k], !again);
      else if (are_alone &&
               std::find(estimate.open_directions.begin(), estimate.open_directions.end(),
                         parameter.name) != estimate.open_directions.end())
        one.close();
    }
    // the others were profiled as if it stayed in its valley
    if (!again || !found_open(found)) break;
  }
  estimate = std::move(found);
}

std::optional<env::ParameterSet> better_ranges(const env::ParameterSet& whole,
                                               const env::ParameterSet& now,
                                               const Estimate& found) {
  constexpr double room = 1000;  // errors on either side: a first error may be far too small
  constexpr double run_into_end = 0.01;  // of the range
  std::vector<env::Parameter> parameters = now.all();
  bool is_other = false;
  for (const std::size_t i : now.free()) {
    const env::Parameter& all = whole.all()[i];
    env::Parameter& parameter = parameters[i];
    parameter.truth.reset();  // may lie outside
    parameter.toy.reset();
    if (parameter.periodic) continue;
    const double value = found.values[i], range = parameter.high - parameter.low;
    const double place = (value - parameter.low) / range, error = found.largest_error(i);
    const bool has_run = (parameter.low > all.low && place < run_into_end) ||
                         (parameter.high < all.high && place > 1 - run_into_end);
    if (!has_run && !(error < error_for_range * range)) continue;
    const double width = has_run ? 10 * range : room * error;
    parameter.low = std::max(all.low, value - width);
    parameter.high = std::min(all.high, value + width);
    is_other = parameter.low < parameter.high;
    if (!is_other) return std::nullopt;
  }
  if (!is_other) return std::nullopt;
  return env::ParameterSet(std::move(parameters));
}

void warn_of_wide_ranges(Estimate& estimate, const env::ParameterSet& parameters) {
  for (const std::size_t i : parameters.free()) {
    const env::Parameter& parameter = parameters.all()[i];
    const double range = parameter.high - parameter.low;
    if (parameter.periodic || !(estimate.largest_error(i) < error_for_range * range)) continue;
    estimate.warnings.push_back(
        {"wide-range",
         core::text("the range of ", parameter.name, ", ", core::significant(parameter.low, 3),
                    " to ", core::significant(parameter.high, 3), ", is ",
                    core::significant(range / estimate.largest_error(i), 2),
                    " times its error (too wide to be searched: values and errors may be far off). "
                    "Narrow it")});
  }
}

torch::Tensor held_by_no_end(const torch::Tensor& unit, const torch::Tensor& slope,
                             const torch::Tensor& movable, const RangeEnds& ends) {
  constexpr double at_end = 0.5 * closest_to_end;
  const torch::Tensor held = (unit < ends.low + at_end)
                                 .logical_and(slope > 0)
                                 .logical_or((unit > ends.high - at_end).logical_and(slope < 0));
  return movable.index({held.index_select(0, movable).logical_not()});
}

torch::Tensor step_in_ranges(const torch::Tensor& information, const torch::Tensor& slope,
                             const torch::Tensor& unit, torch::Tensor movable,
                             const RangeEnds& ends) {
  torch::Tensor step = torch::zeros_like(unit);
  movable = held_by_no_end(unit, slope, movable, ends);
  while (movable.numel() > 0) {
    const torch::Tensor held = step.index_fill(0, movable, 0);
    const torch::Tensor left = (slope + information.matmul(held)).index_select(0, movable);
    const torch::Tensor covariance =
        uncertainty_of(information.index_select(0, movable).index_select(1, movable),
                       torch::zeros({0, movable.numel()}, torch::kFloat64))
            .covariance;
    step = held.index_copy(0, movable, -covariance.matmul(left));
    const torch::Tensor there = unit + step;
    const torch::Tensor outside = torch::maximum(ends.low - there, there - ends.high);
    const std::int64_t worst = outside.argmax().item<std::int64_t>();
    if (outside[worst].item<double>() < 1e-12) break;
    step[worst] = ends.inside(there)[worst] - unit[worst];
    movable = movable.index({movable != worst});
  }
  return step;
}

std::string describe_open_directions(const std::vector<std::string>& directions) {
  if (directions.empty()) return {};
  std::vector<std::string> words;
  for (const std::string& direction : directions) words.push_back("(" + direction + ")");
  return core::text(directions.size() == 1 ? "a direction is" : "directions are",
                    " not identifiable from these data, moving along ", core::join(words, " or "),
                    " changes no event's probability by what could be seen");
}

}  // namespace sagips::optim
