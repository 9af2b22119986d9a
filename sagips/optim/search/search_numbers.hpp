#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sagips/core/random.hpp"
#include "sagips/optim/search/search_space.hpp"

namespace sagips::optim {

/// One random number after the other, for choices whose number is not known beforehand.
class SearchNumbers {
 public:
  explicit SearchNumbers(core::RandomStream stream) : stream_(stream) {}

  double uniform();  ///< in (0, 1)
  double normal();   ///< mean 0, deviation 1
  std::size_t below(std::size_t bound);
  /// Every coordinate anywhere.
  Point point(std::size_t dimensions);

 private:
  core::RandomStream stream_;
  std::uint32_t drawn_ = 0;
};

/// Points that fill the cube evenly, however many are taken: scrambled Sobol points.
Point even_point(std::size_t number, std::size_t dimensions, const core::RandomStream& stream);

/// What a search has still to take before it learns from scores: the start, then even points.
Point design_point(std::size_t number, const std::optional<Point>& start, const SearchSpace& space,
                   const core::RandomStream& stream);

/// A score that can be compared: the worst of all for what could not be scored.
double comparable(double score);

}  // namespace sagips::optim
