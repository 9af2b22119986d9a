#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sagips::kernels {

/// How the mass of a cell follows from the tabulated density.
enum class MassRule {
  left,       ///< the density at the cell's left end; the last point has a mass too
  trapezoid,  ///< the mean of both ends; the last point has none
};

/// Equidistant points of a density's table; the last one lies at `last`.
struct InverseCdfGrid {
  double last = 1, step = 1e-3;
  std::int64_t points = 1000;  ///< 3 or more
  MassRule rule = MassRule::trapezoid;
};

struct InverseCdfShape {
  std::int64_t samples = 0, observables = 0, events = 0;
};

/// What the backward pass needs of the forward pass. Kept by the caller, its memory is used again
/// by the next call of the same shape.
///
/// shape: cells, shares, slopes [samples, observables, events]; masses [samples, observables]
struct InverseCdfTrace {
  std::int64_t points = 0;          ///< of each table
  std::vector<std::int32_t> cells;  ///< left point of a draw's cell
  std::vector<float> shares;   ///< way of a draw from its cell's right end to the left one, 0..1
  std::vector<float> slopes;   ///< d share / d u, 0 where no gradient flows
  std::vector<double> masses;  ///< sum of a table's masses, doubled for `trapezoid`
};

/// Draws independent observables from tabulated densities: env::InverseCdf on plain arrays.
///
/// The survival function S runs from the right end of the table, sums in double and is stored in
/// float; x is linear in S between two points.
///
/// shape:  densities [samples, observables, points], not normalised; uniform [samples, observables,
///         events], numbers in [0, 1] already multiplied by the coverage -> positions [samples,
///         events, observables]
/// trace:  filled for the backward pass; null when no gradient will be asked
/// cost:   the densities are read once, a draw is compared with 64 entries (points <= 1024); no
///         allocation once each thread has met its longest table
/// throws: ShapeError when an array does not fit
void draw_positions(const InverseCdfGrid& grid, const InverseCdfShape& shape,
                    std::span<const float> densities, std::span<const float> uniform,
                    std::span<float> positions, InverseCdfTrace* trace);

/// Gradient of draw_positions through S, its normalisation included; uniform numbers and chosen
/// cells are constants. `uniform` is what the forward pass got, `trace` what it left.
///
/// A draw in a cell narrower than the smallest normal float has no gradient (autograd: overflow).
///
/// shape: gradient_positions [samples, events, observables] -> gradient_densities [samples,
///        observables, points], overwritten
void pull_back_positions(const InverseCdfGrid& grid, const InverseCdfShape& shape,
                         const InverseCdfTrace& trace, std::span<const float> uniform,
                         std::span<const float> gradient_positions,
                         std::span<float> gradient_densities);

}  // namespace sagips::kernels
