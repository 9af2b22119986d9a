#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/ensemble.hpp"
#include "sagips/analysis/figures/over_time.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/study.hpp"

namespace sagips::study {

/// What a variant's members predict, for the noise vectors that all of them have in common: from the
/// last snapshot of each, else from its generator_samples.npy; a member that was finished by moments counts
/// with its answer alone. Ranks of a member are averaged there already.
/// truth: by parameter; fixed parameters get none, since they have no residual
/// throws: DataError where a member's files cannot be used
analysis::Ensemble predictions_of(const std::string& study_folder,
                                  const std::vector<const record::StudyMember*>& members,
                                  const std::vector<record::ParameterResult>& parameters);

/// What members have written of their trainings, for a picture of all; one whose file cannot be read is left
/// out with a warning.
std::vector<analysis::RunLearningCurve> learning_curves_of(
    const std::string& study_folder, const std::vector<const record::StudyMember*>& members,
    core::Log& log);

/// Mean over members of the standard deviation over noise vectors, by parameter: how far the
/// generators have contracted.
std::vector<double> contraction(const analysis::Ensemble& ensemble);

}  // namespace sagips::study
