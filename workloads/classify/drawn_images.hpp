#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/data/examples.hpp"

namespace sagips::workloads {

/// Images that are drawn, each from its number alone, so that none needs a file.
struct DrawnImages {
  std::vector<std::int64_t> shape;   ///< channels, rows, columns
  std::vector<std::string> classes;  ///< image i shows class i mod classes
  /// Draws one image. pixels: [channels * rows * columns], zero before; random: as many uniform numbers
  /// as the image wants
  void (*draw)(std::int64_t number, std::size_t shown, const core::RandomStream& random,
               std::span<float> pixels);
};

/// Ten plain figures in colour, 3 x 32 x 32: of any place, size, angle and colour, under noise.
const DrawnImages& shapes();
/// What a detector's cylinder sees of two jets, of a jet and a lepton, or of four jets and a lepton:
/// 5 kinds of particles x 150 x 94. A caricature: it has the sizes of such images and not their physics.
const DrawnImages& tracks();

/// The images from number `first` on.
data::Examples drawn(const DrawnImages& images, std::int64_t first, std::int64_t count,
                     std::uint64_t seed);

}  // namespace sagips::workloads
