#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"

namespace sagips::analysis::report {

/// What stands below a figure.
struct Caption {
  std::string title, text{};
};

/// The figures of a report as they stand in the page, and, where wanted, as files beside it.
class Gallery {
 public:
  /// folder: every figure is kept there, too, as SVG, PNG, PDF and CSV; empty: nowhere. It is made.
  /// config: how wide those are that it draws itself
  explicit Gallery(std::string folder, const FigureConfig& config = {});

  /// Draws a figure. name: of its files, unique in the report
  std::string draw(const std::string& name, const Figure& figure, const Caption& caption);
  /// A figure that was drawn already, by the path of its files without ending.
  std::string take(const std::string& name, const std::string& stem, const Caption& caption);
  /// A figure that stands in the page as a table: only its files.
  void keep(const std::string& name, const Figure& figure);
  /// A table of numbers that goes with the figures: NAME.csv in the folder.
  void keep(const std::string& name, const std::string& csv);

 private:
  std::string shown(const std::string& name, const std::string& svg, const Caption& caption);
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  FigureConfig config_;
  int count_ = 0;
};

/// What a figure of that name in a run folder shows.
Caption caption_of(const std::string& name);

}  // namespace sagips::analysis::report
