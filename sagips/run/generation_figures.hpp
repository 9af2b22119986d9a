#pragma once
#include <cstdint>
#include <string>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"
#include "sagips/optim/adversarial/adversarial.hpp"
#include "sagips/problem/learning.hpp"
#include "sagips/record/run_directory.hpp"

namespace sagips::run {

/// What a generation problem has to show at its end.
struct GenerationShown {
  const optim::Adversarial& learner;
  const data::ExampleRows& rows;  ///< those kept aside
  const problem::ExampleSource& source;
  const problem::ExampleComparison* comparison =
      nullptr;                  ///< of all these rows; null: there is none
  std::int64_t best_epoch = 0;  ///< whose networks these are; 0: the last
};

/// Draws losses and metrics over epochs, and, where examples are images or have views, real ones beside those
/// made for the same conditions; then the comparison. Returns the path of the first figure.
std::string draw_generation_figures(const record::RunDirectory& folder,
                                    const analysis::FigureConfig& config,
                                    const GenerationShown& shown, core::Log& log);

}  // namespace sagips::run
