#include "sagips/kernels/image_tiles.hpp"

#include <algorithm>
#include <array>

#include "sagips/kernels/convolution_passes.hpp"
#include "sagips/kernels/vectors.hpp"

namespace sagips::kernels {

namespace {

// What so many numbers, as coefficients, are at each point of a side: some of the places of
// polynomial_tiles, and infinity. shape: [side, numbers]
std::vector<float> powers(int side, int numbers, bool is_scaled) {
  std::vector<float> all;
  for (int p = 0; p < side - 1; ++p) {
    const double scale = is_scaled ? value_at(product_without(p, side - 1), tile_places[p]) : 1;
    for (int k = 0; k < numbers; ++k)
      all.push_back(static_cast<float>(power(tile_places[p], k) / scale));
  }
  for (int k = 0; k < numbers; ++k) all.push_back(k == numbers - 1 ? 1 : 0);
  return all;
}

// shape: [side, side]
std::vector<float> input_at_points(int side) {
  std::vector<float> all;
  for (int p = 0; p < side; ++p) {
    const auto factors = product_without(p == side - 1 ? -1 : p, side - 1);
    all.insert(all.end(), factors.begin(), factors.begin() + side);
  }
  return all;
}

/// A square of lanes from memory, zeros where there is none, and both of its sides taken to other numbers.
struct Square {
  const float* from;                                            // the first number that is inside
  std::int64_t row, column;                                     // steps to the next ones
  std::int64_t first_row, last_row, first_column, last_column;  // that are inside
};
struct Result {
  float* to;
  std::int64_t row, column;
  std::int64_t rows, columns;  // that are kept
};
struct Behind {
  const float* bias;
  float negative_slope;
};

template <std::size_t bytes>
struct Lanes {
  using Vector [[gnu::vector_size(bytes)]] = float;
  static constexpr std::int64_t count = bytes / sizeof(float);
};

// out = matrix . square . matrix^T, of `from` numbers a side `to`
template <class Of, int from, int to, bool finishes>
[[gnu::always_inline]] inline void both_sides(const float* matrix, const Square& square,
                                              const Result& result, const Behind& behind) {
  using Vector = typename Of::Vector;
  Vector half[to][from];
  for (int column = 0; column < from; ++column) {
    Vector line[from];
#pragma GCC unroll 8
    for (int row = 0; row < from; ++row) {
      const bool inside = row >= square.first_row && row < square.last_row &&
                          column >= square.first_column && column < square.last_column;
      line[row] =
          inside ? load<Vector>(square.from + row * square.row + column * square.column) : Vector{};
    }
#pragma GCC unroll 8
    for (int i = 0; i < to; ++i) {
      Vector sum = line[0] * matrix[std::int64_t{i} * from];
#pragma GCC unroll 8
      for (int row = 1; row < from; ++row) sum += line[row] * matrix[i * from + row];
      half[i][column] = sum;
    }
  }
  for (int i = 0; i < to; ++i) {
    if (i >= result.rows) break;
#pragma GCC unroll 8
    for (int j = 0; j < to; ++j) {
      if (j >= result.columns) break;
      Vector sum = half[i][0] * matrix[std::int64_t{j} * from];
#pragma GCC unroll 8
      for (int column = 1; column < from; ++column)
        sum += half[i][column] * matrix[j * from + column];
      if constexpr (finishes) {
        if (behind.bias != nullptr) sum += load<Vector>(behind.bias);
        sum = sum > 0 ? sum : sum * behind.negative_slope;
      }
      store<Vector>(result.to + i * result.row + j * result.column, sum);
    }
  }
}

template <class Of, int from, int to, bool finishes>
[[gnu::always_inline]] inline void channels_of(const float* matrix, Square square, Result result,
                                               Behind behind, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; c += Of::count) {
    // the last ones again, so that all lanes are full
    const std::int64_t at = std::min(c, channels - Of::count);
    Square own = square;
    Result here = result;
    own.from += at;
    here.to += at;
    both_sides<Of, from, to, finishes>(
        matrix, own, here,
        {behind.bias == nullptr ? nullptr : behind.bias + at, behind.negative_slope});
  }
}

enum class TileKind { input, gradient, output };

template <class Of>
[[gnu::always_inline]] inline void any(TileKind kind, int side, const float* matrix,
                                       const Square& square, const Result& result,
                                       const Behind& behind, std::int64_t channels) {
  constexpr int out = ImageTiles::output_side;
  const auto of_side = [&]<int n>() __attribute__((always_inline)) {
    if (kind == TileKind::input)
      channels_of<Of, n, n, false>(matrix, square, result, behind, channels);
    if (kind == TileKind::gradient)
      channels_of<Of, out, n, false>(matrix, square, result, behind, channels);
    if (kind == TileKind::output)
      channels_of<Of, n, out, true>(matrix, square, result, behind, channels);
  };
  if (side == 5) of_side.template operator()<5>();
  if (side == 6) of_side.template operator()<6>();
  if (side == 7) of_side.template operator()<7>();
  if (side == 8) of_side.template operator()<8>();
}

using Function = void (*)(TileKind, int, const float*, const Square&, const Result&, const Behind&,
                          std::int64_t);
#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) void wide(TileKind kind, int side, const float* matrix,
                                                 const Square& square, const Result& result,
                                                 const Behind& behind, std::int64_t channels) {
  any<Lanes<64>>(kind, side, matrix, square, result, behind, channels);
}
__attribute__((target("avx2,fma"))) void middle(TileKind kind, int side, const float* matrix,
                                                const Square& square, const Result& result,
                                                const Behind& behind, std::int64_t channels) {
  any<Lanes<32>>(kind, side, matrix, square, result, behind, channels);
}
#endif
void narrow(TileKind kind, int side, const float* matrix, const Square& square,
            const Result& result, const Behind& behind, std::int64_t channels) {
  any<Lanes<16>>(kind, side, matrix, square, result, behind, channels);
}

}  // namespace

