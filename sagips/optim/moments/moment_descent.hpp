#pragma once
#include <chrono>
#include <cstdint>
#include <limits>

#include "sagips/data/torch.hpp"
#include "sagips/optim/moments/moment_model.hpp"
#include "sagips/optim/moments/moments_config.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// The sum, infinite where a number is not finite.
double sum_of_squares(const torch::Tensor& numbers);

/// Levenberg-Marquardt steps on Q = share chi2 / 2 + prior, level by level.
///
/// At a level the data count as so many events; a prior around the middle of the ranges holds until
/// all of them count. It leads along curved valleys and out of corners.
/// source: Marquardt, J. SIAM 11 (1963) 431; docs/physics/moments.md
/// throws: StateError where the pipeline gives nothing finite at the start
class MomentDescent {
 public:
  using Clock = std::chrono::steady_clock;

  MomentDescent(const MomentModel& model, const MomentsConfig& config, const SolveContext& context,
                Clock::time_point began)
      : model_(model), config_(config), context_(context), began_(began) {}

  /// Descends level by level; false: out of time, or interrupted. shape: start [free], logit
  bool from(torch::Tensor start);
  /// Descends at the last level alone. shape: start [free], logit
  bool polish(torch::Tensor start);

  const torch::Tensor& theta() const { return theta_; }
  double chi2() const { return chi2_; }  ///< at theta, all data counting

  static constexpr double longest_step = 1.5;  ///< of a logit
  static constexpr double largest_logit =
      12;  ///< beyond it a parameter sits at an end of its range

 private:
  bool out_of_time() const;
  double prior(const torch::Tensor& theta) const;
  torch::Tensor pull() const;
  torch::Tensor moved(const torch::Tensor& move) const;
  double score(const torch::Tensor& theta, torch::Tensor& residuals) const;
  bool level(double count);
  bool steps_of(double count);
  double improve(double best, torch::Tensor& residuals);
  void visit() const;

  const MomentModel& model_;
  const MomentsConfig& config_;
  const SolveContext& context_;
  Clock::time_point began_;
  torch::Tensor theta_;
  double share_ = 1, damping_ = 1, chi2_ = std::numeric_limits<double>::infinity();
  bool has_prior_ = false;
  std::int64_t events_ = 0;  ///< simulated at a point
};

}  // namespace sagips::optim
