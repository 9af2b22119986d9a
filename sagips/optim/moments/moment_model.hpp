#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/optim/moments/event_features.hpp"
#include "sagips/optim/moments/moments_config.hpp"
#include "sagips/optim/moments/simulations.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// Thrown in place of a simulation that nobody waits for any more: time is up, or somebody interrupts.
struct OutOfTime : core::Error {
  OutOfTime() : core::Error("out of time") {}
};

/// How far a pipeline's mean features are from those of the data, as residuals whose sum of squares
/// is a chi2: the features' differences whitened by their covariance in the data, and the reference
/// numbers' relative deviations.
///
/// Every parameter vector of a call sees the same random numbers; calls that name the same number of
/// events and the same repetition, too.
/// throws: OutOfTime where the context says so and no other rank waits for this one
class MomentModel {
 public:
  /// Takes seed, place and add_up of the context.
  MomentModel(const env::Environment& environment, const MomentsConfig& config,
              const SolveContext& context);

  /// The residuals, without a graph.
  /// shape: unit [points, free] -> [points, residuals]
  torch::Tensor residuals(const torch::Tensor& unit, std::int64_t events,
                          std::int64_t repetition = 0) const;
  /// d residuals / d unit at one point, by central differences of the form that makes events. steps: a basis,
  /// one a row; they end before the ends of the ranges
  /// shapes: unit [free], steps [free, free] -> [residuals, free]
  torch::Tensor jacobian(const torch::Tensor& unit, const torch::Tensor& steps, std::int64_t events,
                         std::int64_t repetition = 0) const;
  /// Where a descent should go: the same of the training form, as the config asks for it. That form is
  /// smooth where a cut drops events one by one, but does not say what events tell.
  torch::Tensor descent_jacobian(const torch::Tensor& unit, std::int64_t events) const;
  /// Say what will be asked for: simulators that have nothing else to do begin with it.
  void expect_residuals(const torch::Tensor& unit, std::int64_t events,
                        std::int64_t repetition = 0) const;
  void expect_jacobian(const torch::Tensor& unit, const torch::Tensor& steps, std::int64_t events,
                       std::int64_t repetition = 0) const;
  void expect_descent_jacobian(const torch::Tensor& unit, std::int64_t events) const;
  /// Simulations that the pipelines can do at a time, in this process alone.
  std::int64_t at_a_time() const { return simulations_.at_a_time(); }
  /// chi2 of the two forms' difference for the same random numbers; 0 where both are one.
  /// shape: unit [free]
  double distance_of_forms(const torch::Tensor& unit, std::int64_t events) const;
  /// The steps that the config asks for, one a parameter. shape: [free, free]
  torch::Tensor first_steps() const;

  /// Replaces the features' covariance in the data by that of simulated events at a point. Where a
  /// pipeline cannot describe the data, the covariance says which differences count: with the
  /// model's the answer is that of maximum likelihood, if the features span the density's slopes.
  void weigh_at(const torch::Tensor& unit, std::int64_t events);

  /// How much the residuals of data from a point fluctuate along some directions: the unit matrix where
  /// `weigh_at` was, if the directions are orthonormal.
  /// shapes: unit [free]; directions [residuals, count] -> [count, count]
  torch::Tensor covariance_along(const torch::Tensor& directions, const torch::Tensor& unit,
                                 std::int64_t events) const;

  /// How many of the events that all ranks simulate at a point count, in the channel where most are lost: the
  /// pipeline may drop events, or weigh them. NaN where none counts. shape: unit [free]
  double events_kept(const torch::Tensor& unit, std::int64_t events) const;
  /// Simulated events that a covariance of features needs: with fewer its inverse scatters.
  static constexpr double events_a_feature = 20;
  /// Events that simulations need of the channel with the most features.
  double needed_events() const;
  /// Products of observables that are not used, since data are too few or these too many.
  std::int64_t features_left_out() const;

