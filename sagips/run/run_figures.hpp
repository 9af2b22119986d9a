#pragma once
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_directory.hpp"
#include "sagips/run/figure_writer.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/train/evaluate.hpp"

namespace sagips::run {

/// Draws the figures of a training run into its folder: residuals, losses and distances over time,
/// each observable against its data, what the parameters stand for, the pairs of proposed
/// parameters, the errors. Without gnuplot one warning says so and the run stands. proposals: [rows, parameters], physical. Returns the path of the
/// figure to look at first; empty: none
std::string draw_run_figures(const record::RunDirectory& folder, const Job& job,
                             const env::Environment& environment, const record::Results& results,
                             const torch::Tensor& proposals, const train::Evaluator& evaluator,
                             core::Log& log);

/// Begins the figures of a fit: each observable of the data against the pipeline at the recovered
/// parameters, what the parameters stand for with the errors' band, the errors, and where there are
/// several solutions these.
/// covariance: [free, free], physical; undefined: not known
void draw_fit_figures(FigureWriter& draw, const Job& job, const env::Environment& environment,
                      const record::Results& results, const torch::Tensor& covariance);

}  // namespace sagips::run
