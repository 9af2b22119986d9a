#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/analysis/scaling.hpp"
#include "sagips/core/config/config.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/ways.hpp"

namespace sagips::study {

/// What `sagips scaling` measures.
struct ScalingConfig {
  enum class Mode { weak, strong, both };
  enum class Jobs { none, slurm };
  std::vector<std::int64_t> ranks = {1, 2, 4};
  std::vector<std::string> exchanges{};  ///< empty: that of the config
  Mode mode = Mode::weak;
  std::vector<std::string> launchers{};  ///< placements; empty: ensemble.launcher
  std::vector<std::int64_t> batches{};   ///< of one rank, beside that of the config
  std::vector<std::string> rates = {"none"};
  std::int64_t warm_up = 5;              ///< epochs
  std::int64_t repeats = 3;              ///< trainings of each way
  std::vector<std::int64_t> simulate{};  ///< numbers of ranks
  std::string metric{};                  ///< empty: early_stop.metric
  std::optional<double> target{};
  double price_per_hour = 0, power_W = 0;  ///< of a rank
  std::vector<std::string> beside{};       ///< folders of other scaling studies
  std::vector<std::string> published{};
  Jobs jobs = Jobs::none;

  void fields(core::FieldList& list);
};

/// The ways of training of a scaling study. Every way's config is read once, so that what is wrong with it is said before anything runs.
/// throws: ConfigError
WaysPlan plan_scaling(const run::Workloads& workloads, const std::string& source,
                      const std::vector<std::string>& assignments, const run::Job& job);

/// The metric that accuracy is measured by.
std::string scaling_metric(const run::Job& job);

}  // namespace sagips::study
