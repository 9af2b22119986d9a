#include "sagips/kernels/inverse_cdf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/vector_widths.hpp"
#include "sagips/kernels/running_sums.hpp"

namespace sagips::kernels {
namespace {

// Entries of the table that a draw is compared with at once, at the first and at the last level.
constexpr std::int32_t fan = 32;

// The number of inner entries 1 .. last_cell below u is the lower end of the cell that holds u; the
// two outer cells take what lies beyond them. First all draws are compared with `fan` entries that
// lie range / fan apart, then (for tables beyond fan^2) halve what is left together, then each
// counts in its own stretch of `fan` entries. `range` is a power of two above last_cell + 1; the
// table is filled with infinity up to and including it.
SAGIPS_VECTOR_WIDTHS void find_cells(const float* __restrict survival, std::int32_t range,
                                     std::int32_t last_cell, const float* __restrict uniform,
                                     std::int32_t* __restrict lower, std::int64_t draws) {
  for (std::int64_t e = 0; e < draws; ++e) lower[e] = 0;
  std::int32_t stretch = range;
  if (range > fan) {
    stretch = std::max(fan, range / fan);
    for (std::int32_t k = stretch; k < range; k += 4 * stretch) {
      const float a = survival[k], b = survival[std::min(k + stretch, range)],
                  c = survival[std::min(k + 2 * stretch, range)],
                  d = survival[std::min(k + 3 * stretch, range)];
      for (std::int64_t e = 0; e < draws; ++e) {
        const float u = uniform[e];
        lower[e] += (a < u ? stretch : 0) + (b < u ? stretch : 0) + (c < u ? stretch : 0) +
                    (d < u ? stretch : 0);
      }
    }
  }
  for (; stretch > fan; stretch /= 2)
    for (std::int64_t e = 0; e < draws; ++e)
      lower[e] += survival[lower[e] + stretch / 2] < uniform[e] ? stretch / 2 : 0;
  for (std::int64_t e = 0; e < draws; ++e) {
    const float* const inside = survival + lower[e] + 1;
    std::int32_t count = 0;
    for (std::int32_t i = 0; i < fan; ++i) count += inside[i] < uniform[e] ? 1 : 0;
    lower[e] = std::min(lower[e] + count, last_cell);
  }
}

struct Axis {
  float last, step;
  std::int32_t last_cell;
};

/// Where the draws of one table go.
struct Placed {
  float* __restrict positions;
  std::int32_t* __restrict cells;
  float* __restrict shares;
  float* __restrict slopes;
};

// x falls by one step from entry k to entry k + 1. Comparisons are written so that nan stays nan.
SAGIPS_VECTOR_WIDTHS void place(Axis axis, const float* __restrict survival,
                                const float* __restrict uniform,
                                const std::int32_t* __restrict lower, Placed to,
                                std::int64_t draws) {
  constexpr float smallest = std::numeric_limits<float>::min();
  for (std::int64_t e = 0; e < draws; ++e) {
    const float below = survival[lower[e]];
    const float width = survival[lower[e] + 1] - below;
    const float divisor = width < smallest ? smallest : width;
    const float free = (uniform[e] - below) / divisor;
    const float share = free < 0.0F ? 0.0F : free > 1.0F ? 1.0F : free;
    to.positions[e] = (static_cast<float>(lower[e]) * -axis.step + axis.last) - share * axis.step;
    to.cells[e] = axis.last_cell - lower[e];
    to.shares[e] = share;
    to.slopes[e] = free == share && width >= smallest ? 1.0F / divisor : 0.0F;
  }
}

// Adjoint of double_masses_from_right: a point has a part in the cells on both sides.
SAGIPS_VECTOR_WIDTHS void add_left_neighbours(const float* __restrict masses,
                                              float* __restrict densities, std::int64_t points) {
  densities[0] = masses[0];
  for (std::int64_t i = 1; i < points - 1; ++i) densities[i] = masses[i - 1] + masses[i];
  densities[points - 1] = masses[points - 2];
}

/// Buffers of one thread, as long as its longest table and its longest row of draws.
struct Scratch {
  std::vector<double> sums;
  std::vector<float> table, uniform, positions, shares, slopes;
  std::vector<std::int32_t> lower, cells;
};

Scratch& scratch() {
  thread_local Scratch buffers;
  return buffers;
}

template <class Value>
Value* at_least(std::vector<Value>& values, std::int64_t size) {
  if (values.size() < static_cast<std::size_t>(size)) values.resize(static_cast<std::size_t>(size));
  return values.data();
}

void expect(std::size_t size, std::int64_t expected, const char* what) {
  if (size != static_cast<std::size_t>(expected))
    throw core::ShapeError("inverse_cdf", core::text("gets ", size, ' ', what, ", expected ",
                                                     expected, ". Check the grid and the shape."));
}

void check(const InverseCdfGrid& grid, const InverseCdfShape& shape) {
  if (grid.points < 3 || grid.points > std::int64_t{1} << 28)
    throw core::ShapeError("inverse_cdf",
                           core::text("has tables of ", grid.points, " points. Use 3 to 2^28."));
  if (shape.samples < 0 || shape.observables < 0 || shape.events < 0)
    throw core::ShapeError("inverse_cdf", "has a negative size. Check the shape.");
}

/// The passes over one table and its draws; buffers belong to the thread.
class Table {
 public:
  Table(const InverseCdfGrid& grid, std::int64_t events)
      : grid_(grid),
        events_(events),
        axis_{static_cast<float>(grid.last), static_cast<float>(grid.step),
              static_cast<std::int32_t>(grid.points - 2)},
        range_(std::max(fan, static_cast<std::int32_t>(
                                 std::bit_ceil(static_cast<std::uint32_t>(grid.points))))),
        sums_(at_least(scratch().sums, grid.points)),
        table_(at_least(scratch().table, range_ + 1)) {}