  /// How much the residuals of such data fluctuate, where events count differently: the model's events have no
  /// such weights, of which some may go with what is measured, or be negative. Undefined: as much as 1.
  /// shape: [residuals, residuals]
  torch::Tensor data_covariance() const;

  const MomentsConfig& config() const { return config_; }
  double data_events() const { return data_events_; }  ///< effective, of the largest channel
  std::int64_t size() const { return residuals_; }
  std::int64_t evaluations() const { return evaluations_; }
  const env::ParameterSet& parameters() const { return environment_.parameters; }
  /// Sobol points all over the ranges, the same on every rank. shape: [count, free], unit
  torch::Tensor points_in_ranges(std::int64_t count) const;

 private:
  enum class Form { inference, training };
  struct Target {
    std::unique_ptr<EventFeatures> features;
    torch::Tensor mean;       ///< of the data. shape: [features]
    torch::Tensor used;       ///< indices of features that enough events have. [used]
    torch::Tensor whitening;  ///< sqrt(N) L', W = L L'. shape: [kept, features]
    double events = 0;        ///< effective number
    torch::Tensor scatter;    ///< of the mean, where some events count more than others
    std::vector<std::string> reference_names;
    std::vector<double> references;
    std::int64_t noise_dimensions = 0, features_left_out = 0;
  };

  /// EventFeatures::sums of all ranks.
  torch::Tensor sums(const Target& target, const torch::Tensor& events,
                     const torch::Tensor& weights) const;
  Target target(const env::Channel& channel) const;
  std::pair<torch::Tensor, torch::Tensor> wide_sample(const env::Channel& channel) const;
  std::vector<ObservableScale> scales(const env::Channel& channel) const;
  std::vector<Categories> categories(const env::Channel& channel) const;
  std::pair<torch::Tensor, torch::Tensor> rows_at(std::size_t channel, const torch::Tensor& unit,
                                                  std::int64_t events) const;
  torch::Tensor simulate(const Target& target, const env::Channel& channel,
                         const torch::Tensor& physical, std::int64_t events,
                         std::int64_t repetition, Form form) const;
  torch::Tensor simulated(std::size_t channel, const torch::Tensor& physical, std::int64_t events,
                          std::int64_t repetition, Form form) const;
  std::uint64_t key_of(std::size_t channel, const torch::Tensor& physical, std::int64_t events,
                       std::int64_t repetition, Form form) const;
  void expect(const torch::Tensor& unit, std::int64_t events, std::int64_t repetition,
              Form form) const;
  torch::Tensor compare(const torch::Tensor& physical, std::int64_t events, std::int64_t repetition,
                        Form form, bool in_graph = false) const;
  torch::Tensor differences(const torch::Tensor& unit, const torch::Tensor& steps,
                            std::int64_t events, std::int64_t repetition, Form form) const;
  torch::Tensor along(const torch::Tensor& unit, const torch::Tensor& steps, std::int64_t events,
                      std::int64_t repetition, Form form) const;
  torch::Tensor automatic(const torch::Tensor& unit, std::int64_t events) const;
  std::shared_ptr<const env::NoiseSource> noise(const Target& target, const env::Channel& channel,
                                                std::int64_t events, std::int64_t repetition) const;
  void add_up(torch::Tensor& numbers) const;
  void count_residuals();

  const env::Environment& environment_;
  MomentsConfig config_;
  SolveContext context_;
  double ranks_;  ///< of the job
  std::vector<Target> targets_;
  double data_events_ = 0;
  std::int64_t residuals_ = 0;
  mutable std::atomic<std::int64_t> evaluations_ = 0;
  mutable std::mutex noise_mutex_;
  mutable std::map<std::string, std::shared_ptr<const env::NoiseSource>> kept_noise_;
  mutable Simulations simulations_;  ///< last: what it has begun uses the others
};

}  // namespace sagips::optim
