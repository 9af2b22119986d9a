#pragma once
#include <string>

namespace sagips::analysis::report {

/// A picture of `write_figure` as it stands inside a page: as wide as there is room, in the page's
/// colours (light and dark), its names made unique by `prefix`.
/// label: what it shows, for those who cannot see it
/// Empty when the text is no SVG, or one that could run something.
std::string inline_svg(const std::string& svg, const std::string& prefix, const std::string& label);

}  // namespace sagips::analysis::report