struct TileInstructions {
  std::string name;
  Function function;
  std::int64_t lanes;
};

namespace {

// Those of this processor, the widest first.
std::vector<TileInstructions> tile_sets_here() {
  const std::vector<TileInstructions> all = {
#if defined(__x86_64__)
    {"avx512f", wide, 16},
    {"avx2", middle, 8},
#endif
    {"plain", narrow, 4}
  };
  std::vector<TileInstructions> here;
  for (const std::string& name : convolution_instructions())
    here.push_back(named_instructions(all, name));
  return here;
}

const TileInstructions* set_of(const ImageConvolutionShape& shape, const std::string& name) {
  static const std::vector<TileInstructions> here = tile_sets_here();
  if (!name.empty()) return &named_instructions(here, name);
  const std::int64_t channels = std::min(shape.in_channels, shape.out_channels);
  const auto found = std::find_if(
      here.begin(), here.end(), [&](const TileInstructions& one) { return one.lanes <= channels; });
  return found == here.end() ? nullptr : &*found;  // no lanes are as few
}

}  // namespace

ImageConvolutionShape ImageConvolutionShape::turned() const {
  const std::int64_t last = kernel - 1;
  return {out_channels, in_channels,  output_rows(), output_columns(), kernel,
          last - above, last - below, last - left,   last - right};
}

bool ImageTiles::pay(const ImageConvolutionShape& shape) {
  if (shape.kernel < 2 || shape.kernel > 5) return false;
  if (std::min(shape.in_channels, shape.out_channels) < 8) return false;
  const ImageTiles tiles(shape);
  // for each number of the output; transforms take about as long as half of what is saved at twofold
  const double saved = static_cast<double>(shape.kernel * shape.kernel * shape.output_rows() *
                                           shape.output_columns()) /
                       static_cast<double>(tiles.points() * tiles.tiles());
  return saved >= 2;
}

