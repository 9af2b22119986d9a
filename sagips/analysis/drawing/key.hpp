#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sagips/analysis/drawing/layout.hpp"
#include "sagips/analysis/figure.hpp"

namespace sagips::analysis::drawing {

/// One line of a key: a sample of the curve and what it is.
struct KeyEntry {
  std::string label;
  Series::Style style = Series::Style::line;
  Colour colour = Colour::black;
  bool has_error_bars = false;
  Series::Mark mark = Series::Mark::disc;
  Point place;                       ///< left end of the sample, pixels
  std::vector<std::string> lines{};  ///< of the label
};

inline constexpr double key_sample_width = 26;  ///< pixels
inline constexpr double key_sample_gap = 7;     ///< pixels

/// A layout with all keys placed in it.
struct Composition {
  Layout layout;
  std::vector<KeyEntry> keys;
};

/// The colour of each series of a panel, automatic ones resolved.
std::vector<Colour> series_colours(const Panel& panel);

/// Lays the figure out and finds room for the keys: one above all panels when several panels
/// explain the same things; else inside each panel, in a corner that nothing crosses, or above it.
Composition compose(const Figure& figure);

}  // namespace sagips::analysis::drawing
