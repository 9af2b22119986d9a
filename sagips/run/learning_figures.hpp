#pragma once
#include <string>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"
#include "sagips/data/examples.hpp"
#include "sagips/optim/learn/losses.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::run {

/// Draws what a learning problem has found into its run folder: loss and metrics over epochs; of
/// classes the confusion matrix and the ROC curves; of values how far they are off.
/// predicted: of the validation rows, probabilities or values. Returns the path of the first figure.
std::string draw_learning_figures(const record::RunDirectory& folder,
                                  const analysis::FigureConfig& config, const optim::Loss& loss,
                                  const torch::Tensor& predicted, const data::ExampleSets& sets,
                                  core::Log& log);

}  // namespace sagips::run