  /// Ascending survival function, entry k belongs to point points - 1 - k. Returns the sum of
  /// masses, twice that for the trapezoid rule.
  double survival(const float* densities) {
    const std::int64_t points = grid_.points;
    // The trapezoid rule has no mass at the last point, entry 0.
    const std::int64_t skipped = grid_.rule == MassRule::left ? 0 : 1;
    if (skipped == 0)
      masses_from_right(densities, sums_, points);
    else
      double_masses_from_right(densities, sums_, points - 1);
    const Chains sums = sum_in_place(sums_, points - skipped);
    const auto total = static_cast<float>(sums.total);
    table_[0] = 0.0F / total;
    for_each(sums, points - skipped, [&](std::int64_t first, std::int64_t size, double start) {
      divide(sums_ + first, start, total, table_ + skipped + first, size);
    });
    std::fill(table_ + points, table_ + range_ + 1, std::numeric_limits<float>::infinity());
    return sums.total;
  }

  void draw(const float* uniform, Placed to) {
    // Whole vectors in the search: what is added is searched in vain.
    const std::int64_t padded = (events_ + 15) / 16 * 16;
    float* const targets = at_least(scratch().uniform, padded);
    std::int32_t* const lower = at_least(scratch().lower, padded);
    std::fill(std::copy_n(uniform, events_, targets), targets + padded, 0.0F);
    find_cells(table_, range_, axis_.last_cell, targets, lower, padded);
    place(axis_, table_, targets, lower, to, events_);
  }

