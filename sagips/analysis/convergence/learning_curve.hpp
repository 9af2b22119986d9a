#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sagips/record/snapshots.hpp"

namespace sagips::analysis {

/// A parameter whose truth is known and not zero: what predictions of it are measured by.
struct Target {
  std::string name;
  double truth = 1;
  std::optional<double> floor{};  ///< Cramer-Rao, relative to the truth
};

/// The learning curve of one member of an ensemble: what it predicted while it trained, by time.
using MemberLearningCurve = std::vector<record::Snapshot>;

/// Residual and spread of an ensemble against accumulated training time.
///
/// Members save snapshots at times of their own. At a time t each one's predictions are linear
/// between its snapshots before and after t, noise vector by noise vector; a member that has
/// finished keeps its last ones, since they remain its answer. The times are even, from the moment
/// every member has its first snapshot to the last snapshot of all.
/// source: SAGIPS paper, eq. (6) to (8), averaged over noise vectors; Sec. VI-C2
struct EnsembleLearningCurve {
  struct TargetCurve {
    std::vector<double> residual, spread;  ///< relative to the truth, one a time
  };
  std::vector<Target> targets;
  std::vector<double> time_s;              ///< rising
  std::vector<TargetCurve> target_curves;  ///< one a target
  /// Residual of each member alone. shape: [members][times][targets]
  std::vector<std::vector<std::vector<double>>> member_residuals;
};

/// throws: Error when there is no member, one has no snapshot, or they do not fit together (other
///         parameters, other numbers of noise vectors)
EnsembleLearningCurve ensemble_learning_curve(std::span<const MemberLearningCurve> members,
                                              const std::vector<Target>& targets,
                                              std::size_t times = 101);

/// How far residuals are from 0, all parameters together: root of their mean square, each in units
/// of its floor. An efficient estimate is 1 away on average. Where a floor is missing, in units of
/// the truth instead.
double distance(std::span<const double> residuals, const std::vector<Target>& targets);

/// The ensemble's distance at each time.
std::vector<double> distances(const EnsembleLearningCurve& curve);

/// The same measure of the spreads.
std::vector<double> spreads(const EnsembleLearningCurve& curve);

/// The unit in which tables and figures show a distance.
struct DistanceUnit {
  double scale = 1;  ///< shown number = distance * scale
  std::string label;
  double floor = 0;  ///< what the data allow, shown; 0: not known
};
DistanceUnit distance_unit(const std::vector<Target>& targets);

}  // namespace sagips::analysis
