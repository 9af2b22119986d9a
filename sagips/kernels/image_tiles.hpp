#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sagips::kernels {

struct TileInstructions;

/// A convolution of images [rows, columns, channels] by a square kernel, step by step of one place.
struct ImageConvolutionShape {
  std::int64_t in_channels = 1, out_channels = 1, rows = 1, columns = 1, kernel = 3;
  std::int64_t above = 0, below = 0, left = 0,
               right = 0;  ///< zeros around, fewer than the kernel is wide

  std::int64_t output_rows() const { return rows + above + below - kernel + 1; }
  std::int64_t output_columns() const { return columns + left + right - kernel + 1; }
  std::int64_t input_numbers() const { return rows * columns * in_channels; }
  std::int64_t output_numbers() const { return output_rows() * output_columns() * out_channels; }
  /// That of the input's gradient: the kernel turned around, over the gradient of the output.
  ImageConvolutionShape turned() const;
};

/// Convolutions of many channels by products of matrices: images are cut into tiles that give 4 x 4 numbers
/// of the output, and what polynomials of a tile and of the kernel are at (kernel + 3)^2 points is
/// multiplied: for 3 x 3 taps 36 products in place of 144. Lanes are channels. What is multiplied, for each
/// point, is [tiles, in_channels] by [in_channels, out_channels]; whoever calls does that.
///
/// All calls may come from several threads.
/// source: Winograd (1980); Lavin, Gray, arXiv 1509.09308
class ImageTiles {
 public:
  static constexpr std::int64_t output_side = 4;

  /// shape: of 4 channels or more; instructions: one of `convolution_instructions` that has no more lanes than there
  /// are channels; empty: the widest of these
  explicit ImageTiles(const ImageConvolutionShape& shape, const std::string& instructions = {});
  /// Whether there are such tiles, and products by them are few enough to pay.
  static bool pay(const ImageConvolutionShape& shape);

  std::int64_t points() const { return side_ * side_; }
  std::int64_t tiles() const { return tile_rows_ * tile_columns_; }  ///< of an image

  /// Where the numbers of one image go among those of several: `to` + point * far.
  struct Place {
    float* to;
    std::int64_t far;
  };
  /// shape: image [rows, columns, in_channels] -> [tiles, in_channels] at each point
  void spread_input(const float* image, Place place) const;
  /// shape: gradient [output_rows, output_columns, out_channels] -> [tiles, out_channels] at each point
  void spread_gradient(const float* gradient, Place place) const;
  /// bias: [out_channels] or null; negative_slope: of leaky ReLU behind the sums, 1: none.
  /// shape: sums [tiles, out_channels] at each point -> image [output_rows, output_columns, out_channels]
  void finish(const float* sums, std::int64_t far, const float* bias, float negative_slope,
              float* image) const;
  /// What taps [kernel, kernel] add at each point. shape: [points, kernel * kernel]
  std::vector<float> taps_at_points() const;

 private:
  using Matrix = std::vector<float>;
  ImageConvolutionShape shape_;
  const TileInstructions* set_;
  std::int64_t side_, tile_rows_, tile_columns_;
  Matrix of_input_, of_weights_, of_output_;  ///< [side, side], [side, kernel], [side, output_side]
};

}  // namespace sagips::kernels
