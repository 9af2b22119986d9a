#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figures/scaling.hpp"
#include "sagips/analysis/scaling.hpp"
#include "sagips/core/log.hpp"
#include "sagips/study/scaling/scaling_plan.hpp"
#include "sagips/study/simulated/simulate.hpp"

namespace sagips::study {

/// What tables and figures of a job's trainings call things.
analysis::ScalingWords words_of(const run::Job& job);

/// What the members of all ways say, in the order of the ways. Those without a member that is done are left out,
/// with a warning.
struct MembersSeen {
  std::vector<analysis::ScalingRow> rows;
  std::vector<analysis::MetricCurve> curves;
};
MembersSeen look_at_members(const run::Job& job, const WaysPlan& plan, const record::Study& study,
                            const std::string& folder, core::Log& log);

/// What is to be looked at beside a study's own trainings.
struct ScalingBeside {
  std::vector<analysis::ScalingRow> others;  ///< of other studies' folders
  std::vector<analysis::PublishedScaling> published;
};
/// throws: ConfigError, DataError for what cannot be read
ScalingBeside read_beside(const ScalingConfig& config);

/// Writes scaling.csv, tables and figures of them into the study's folder, `end.folder`. Nothing where no member is
/// done. simulated: nullptr without
void write_scaling(const run::Job& job, const MembersSeen& seen,
                   const SimulatedExchanges* simulated, const ScalingBeside& beside, StudyEnd& end,
                   core::Log& log);

}  // namespace sagips::study
