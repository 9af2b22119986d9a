#include "sagips/analysis/drawing/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sagips/analysis/drawing/layout.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::drawing {

using core::round_trip;
using core::text;

// pngcairo and pdfcairo count font sizes in points of 4/3 pixels, svg in pixels; pdfcairo 5.4 writes
// them a third too large.
std::string terminal_command(const Figure& figure, Format format) {
  const double larger = magnification(figure, format);
  const double points = font_size * 0.75 * larger;
  const auto set = [](const char* name, const std::string& size, double font) {
    return text("set terminal ", name, " size ", size, " font 'DejaVu Sans,", round_trip(font),
                "' noenhanced background '#ffffff'");
  };
  const double width = figure.width * larger, height = figure.height * larger;
  const std::string pixels = text(std::lround(width), ",", std::lround(height));
  switch (format) {
    case Format::png:
      return set("pngcairo", pixels, points) + " linewidth " + round_trip(larger);
    case Format::pdf:
      return set("pdfcairo", text(round_trip(width / 96), "in,", round_trip(height / 96), "in"),
                 points) +
             " fontscale 0.75 linewidth " + round_trip(1.5 * larger);
    case Format::svg:
      break;
  }
  return set("svg", pixels, font_size);
}

double magnification(const Figure& figure, Format format) {
  if (format == Format::svg) return 1;  // its head says how large it is on paper
  return figure.scale * (format == Format::png ? figure.dots_per_inch / 96.0 : 1);
}

const char* hex(Colour colour) {
  switch (colour) {
    case Colour::blue:
      return "0072B2";
    case Colour::vermillion:
      return "D55E00";
    case Colour::green:
      return "009E73";
    case Colour::purple:
      return "CC79A7";
    case Colour::orange:
      return "E69F00";
    case Colour::sky:
      return "56B4E9";
    case Colour::grey:
      return "7F7F7F";
    case Colour::black:
    case Colour::automatic:
      break;
  }
  return "000000";
}

long square_colour(double value) {
  if (!std::isfinite(value)) return 0xECECEC;
  constexpr std::array blue{0x00, 0x72, 0xB2}, vermillion{0xD5, 0x5E, 0x00};
  const auto& full = value < 0 ? vermillion : blue;
  const double share = 0.6 * std::min(1.0, std::abs(value));
  long colour = 0;
  for (const int part : full) colour = colour * 256 + std::lround(255 + share * (part - 255));
  return colour;
}

std::string square_text(double value) {
  if (!std::isfinite(value)) return "–";
  return (value < 0 ? "−" : "") + core::fixed(std::abs(value), 2);
}

}  // namespace sagips::analysis::drawing
