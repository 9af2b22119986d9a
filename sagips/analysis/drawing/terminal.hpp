#pragma once
#include <string>

#include "sagips/analysis/drawing/script.hpp"
#include "sagips/analysis/figure.hpp"

namespace sagips::analysis::drawing {

/// The command that sets terminal, size and font. A pixel is 1/96 inch, or the figure's scale times
/// that.
std::string terminal_command(const Figure& figure, Format format);

/// By how much a picture in this format is larger than its layout.
double magnification(const Figure& figure, Format format);

/// Six hexadecimal digits.
const char* hex(Colour colour);

/// The colour of a square as a number for gnuplot: white at 0, towards blue at 1 and vermillion at
/// -1; grey for what is no number.
long square_colour(double value);

/// What stands in a square: two decimals, a true minus sign.
std::string square_text(double value);

}  // namespace sagips::analysis::drawing
