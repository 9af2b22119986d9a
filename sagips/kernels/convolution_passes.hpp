#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/kernels/convolution.hpp"
#include "sagips/kernels/polynomial_tiles.hpp"

namespace sagips::kernels {

/// How planes of images lie in memory while they are multiplied, and by whom.
struct Layout {
  Layout(const ConvolutionShape& shape, const ConvolutionInstructions& by)
      : set(by),
        tile(pays(shape) ? static_cast<int>(tile_points + 1 - shape.kernel[2]) : 0),
        points(tile > 0 ? tile_points : 1),
        row(tile > 0 ? (shape.output(2) + tile - 1) / tile
                     : shape.input[2] + shape.before[2] + shape.behind[2]),
        plane((shape.input[1] + shape.before[1] + shape.behind[1]) * row),
        used((shape.output(1) - 1) * row + (tile > 0 ? row : shape.output(2))),
        pitch((used + 15) / 16 * 16),
        taps{shape.kernel[0], tile > 0 ? 1 : shape.kernel[1],
             tile > 0 ? shape.kernel[1] : shape.kernel[2]},
        step(tile > 0 ? row : 1) {}
  std::int64_t weights() const { return taps[0] * taps[1] * taps[2]; }  // of a pair of channels
  // Whether tiles save more products than it takes to make them: of a number of the output in all channels,
  // beside what these have to be spread and finished.
  static bool pays(const ConvolutionShape& shape) {
    const std::int64_t taps = shape.kernel[2], pairs = shape.in_channels * shape.out_channels;
    if (taps < 2 || taps >= tile_points) return false;
    const double saved =
        static_cast<double>(taps) - tile_points / static_cast<double>(tile_points + 1 - taps);
    return static_cast<double>(pairs * shape.kernel[0] * shape.kernel[1]) * saved >
           80.0 * static_cast<double>(shape.in_channels + shape.out_channels);
  }

  const ConvolutionInstructions& set;
  int tile;                  // numbers of the output that a tile gives; 0: no tiles
  std::int64_t points;       // points, or 1
  std::int64_t row, plane;   // tiles or numbers of a row, of all rows of a plane
  std::int64_t used, pitch;  // of a plane of the output; with what makes cache lines whole
  ConvolutionShape::Lengths taps;
  std::int64_t step;  // from one of the last taps to the next
};

/// Rows of a plane of an image, and where they go for products.
struct Rows {
  const Layout& layout;
  std::int64_t count, length;  // rows of an image, and numbers of each
  std::int64_t before;         // zeros in front of each
  const float* image;          // [count, length]
  float* at;                   // [points, far apart], a plane each
  std::int64_t far;
};
/// What products have given for the rows of a plane, and what stands behind it in the image.
struct Finished {
  const Layout& layout;
  std::int64_t count, length;
  const float* at;
  std::int64_t far;
  float* image;
  float bias, negative_slope;
};

/// Sums of products for one plane of the output, of some channels at one point.
struct Sums {
  const Layout& layout;
  std::int64_t in_channels;
  std::span<const float* const> planes;  // of each tap in x, [in_channels, plane]; null: zeros
  const float* weights;                  // [in_channels, taps, channels]
  float* output;                         // [channels, pitch]
  std::int64_t pitch;                    // with room for whole blocks
};

/// Sums over places of a piece of a plane of input times the output's gradient, for one input channel and
/// all taps.
struct Slopes {
  const Layout& layout;
  std::span<const float* const> planes;  // as of Sums, where the piece begins in this channel
  const float* gradient;                 // [channels, pitch]: zeros where no output is
  std::int64_t places;
  float* sums;  // [taps, channels] vectors, the last taps together
};

/// The functions of one set of instructions.
struct ConvolutionInstructions {
  int lanes, channels;
  int (*steps)(int channels);
  void (*spread_input)(const Rows&);
  void (*spread_gradient)(const Rows&);
  void (*add_up)(const Sums&, int channels);
  void (*add_slopes)(const Slopes&, int channels);
  void (*finish)(const Finished&);
};

struct NamedInstructions {
  std::string name;
  const ConvolutionInstructions* set;
};
/// Those of this processor, the widest first.
const std::vector<NamedInstructions>& instructions_here();

/// The one of such a name. throws: core::Error where there is none
template <class Named>
const Named& named_instructions(const std::vector<Named>& all, const std::string& name) {
  for (const Named& one : all)
    if (one.name == name) return one;
  throw core::Error(core::text("this processor has no '", name, "' for convolutions."));
}

}  // namespace sagips::kernels
