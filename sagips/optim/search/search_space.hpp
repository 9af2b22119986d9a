#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sagips::optim {

/// A point of the unit cube, one coordinate in (0, 1) for each dimension.
using Point = std::vector<double>;

/// One coordinate of a search space.
struct SearchDimension {
  std::int64_t values = 0;  ///< so many equal parts of (0, 1), each one value; 0: continuous
  bool ordered = true;      ///< whether values that are neighbours are alike
  /// The dimension on whose values it depends whether this one counts. It comes before this one.
  std::optional<std::size_t> parent{};
  std::vector<std::int64_t> counts_at{};  ///< of the parent's values
};

/// What the coordinates of points mean.
class SearchSpace {
 public:
  explicit SearchSpace(std::size_t continuous = 1) : dimensions_(continuous) {}
  explicit SearchSpace(std::vector<SearchDimension> dimensions)
      : dimensions_(std::move(dimensions)) {}

  std::size_t size() const { return dimensions_.size(); }
  const SearchDimension& operator[](std::size_t dimension) const { return dimensions_[dimension]; }
  /// Whether all are numbers that always count.
  bool is_numeric() const;
  /// Which of its values a coordinate stands for.
  std::int64_t value(const Point& point, std::size_t dimension) const;
  bool counts(const Point& point, std::size_t dimension) const;
  /// The same settings at one place: in the middle of values, and at 0.5 where nothing counts.
  Point placed(Point point) const;
  /// How many different points there are at most; infinite with a continuous dimension.
  double points() const;

 private:
  std::vector<SearchDimension> dimensions_;
};

}  // namespace sagips::optim
