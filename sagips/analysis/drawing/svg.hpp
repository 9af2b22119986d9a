#pragma once
#include <string>

namespace sagips::analysis::drawing {

/// gnuplot's SVG with fonts that every viewer has, without its empty groups, and with each of many
/// points in a tenth of the letters; it looks the same. What is not recognised stays as it is.
std::string tidy_svg(std::string svg);

}  // namespace sagips::analysis::drawing
