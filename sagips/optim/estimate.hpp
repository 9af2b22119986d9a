#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/data/numbers.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/parameter.hpp"

namespace sagips::optim {

/// How far an interval of 68 % reaches on either side of its value.
struct AsymmetricError {
  double below = 0, above = 0;
};

/// A point with errors, as users read it: all parameters in physical units; a fixed one has error 0.
struct Estimate {
  std::vector<double> values;
  std::vector<double> errors;  ///< NaN for a parameter that the data leave open
  /// Errors from the profile, where it is no parabola; they end at the ends of the range. All
  /// parameters
  std::vector<std::optional<AsymmetricError>> asymmetric;
  torch::Tensor covariance;  ///< [free, free], physical; of the directions that the data fix
  /// One-sided, at 95 %, where an end of the range lies within two errors: the value is above the
  /// lower limit, or below the upper one. All parameters.
  std::vector<std::optional<double>> lower_limits, upper_limits;
  std::vector<bool> open;                    ///< the data do not fix it. All parameters
  std::vector<std::string> open_directions;  ///< "a - 0.5 b": moving along it changes no event
  std::vector<core::Warning> warnings;       ///< why values or errors are to be doubted

  /// The error of parameter `i` on the side of `value`.
  double error_towards(std::size_t i, double value) const;
  /// The largest of a parameter's error and both sides; NaN for one that is open.
  double largest_error(std::size_t i) const;
};

/// The least distance of a parameter to an end of its range, on the unit scale.
inline constexpr double closest_to_end = 1e-6;

/// Where the free parameters' ranges end on the unit scale, so far inside. A periodic one ends nowhere.
struct RangeEnds {
  torch::Tensor low, high;  ///< [free]