  /// Gradient of the table's densities from the gradient of its draws, `stride` apart.
  void pull_back(const InverseCdfTrace& trace, std::size_t first_draw, double total,
                 const float* uniform, const float* gradient, std::int64_t stride,
                 float* densities) {
    const std::int64_t points = grid_.points;
    // dL/dT of both ends of each draw's cell, times the total. Through S = T / total each draw also
    // pulls on the total, by (1 - share) S_lower + share S_upper, which is its uniform number.
    std::fill_n(sums_, points, 0.0);
    double through_total = 0;
    for (std::int64_t e = 0; e < events_; ++e) {
      const std::size_t draw = first_draw + static_cast<std::size_t>(e);
      const double pull = grid_.step * static_cast<double>(gradient[e * stride]) *
                          static_cast<double>(trace.slopes[draw]);
      const double to_upper = pull * static_cast<double>(trace.shares[draw]);
      double* const cell = sums_ + trace.cells[draw];
      cell[0] += to_upper;
      cell[1] += pull - to_upper;
      through_total += pull * static_cast<double>(uniform[e]);
    }
    // A mass is part of the S of its own point and of all points left of it.
    const Chains sums = sum_in_place(sums_, points);
    float* const masses = grid_.rule == MassRule::left ? densities : table_;
    for_each(sums, points, [&](std::int64_t first, std::int64_t size, double start) {
      multiply(sums_ + first, start - through_total, 1.0 / total, masses + first, size);
    });
    if (grid_.rule == MassRule::trapezoid) add_left_neighbours(table_, densities, points);
  }

 private:
  const InverseCdfGrid& grid_;
  std::int64_t events_;
  Axis axis_;
  std::int32_t range_;
  double* sums_;
  float* table_;
};

}  // namespace

void draw_positions(const InverseCdfGrid& grid, const InverseCdfShape& shape,
                    std::span<const float> densities, std::span<const float> uniform,
                    std::span<float> positions, InverseCdfTrace* trace) {
  check(grid, shape);
  const std::int64_t tables = shape.samples * shape.observables;
  const std::int64_t draws = tables * shape.events;
  expect(densities.size(), tables * grid.points, "densities");
  expect(uniform.size(), draws, "uniform numbers");
  expect(positions.size(), draws, "positions");
  if (trace != nullptr) {
    trace->cells.resize(uniform.size());
    trace->shares.resize(uniform.size());
    trace->slopes.resize(uniform.size());
    trace->masses.resize(static_cast<std::size_t>(tables));
    trace->points = grid.points;
  }
  Table table(grid, shape.events);
  float* const column = at_least(scratch().positions, shape.events);
  Placed to{column, at_least(scratch().cells, shape.events),
            at_least(scratch().shares, shape.events), at_least(scratch().slopes, shape.events)};
  for (std::int64_t t = 0; t < tables; ++t) {
    const double total = table.survival(densities.data() + t * grid.points);
    const std::int64_t first = t * shape.events;
    if (trace != nullptr) {
      trace->masses[static_cast<std::size_t>(t)] = total;
      to = {column, trace->cells.data() + first, trace->shares.data() + first,
            trace->slopes.data() + first};
    }
    table.draw(uniform.data() + first, to);
    const std::int64_t sample = t / shape.observables, observable = t % shape.observables;
    float* const into = positions.data() + sample * shape.events * shape.observables + observable;
    for (std::int64_t e = 0; e < shape.events; ++e) into[e * shape.observables] = column[e];
  }
}

void pull_back_positions(const InverseCdfGrid& grid, const InverseCdfShape& shape,
                         const InverseCdfTrace& trace, std::span<const float> uniform,
                         std::span<const float> gradient_positions,
                         std::span<float> gradient_densities) {
  check(grid, shape);
  const std::int64_t tables = shape.samples * shape.observables;
  const std::int64_t draws = tables * shape.events;
  expect(static_cast<std::size_t>(trace.points), grid.points, "points in a forward pass");
  expect(trace.masses.size(), tables, "tables of a forward pass");
  expect(trace.cells.size(), draws, "draws of a forward pass");
  expect(uniform.size(), draws, "uniform numbers");
  expect(gradient_positions.size(), draws, "gradients of positions");
  expect(gradient_densities.size(), tables * grid.points, "gradients of densities");
  Table table(grid, shape.events);
  for (std::int64_t t = 0; t < tables; ++t) {
    const std::int64_t sample = t / shape.observables, observable = t % shape.observables;
    const std::int64_t first = t * shape.events;
    table.pull_back(
        trace, static_cast<std::size_t>(first), trace.masses[static_cast<std::size_t>(t)],
        uniform.data() + first,
        gradient_positions.data() + sample * shape.events * shape.observables + observable,
        shape.observables, gradient_densities.data() + t * grid.points);
  }
}

}  // namespace sagips::kernels
