#include "sagips/optim/learn/augment.hpp"

#include <algorithm>
#include <span>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

const std::vector<std::string>& directions() {  // from the last dimension on
  static const std::vector<std::string> all{"horizontal", "vertical", "depth"};
  return all;
}

enum Dimension : std::uint32_t { moves, noise };  // of random numbers

// shape: [rows, numbers] in (0, 1)
torch::Tensor uniform(const core::RandomStream& stream, Dimension dimension, std::int64_t first,
                      std::int64_t rows, std::int64_t numbers) {
  torch::Tensor drawn = torch::empty({rows, numbers});
  for (std::int64_t row = 0; row < rows; ++row)
    stream.uniform(
        static_cast<std::uint32_t>(first + row), dimension,
        std::span(drawn.data_ptr<float>() + row * numbers, static_cast<std::size_t>(numbers)));
  return drawn;
}

// Where each row's pixels come from, in units of half its sides: a scale with the sign of a flip, and what is
// added. shape: rows [n, channels, length, ...] -> [n, dimensions, dimensions + 1], the last dimension first
torch::Tensor origins(const torch::Tensor& rows, const AugmentConfig& config,
                      const core::RandomStream& stream, std::int64_t first) {
  const std::int64_t dimensions = rows.dim() - 2, each = 3;  // a flip, a shift, a crop's place
  const torch::Tensor drawn = uniform(stream, moves, first, rows.size(0), each * dimensions + 1);
  const torch::Tensor scale = 1 - (1 - config.crop) * drawn.select(1, each * dimensions);
  torch::Tensor origins = torch::zeros({rows.size(0), dimensions, dimensions + 1});
  for (std::int64_t i = 0; i < dimensions; ++i) {
    const std::int64_t side = rows.size(rows.dim() - 1 - i);
    torch::Tensor own = origins.select(1, i);
    own.select(1, i).fill_(1);
    if (side == 1) continue;
    const std::string& direction = directions()[static_cast<std::size_t>(i)];
    const bool flips =
        std::find(config.flip.begin(), config.flip.end(), direction) != config.flip.end();
    const torch::Tensor flipped = (drawn.select(1, each * i) < (flips ? 0.5 : 0.0));
    const torch::Tensor pixels =  // whole ones, each as probable as the others
        ((drawn.select(1, each * i + 1) * static_cast<double>(2 * config.shift + 1)).floor() -
         static_cast<double>(config.shift));
    const torch::Tensor place = (2 * drawn.select(1, each * i + 2) - 1) * (1 - scale);
    own.select(1, i).copy_(scale * (1 - 2 * flipped.to(torch::kFloat32)));
    own.select(1, dimensions).copy_(place - pixels * (2.0 / static_cast<double>(side)));
  }
  return origins;
}

torch::Tensor moved(const torch::Tensor& rows, const AugmentConfig& config,
                    const core::RandomStream& stream, std::int64_t first) {
  if (rows.dim() == 3)  // a line is an image of height 1
    return moved(rows.unsqueeze(2), config, stream, first).squeeze(2);
  const torch::Tensor grid =
      at::affine_grid_generator(origins(rows, config, stream, first), rows.sizes(), false);
  return at::grid_sampler(rows, grid, /*interpolation_mode: linear*/ 0, /*padding_mode: zeros*/ 0,
                          /*align_corners=*/false);
}

}  // namespace

void AugmentConfig::fields(core::FieldList& list) {
  list.add("flip", flip,
           "mirrors half of the images along each of these: " + core::join(directions(), ", "));
  list.add("shift", shift, "moves images by up to so many pixels to each side; zeros follow",
           core::Range::at_least(0));
  list.add(
      "crop", crop,
      "smallest share of each side that is cut out anywhere and enlarged to the whole; 1: none",
      core::Range{0, 1, true, false});
  list.add("noise", noise, "deviation of Gaussian noise that is added to each number",
           core::Range::at_least(0));
}

void AugmentConfig::check(const torch::IntArrayRef& row) const {
  if (!moves()) return;
  const std::size_t dimensions = row.size() - 1;
  if (row.size() < 2 || dimensions > 3)
    throw core::ConfigError("augment",
                            "flips, shifts and crops need rows [channels, length, ...] of 1 to 3 "
                            "dimensions. Give the inputs such a shape.");
  for (const std::int64_t side : row.slice(1))
    if (side > 1 && shift >= side)
      throw core::ConfigError("augment.shift",
                              core::text("moves rows of ", row, " by up to ", shift,
                                         " pixels, out of sight. Set it below ", side, "."));
  for (const std::string& direction : flip) {
    const auto known = std::find(directions().begin(), directions().end(), direction);
    if (static_cast<std::size_t>(known - directions().begin()) >= dimensions)
      throw core::ConfigError(
          "augment.flip",
          core::text("rows of ", dimensions, " dimensions have no '", core::excerpt(direction),
                     "'. Known: ", core::join(directions(), ", "), "."));
  }
}

torch::Tensor augmented(const torch::Tensor& rows, const AugmentConfig& config,
                        const core::RandomStream& of_epoch, std::int64_t first) {
  if (rows.size(0) == 0) return rows;
  torch::Tensor changed = config.moves() ? moved(rows, config, of_epoch, first) : rows;
  if (config.noise == 0) return changed;
  const torch::Tensor drawn = uniform(of_epoch, noise, first, rows.size(0), rows[0].numel());
  return changed + config.noise * at::special_ndtri(drawn).reshape(rows.sizes());
}

}  // namespace sagips::optim
