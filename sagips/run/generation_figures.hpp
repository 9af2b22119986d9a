#pragma once
#include <string>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"
#include "sagips/optim/adversarial/adversarial.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::run {

/// Draws losses and metrics over epochs, and, where examples are images, real ones beside those made for the
/// same conditions. rows: those kept aside. Returns the path of the first figure.
std::string draw_generation_figures(const record::RunDirectory& folder,
                                    const analysis::FigureConfig& config,
                                    const optim::Adversarial& learner,
                                    const data::ExampleRows& rows, core::Log& log);

}  // namespace sagips::run
