#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"
#include "sagips/optim/learn/losses.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::run {

/// Draws what a learning problem has found into its run folder: loss and metrics over epochs; of
/// classes the confusion matrix and the ROC curves; of values how far they are off.
/// rows: those kept aside, without outputs where there are none; names: of classes or targets, of as many as have one.
/// Returns the path of the first figure.
std::string draw_learning_figures(const record::RunDirectory& folder,
                                  const analysis::FigureConfig& config, const optim::Loss& loss,
                                  const optim::Prediction& rows,
                                  const std::vector<std::string>& names, core::Log& log);

}  // namespace sagips::run
