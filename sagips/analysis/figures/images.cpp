#include "sagips/analysis/figures/images.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {

namespace {

using Rows = std::vector<std::pair<std::string, std::vector<Image>>>;

constexpr double least_gap = 1,
                 gap_share = 0.12;  // between images [pixels of theirs, of their width]
constexpr double decades = 4, pixel = 10;

/// Where a value stands between white, 0, and blue, 1.
struct Scale {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  bool is_logarithmic = false;

  double operator()(double value) const {
    if (is_logarithmic)
      return value > 0 ? std::max(0.0, 1 + std::log10(value / highest) / decades) : 0.0;
    return (value - lowest) / std::max(highest - lowest, 1e-300);
  }
  std::string title() const {
    if (!is_logarithmic) return "";
    return core::text("logarithmic, from white at ",
                      core::significant(highest * std::pow(10, -decades), 2), " to blue at ",
                      core::significant(highest, 2));
  }
};

Scale scale_of(const Rows& rows, bool is_logarithmic) {
  if (rows.empty() || rows[0].second.empty()) throw core::Error("figure: there are no images.");
  const Image& first = rows[0].second[0];
  Scale scale{.is_logarithmic = is_logarithmic};
  for (const auto& [name, images] : rows)
    for (const Image& image : images) {
      if (image.width != first.width || image.values.size() != first.values.size())
        throw core::Error("figure: images differ in size. Give equal ones.");
      const auto [low, high] = std::minmax_element(image.values.begin(), image.values.end());
      scale.lowest = std::min(scale.lowest, *low);
      scale.highest = std::max(scale.highest, *high);
    }
  return scale;
}

}  // namespace

Figure image_rows(const Rows& rows, bool is_logarithmic) {
  const Scale scale = scale_of(rows, is_logarithmic);
  const std::size_t across = rows[0].second[0].width;
  const auto width = static_cast<double>(across);
  const double gap = std::max(least_gap, std::round(gap_share * width));
  const double height = static_cast<double>(rows[0].second[0].values.size()) / width;
  Figure figure{.title = scale.title()};
  for (const auto& [name, images] : rows) {
    Series squares{.style = Series::Style::squares};
    for (std::size_t i = 0; i < images.size(); ++i)
      for (std::size_t k = 0; k < images[i].values.size(); ++k) {
        const double colour = scale(images[i].values[k]);
        if (is_logarithmic && colour == 0) continue;  // most of them, as white as the paper
        const std::size_t row = k / across;
        squares.add(static_cast<double>(i) * (width + gap) + static_cast<double>(k % across),
                    height - 1 - static_cast<double>(row));
        squares.values.push_back(colour);
        squares.texts.emplace_back(" ");
      }
    const double end = static_cast<double>(images.size()) * (width + gap) - gap;
    figure.panels.push_back({.title = name,
                             .x = {.lowest = -0.5, .highest = end - 0.5, .tick_labels = false},
                             .y = {.lowest = -0.5, .highest = height - 0.5, .tick_labels = false},
                             .series = {std::move(squares)}});
  }
  const double all = static_cast<double>(rows[0].second.size()) * (width + gap);
  figure.width = static_cast<int>(60 + pixel * all);
  figure.height = static_cast<int>((60 + pixel * height) * static_cast<double>(rows.size()));
  if (is_logarithmic) figure.height += 40;
  return figure;
}

}  // namespace sagips::analysis
