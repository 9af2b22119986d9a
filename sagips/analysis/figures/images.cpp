#include "sagips/analysis/figures/images.hpp"

#include <algorithm>
#include <limits>

#include "sagips/core/error.hpp"

namespace sagips::analysis {

namespace {

constexpr double gap = 1;  // between images [pixels of theirs]

}  // namespace

Figure image_rows(const std::vector<std::pair<std::string, std::vector<Image>>>& rows) {
  if (rows.empty() || rows[0].second.empty()) throw core::Error("figure: there are no images.");
  const Image& first = rows[0].second[0];
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (const auto& [name, images] : rows)
    for (const Image& image : images) {
      if (image.width != first.width || image.values.size() != first.values.size())
        throw core::Error("figure: images differ in size. Give equal ones.");
      const auto [low, high] = std::minmax_element(image.values.begin(), image.values.end());
      lowest = std::min(lowest, *low), highest = std::max(highest, *high);
    }
  const auto width = static_cast<double>(first.width);
  const double height = static_cast<double>(first.values.size()) / width;
  Figure figure;
  for (const auto& [name, images] : rows) {
    Series squares{.style = Series::Style::squares};
    for (std::size_t i = 0; i < images.size(); ++i)
      for (std::size_t k = 0; k < images[i].values.size(); ++k) {
        const double share = (images[i].values[k] - lowest) / std::max(highest - lowest, 1e-300);
        squares.add(static_cast<double>(i) * (width + gap) + static_cast<double>(k % first.width),
                    height - 1 - static_cast<double>(k / first.width));
        squares.values.push_back(share);
        squares.texts.emplace_back(" ");
      }
    const double end = static_cast<double>(images.size()) * (width + gap) - gap;
    figure.panels.push_back({.title = name,
                             .x = {.lowest = -0.5, .highest = end - 0.5, .tick_labels = false},
                             .y = {.lowest = -0.5, .highest = height - 0.5, .tick_labels = false},
                             .series = {std::move(squares)}});
  }
  constexpr double pixel = 10;
  const double all = static_cast<double>(rows[0].second.size()) * (width + gap);
  figure.width = static_cast<int>(60 + pixel * all);
  figure.height = static_cast<int>((60 + pixel * height) * static_cast<double>(rows.size()));
  return figure;
}

}  // namespace sagips::analysis