ImageTiles::ImageTiles(const ImageConvolutionShape& shape, const std::string& instructions)
    : shape_(shape),
      set_(set_of(shape, instructions)),
      side_(shape.kernel + output_side - 1),
      tile_rows_((shape.output_rows() + output_side - 1) / output_side),
      tile_columns_((shape.output_columns() + output_side - 1) / output_side),
      of_input_(input_at_points(static_cast<int>(side_))),
      of_weights_(powers(static_cast<int>(side_), static_cast<int>(shape.kernel), true)),
      of_output_(powers(static_cast<int>(side_), output_side, false)) {}

void ImageTiles::spread_input(const float* image, Place place) const {
  const std::int64_t c = shape_.in_channels;
  for (std::int64_t y = 0; y < tile_rows_; ++y)
    for (std::int64_t x = 0; x < tile_columns_; ++x) {
      const std::int64_t row = y * output_side - shape_.above,
                         column = x * output_side - shape_.left;
      set_->function(
          TileKind::input, static_cast<int>(side_), of_input_.data(),
          {image + (row * shape_.columns + column) * c, shape_.columns * c, c, -row,
           shape_.rows - row, -column, shape_.columns - column},
          {place.to + (y * tile_columns_ + x) * c, side_ * place.far, place.far, side_, side_}, {},
          c);
    }
}

void ImageTiles::spread_gradient(const float* gradient, Place place) const {
  const std::int64_t c = shape_.out_channels, columns = shape_.output_columns();
  for (std::int64_t y = 0; y < tile_rows_; ++y)
    for (std::int64_t x = 0; x < tile_columns_; ++x) {
      const std::int64_t row = y * output_side, column = x * output_side;
      set_->function(
          TileKind::gradient, static_cast<int>(side_), of_output_.data(),
          {gradient + (row * columns + column) * c, columns * c, c, 0, shape_.output_rows() - row,
           0, columns - column},
          {place.to + (y * tile_columns_ + x) * c, side_ * place.far, place.far, side_, side_}, {},
          c);
    }
}

void ImageTiles::finish(const float* sums, std::int64_t far, const float* bias,
                        float negative_slope, float* image) const {
  const std::int64_t c = shape_.out_channels, columns = shape_.output_columns();
  std::array<float, tile_points * ImageTiles::output_side> turned{};  // [output_side, side]
  for (std::int64_t p = 0; p < side_; ++p)
    for (std::int64_t k = 0; k < output_side; ++k)
      turned[static_cast<std::size_t>(k * side_ + p)] =
          of_output_[static_cast<std::size_t>(p * output_side + k)];
  for (std::int64_t y = 0; y < tile_rows_; ++y)
    for (std::int64_t x = 0; x < tile_columns_; ++x) {
      const std::int64_t row = y * output_side, column = x * output_side;
      set_->function(TileKind::output, static_cast<int>(side_), turned.data(),
                     {sums + (y * tile_columns_ + x) * c, side_ * far, far, 0, side_, 0, side_},
                     {image + (row * columns + column) * c, columns * c, c,
                      shape_.output_rows() - row, columns - column},
                     {bias, negative_slope}, c);
    }
}

std::vector<float> ImageTiles::taps_at_points() const {
  std::vector<float> all;
  const auto factor = [&](std::int64_t point, std::int64_t tap) {
    return of_weights_[static_cast<std::size_t>(point * shape_.kernel + tap)];
  };
  for (std::int64_t i = 0; i < side_; ++i)
    for (std::int64_t j = 0; j < side_; ++j)
      for (std::int64_t a = 0; a < shape_.kernel; ++a)
        for (std::int64_t b = 0; b < shape_.kernel; ++b) all.push_back(factor(i, a) * factor(j, b));
  return all;
}

}  // namespace sagips::kernels
