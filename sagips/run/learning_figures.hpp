#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"
#include "sagips/optim/learn/losses.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::run {

/// Draws what a learning problem has found into its run folder: loss and metrics over epochs; of
/// classes the confusion matrix and the ROC curves; of values how far they are off.
/// predicted: of the validation rows, probabilities or values; targets: theirs; classes: the names of as
/// many as have one. Returns the path of the first figure.
std::string draw_learning_figures(const record::RunDirectory& folder,
                                  const analysis::FigureConfig& config, const optim::Loss& loss,
                                  const torch::Tensor& predicted, const torch::Tensor& targets,
                                  const std::vector<std::string>& classes, core::Log& log);

}  // namespace sagips::run
