#include "sagips/analysis/drawing/svg.hpp"

#include <optional>
#include <string_view>

#include "sagips/core/text.hpp"

namespace sagips::analysis::drawing {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// gnuplot 5.4 writes the weight into the family's name; and viewers that lack the family should
/// take another one without serifs.
void correct_fonts(std::string& svg) {
  const std::string families = "\"DejaVu Sans, Verdana, Helvetica, sans-serif\"";
  replace_all(svg, "font-family=\"DejaVu Sans:Bold\"",
              "font-family=" + families + " font-weight=\"bold\"");
  replace_all(svg, "font-family=\"DejaVu Sans\"", "font-family=" + families);
}

/// Between the two marks, from `at` on, which moves behind the second one.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  const auto begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto end = text.find(after, begin + before.size());
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin + before.size(), end - begin - before.size());
}

/// A filled circle as gnuplot writes it: <use xlink:href='#gpPt6' transform='...' color='...'/>
struct Dot {
  double x = 0, y = 0, radius = 0;
  std::string paint;  ///< what its neighbours must share to stand in one group
};

std::optional<Dot> dot_of(std::string_view line) {
  if (line.find("<use xlink:href='#gpPt6' transform='translate(") == std::string_view::npos)
    return std::nullopt;
  const auto place = between(line, "translate(", ")"), scale = between(line, "scale(", ")"),
             colour = between(line, "color='", "'"), opacity = between(line, "opacity='", "'");
  if (!place || !scale || !colour) return std::nullopt;
  const auto comma = place->find(',');
  Dot dot;
  if (comma == std::string_view::npos || !core::parse_number(place->substr(0, comma), dot.x) ||
      !core::parse_number(place->substr(comma + 1), dot.y) ||
      !core::parse_number(*scale, dot.radius))
    return std::nullopt;
  dot.paint = core::text("<g fill=\"none\" stroke-linecap=\"round\" stroke=\"", *colour,
                         "\" stroke-opacity=\"", opacity.value_or("1"), "\" stroke-width=\"",
                         core::significant(2 * dot.radius, 3), "\">\n");
  return dot;
}

/// Dots become strokes without length, whose round ends are dots; a path each, so that pale ones
/// that overlap stay darker.
std::string with_short_dots(std::string_view svg) {
  std::string result, paint;
  while (!svg.empty()) {
    const auto end = std::min(svg.find('\n'), svg.size() - 1) + 1;
    const std::string_view line = svg.substr(0, end);
    svg.remove_prefix(end);
    const std::optional<Dot> dot = dot_of(line);
    const std::string next = dot ? dot->paint : std::string();
    if (next != paint) result += (paint.empty() ? "" : "</g>\n") + next;
    paint = next;
    if (dot)
      result += core::text("<path d=\"M", core::fixed(dot->x, 1), " ", core::fixed(dot->y, 1),
                           "h0\"/>\n");
    else
      result += line;
  }
  return result;
}

/// Removes what lies between the last `begin` before each `content` and the first `end` after it.
std::string without(std::string_view svg, std::string_view begin, std::string_view content,
                    std::string_view end) {
  std::string result;
  for (;;) {
    const auto middle = svg.find(content);
    const auto first = svg.rfind(begin, middle), last = svg.find(end, middle);
    if (middle == std::string_view::npos || first == std::string_view::npos ||
        last == std::string_view::npos)
      return result += svg;
    result += svg.substr(0, first);
    svg.remove_prefix(last + end.size());
  }
}

/// The size on paper; coordinates stay those of the layout.
void set_size(std::string& svg, double scale) {
  for (const std::string name : {"width", "height"}) {
    const auto size = between(svg, core::text(" ", name, "=\""), "\"");
    double pixels = 0;
    if (scale == 1 || !size || !core::parse_number(*size, pixels)) continue;
    svg.replace(static_cast<std::size_t>(size->data() - svg.data()), size->size(),
                core::fixed(scale * pixels, 3));
  }
}

}  // namespace

std::string tidy_svg(std::string svg, double scale) {
  correct_fonts(svg);
  set_size(svg, scale);
  svg = without(svg, "<g transform=", "<text></text>", "</g>");
  svg = without(svg, "<g fill=", "stroke-linejoin=\"miter\">\n</g>", "</g>\n");
  return with_short_dots(svg);
}

}  // namespace sagips::analysis::drawing
