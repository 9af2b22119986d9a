#pragma once
#include <string>

namespace sagips::analysis::drawing {

/// gnuplot's SVG with fonts that every viewer has, without its empty groups, and with each of many
/// points in a tenth of the letters; it looks the same. What is not recognised stays as it is.
/// scale: what a pixel is on paper [1/96 inch]
std::string tidy_svg(std::string svg, double scale = 1);

}  // namespace sagips::analysis::drawing
