#pragma once
#include <string>

#include "sagips/analysis/drawing/key.hpp"
#include "sagips/analysis/figure.hpp"

namespace sagips::analysis::drawing {

enum class Format { svg, png, pdf };

/// The gnuplot commands and data that draw the figure on gnuplot's standard output.
std::string gnuplot_script(const Figure& figure, const Composition& composition, Format format);

}  // namespace sagips::analysis::drawing
