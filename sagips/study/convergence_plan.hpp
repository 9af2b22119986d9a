#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/analysis/convergence/variant.hpp"
#include "sagips/core/config/config.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/ways.hpp"

namespace sagips::study {

/// Which trainings `sagips convergence` compares.
struct ConvergenceConfig {
  enum class Batch { each, divided, both };
  std::vector<std::string> exchanges = {"all_reduce", "arar", "arar_arar", "rma_arar_arar"};
  std::int64_t ranks = 4;                     ///< of each member
  std::int64_t members = 5;                   ///< of each variant
  std::vector<std::int64_t> outer_periods{};  ///< h of the SAGIPS paper, Tab. I; empty: no scan
  std::vector<std::int64_t> over_ranks{};     ///< numbers of ranks; empty: no scan
  Batch batch = Batch::each;                  ///< of the scan over ranks
  std::int64_t redrawn = 300;                 ///< ensembles for the uncertainty of a stop
  void fields(core::FieldList& list);
};

/// What `sagips convergence` trains.
struct ConvergencePlan : WaysPlan {
  std::vector<analysis::ConvergenceVariant> variants;  ///< by way, without what their members did

  /// Variants that are looked at together, by number.
  struct Group {
    std::string name;  ///< of its figures: "exchanges", "outer_period_arar_arar"
    std::vector<std::size_t> variants;
    std::vector<std::string> labels;  ///< in this group
  };
  std::vector<Group> comparisons;     ///< exchanges, then outer periods
  std::vector<Group> batch_scalings;  ///< one rank, then most ranks with a divided batch
};

/// Every variant's config is read once, so that what is wrong with it is said before anything runs.
/// throws: ConfigError
ConvergencePlan plan_convergence(const run::Workloads& workloads, const std::string& source,
                                 const std::vector<std::string>& assignments, const run::Job& job);

}  // namespace sagips::study
