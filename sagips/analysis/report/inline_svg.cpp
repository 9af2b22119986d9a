#include "sagips/analysis/report/inline_svg.hpp"

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>

#include "sagips/analysis/report/html.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::report {
namespace {

/// Colours of our figures and the names that the page's style sheet has for them.
struct NamedColour {
  unsigned rgb;
  const char* name;
};
constexpr std::array colours{
    NamedColour{0x333333, "--figure-text"}, NamedColour{0x8c8c8c, "--figure-axis"},
    NamedColour{0xececec, "--figure-grid"}, NamedColour{0xffffff, "--paper"},
    NamedColour{0x000000, "--black"},       NamedColour{0x0072b2, "--blue"},
    NamedColour{0xd55e00, "--vermillion"},  NamedColour{0x009e73, "--green"},
    NamedColour{0xcc79a7, "--purple"},      NamedColour{0xe69f00, "--orange"},
    NamedColour{0x56b4e9, "--sky"},         NamedColour{0x7f7f7f, "--grey"}};

constexpr double least_scale = 0.7;  // below it texts are too small: the figure scrolls instead

std::optional<std::string> page_colour(unsigned rgb) {
  for (const NamedColour& colour : colours)
    if (colour.rgb == rgb) return std::string("var(") + colour.name + ")";
  return std::nullopt;
}

/// "rgb( 51, 51, 51)" or "#333333" at the beginning of a text: its page colour, and its length.
struct Found {
  std::string colour;
  std::size_t length = 0;
};
std::optional<Found> colour_at(const std::string& text, std::size_t at) {
  unsigned red = 0, green = 0, blue = 0, rgb = 0;
  int length = 0;
  if (text[at] == 'r') {
    if (std::sscanf(text.c_str() + at, "rgb(%u ,%u ,%u )%n", &red, &green, &blue, &length) < 3 ||
        length == 0)
      return std::nullopt;
    rgb = red << 16 | green << 8 | blue;
  } else {
    if (std::sscanf(text.c_str() + at, "#%6x%n", &rgb, &length) < 1 || length != 7)
      return std::nullopt;
  }
  const auto colour = page_colour(rgb);
  if (!colour) return std::nullopt;
  return Found{*colour, static_cast<std::size_t>(length)};
}

/// Only in attributes: what stands between tags is text.
std::string with_page_colours(const std::string& svg) {
  std::string result;
  result.reserve(svg.size());
  bool in_tag = false;
  for (std::size_t i = 0; i < svg.size();) {
    if (svg[i] == '<') in_tag = true;
    if (svg[i] == '>') in_tag = false;
    const bool may_be_colour = in_tag && i > 0 && (svg[i - 1] == '"' || svg[i - 1] == '\'') &&
                               (svg[i] == '#' || svg.compare(i, 4, "rgb(") == 0);
    const auto found = may_be_colour ? colour_at(svg, i) : std::nullopt;
    result += found ? found->colour : std::string(1, svg[i]);
    i += found ? found->length : 1;
  }
  return result;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

void cut(std::string& text, const std::string& begin, const std::string& end) {
  const auto first = text.find(begin);
  const auto last = text.find(end, first);
  if (first != std::string::npos && last != std::string::npos)
    text.erase(first, last + end.size() - first);
}

bool could_run(const std::string& content) {
  const std::string svg = core::in_small_letters(content);
  for (const char* sign : {"<script", "<foreignobject", "javascript:", "<iframe", "<image", "<a ",
                           " onload", " onclick", " onerror", " onmouse", " onbegin", " onfocus",
                           "<animate", "<set", "<!", "url(http", "href=\"http", "href='http"})
    if (svg.find(sign) != std::string::npos) return true;
  return false;
}

std::string attribute(const std::string& svg, const std::string& name) {
  const auto at = svg.find(" " + name + "=\"");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 3;
  return svg.substr(begin, svg.find('"', begin) - begin);
}

/// gnuplot's point shapes and names; only figures that use them keep them.
void settle_names(std::string& body, const std::string& prefix) {
  const auto shapes_end = body.find("</defs>");
  const bool shapes_used =
      shapes_end != std::string::npos && body.find("<use", shapes_end) != std::string::npos;
  if (!shapes_used) cut(body, "<defs>", "</defs>");
  for (const char* quote : {"'", "\""}) {
    replace_all(body, std::string(" id=") + quote, std::string(" id=") + quote + prefix);
    replace_all(body, std::string("href=") + quote + "#",
                std::string("href=") + quote + "#" + prefix);
  }
  replace_all(body, "url(#", "url(#" + prefix);
}

}  // namespace

std::string inline_svg(const std::string& svg, const std::string& prefix,
                       const std::string& label) {
  const auto begin = svg.find("<svg"), head_end = svg.find('>', begin), end = svg.rfind("</svg>");
  if (begin == std::string::npos || head_end == std::string::npos || end == std::string::npos ||
      end < head_end)
    return {};
  const std::string box = attribute(svg.substr(begin, head_end - begin), "viewBox");
  std::string body = svg.substr(head_end + 1, end - head_end - 1);
  double width = 0;
  if (std::sscanf(box.c_str(), "%*f %*f %lf", &width) != 1 || !(width > 0) || could_run(body))
    return {};
  cut(body, "<title>", "</title>");
  cut(body, "<desc>", "</desc>");
  cut(body, "<rect x=\"0\" y=\"0\"", "/>");  // the page is the background
  settle_names(body, prefix);
  return "<svg viewBox=\"" + escape(box) + "\" role=\"img\" aria-label=\"" + escape(label) +
         "\" style=\"max-width:" + std::to_string(static_cast<int>(width)) +
         "px;min-width:" + std::to_string(static_cast<int>(least_scale * width)) + "px\">" +
         with_page_colours(body) + "</svg>\n";
}

}  // namespace sagips::analysis::report
