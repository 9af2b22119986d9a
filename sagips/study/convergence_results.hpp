#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/convergence/variant.hpp"
#include "sagips/core/log.hpp"
#include "sagips/study/convergence.hpp"
#include "sagips/study/convergence_plan.hpp"

namespace sagips::study {

/// Free parameters with a truth that is not zero, and their floors.
std::vector<analysis::Target> convergence_targets(const run::Job& job,
                                                  const env::Environment& environment,
                                                  core::Log& log);

/// Looks at the members that are done, writes convergence.csv, scaling.csv, the tables and figures into
/// the study's folder. A variant without such a member is left out with a warning.
ConvergenceEnd write_convergence(const run::Job& job, const std::string& folder,
                                 const ConvergencePlan& plan, const record::Study& study,
                                 const std::vector<analysis::Target>& targets, core::Log& log);

}  // namespace sagips::study
