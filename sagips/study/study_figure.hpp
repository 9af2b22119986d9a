#pragma once
#include <string>

#include "sagips/analysis/figure.hpp"
#include "sagips/core/log.hpp"

namespace sagips::study {

/// Draws into `folder`/figures/; a warning in the log where that cannot be done, since a picture
/// never costs a study its results. Returns the picture's path, empty: none.
std::string draw_figure(const analysis::Figure& figure, const analysis::FigureConfig& config,
                        const std::string& folder, const std::string& name, core::Log& log);

}  // namespace sagips::study
