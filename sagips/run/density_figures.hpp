#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/parameter.hpp"
#include "sagips/problem/workload.hpp"

namespace sagips::run {

/// What the workload's parameters stand for, one figure an axis: mean and 16 to 84 % of the samples,
/// and the truth where it is known. Empty where the workload names no densities.
/// samples: [rows, parameters], physical; band_label: what they are, e.g. "proposals"
std::vector<analysis::Figure> density_figures(const problem::Workload& workload,
                                              const env::ParameterSet& parameters,
                                              const torch::Tensor& samples,
                                              const std::string& band_label);

/// Parameter vectors that scatter as the errors of an estimate say, inside the parameters' ranges.
/// covariance: [free, free], physical; undefined: one vector, the values themselves
/// shape: [rows, parameters]
torch::Tensor vectors_within_errors(const env::ParameterSet& parameters,
                                    const std::vector<double>& values,
                                    const torch::Tensor& covariance, std::uint64_t seed);

}  // namespace sagips::run
