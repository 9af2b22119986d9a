#pragma once
#include <cstdint>

#include "sagips/data/torch.hpp"

namespace sagips::workloads {

// What is measured of showers, each a differentiable function of cell energies [rows, 1, X, Y, Z] in single or
// double precision; of images take the energies first (CellTransform::undo).
// source: the calorimeter GAN's, github CERN-IT-INNOVATION/3DGAN and svalleco/3Dgan, in words of our own

/// In the unit of the energies. shape: -> [rows]
torch::Tensor energy_sum(const torch::Tensor& energies);

/// What the angle of an event without energy is, which shows that a generator has collapsed.
inline constexpr double angle_of_nothing = 100;

/// The polar angle of a shower's axis, seen from its image: the mean over layers of the slope from the
/// shower's barycentre to the layer's, each layer weighted by its depth. Coordinates are numbers of cells from
/// the edge to the cell's middle, so a cell that is as wide as a layer is deep gives the angle in space.
/// Gradients are finite everywhere: a layer of less than 1e-30 counts as empty.
/// shape: -> [rows] rad, 0 .. pi; an event without energy: 100
torch::Tensor shower_angle(const torch::Tensor& energies);

inline constexpr std::int64_t bin_columns = 8;

/// How many cells lie above 0.05 of the unit; down to 0.03, 0.02, 0.0125, 0.008, 0.003; above 0; at 0. A count
/// of 0 becomes 1, since losses divide by it. Counts have no gradient.
/// unit: of the transform, in which those numbers are. shape: -> [rows, 8]
torch::Tensor bin_counts(const torch::Tensor& energies, double unit);

}  // namespace sagips::workloads