  explicit RangeEnds(const env::ParameterSet& parameters);
  /// Ranges that all end. free: how many
  explicit RangeEnds(std::int64_t free);
  torch::Tensor inside(const torch::Tensor& unit) const { return unit.clamp(low, high); }
};

/// What an information matrix leaves uncertain, on the unit scale.
struct Uncertainty {
  torch::Tensor covariance;  ///< of the directions that are fixed. [free, free]
  torch::Tensor open;        ///< unit vectors. [directions, free]
};

/// A basis of the directions that k constraints leave free. shape: [k, free] -> [free, free - k]
torch::Tensor unconstrained_directions(const torch::Tensor& constraints);

/// Directions along which an error would be longer than the whole range count as open.
/// shapes: information [free, free], on the unit scale; constraints [k, free], what is known exactly,
///         or nothing, k = 0
Uncertainty uncertainty_of(const torch::Tensor& information, const torch::Tensor& constraints);

/// `minimum`: where the parabola has its minimum, which may lie beyond the ranges; the limits take it
/// shapes: unit, minimum [free]
Estimate estimate_at(const env::ParameterSet& parameters, const torch::Tensor& unit,
                     const torch::Tensor& minimum, const Uncertainty& uncertainty);

/// How far chi2, or -2 ln L, has grown above its minimum where one free parameter has a value on the
/// unit scale and the others follow, within their ranges; NaN where nothing is found.
/// vague: parameters that may lie anywhere in their ranges, so that they do not follow along a valley
using ProfileGrowth = std::function<double(std::int64_t parameter, double value,
                                           const std::vector<std::int64_t>& vague)>;

/// Where a parameter has a value and the others follow along a minimum's valley, within the ranges.
/// shapes: from [free], unit scale; covariance [free, free] -> [free]
torch::Tensor in_valley(const torch::Tensor& from, const torch::Tensor& covariance,
                        std::int64_t parameter, double value, const RangeEnds& ends);

/// Whether chi2, or -2 ln L, is a parabola along each parameter's valley: an error away on either side, and
/// within the ranges, its root has grown by 1 within a tenth.
/// growth: [points, free] -> [points]
std::vector<bool> like_parabolas(const torch::Tensor& unit, const torch::Tensor& covariance,
                                 const RangeEnds& ends,
                                 const std::function<torch::Tensor(const torch::Tensor&)>& growth);

/// Puts the intervals and limits of a profile into an estimate, for free parameters that are not
/// `parabolic`. errors: of the parabola, on the unit scale; a stated error that is another (by the chance
/// of a simulation, by weights) makes intervals and limits wider by the same factor. A corner of the ranges cuts a
/// side to nearly nothing where another parameter is at its end; a side is at least half the error, and ends
/// at the end of its own range. Where sides are not those of a parabola, and chi2 has not grown by 4 three of
/// them away, a warning says how far 95 % reach.
///
/// An open parameter, alone in its direction, gets an interval where chi2 grows farther away. A `faint` one, whose
/// signal may be none, becomes open where it is one look-alike among others: nowhere in the whole range does the
/// profile rise above what chance reaches. The others are profiled again then.
/// faint: of the free parameters; nothing: none
/// shapes: unit, errors [free]
void add_profile(Estimate& estimate, const env::ParameterSet& parameters, const torch::Tensor& unit,
                 const torch::Tensor& errors, const std::vector<bool>& parabolic,
                 const ProfileGrowth& growth, const std::vector<bool>& faint = {});

/// A place on the unit scale where a free parameter vanishes, or its range ends, within four errors of its value: what
/// it is the size of may not be there.
struct Vanishing {
  std::int64_t parameter;
  double unit;
};
std::vector<Vanishing> vanishing(const Estimate& estimate, const env::ParameterSet& parameters);

/// Parameters whose ranges are nearer to what was found, where a range is so much wider than an error that
/// steps and distances to its ends, which are parts of it, say nothing; or wider again where what was found
/// has run into an end that `now` has put there. Nothing where no range is to be changed.
std::optional<env::ParameterSet> better_ranges(const env::ParameterSet& whole,
                                               const env::ParameterSet& now, const Estimate& found);

/// A warning that names the range for each parameter whose error is too small for it still.
void warn_of_wide_ranges(Estimate& estimate, const env::ParameterSet& parameters);

/// The numbers of those coordinates among `movable` that no end of a range holds: at an end where
/// the slope leads out of the range a coordinate stays, since otherwise a long step along a valley
/// would leave others held in its place.
/// source: Bertsekas, SIAM J. Control Optim. 20 (1982) 221
torch::Tensor held_by_no_end(const torch::Tensor& unit, const torch::Tensor& slope,
                             const torch::Tensor& movable, const RangeEnds& ends);

/// The step to the minimum of a parabola within the ranges: a coordinate that would leave them stays at
/// the end, and only those that `movable` names move.
/// shapes: information [free, free]; slope (its half gradient), unit [free]; movable: numbers
torch::Tensor step_in_ranges(const torch::Tensor& information, const torch::Tensor& slope,
                             const torch::Tensor& unit, torch::Tensor movable,
                             const RangeEnds& ends);

/// "directions are not identifiable ... moving along (a - 0.5 b) changes ...", or nothing.
std::string describe_open_directions(const std::vector<std::string>& directions);

using data::numbers_of;

/// A copy that can be differentiated by, float64.
torch::Tensor differentiable(const torch::Tensor& theta);

/// d vector / d variable, a row for each element; zeros where nothing depends on the variable.
/// shapes: vector [n] in a graph of variable [m] -> [n, m]
torch::Tensor jacobian_of(const torch::Tensor& vector, const torch::Tensor& variable);

/// Covariance of the logits from a physical one. Close to an end of a range, where a logit says
/// nothing any more, that of 5 % of the range away from it. shapes: theta [free]; [free, free]
torch::Tensor logit_covariance(const env::ParameterSet& parameters, const torch::Tensor& theta,
                               const torch::Tensor& covariance);

}  // namespace sagips::optim
