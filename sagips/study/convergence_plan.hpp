#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sagips/analysis/convergence/variant.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/plan.hpp"

namespace sagips::study {

/// What `sagips convergence` trains. Variants of the study stand in the same order.
struct ConvergencePlan {
  StudyPlan study;
  std::vector<analysis::ConvergenceVariant> variants;  ///< without what their members did
  std::vector<std::size_t> variant_of;                 ///< by member

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
