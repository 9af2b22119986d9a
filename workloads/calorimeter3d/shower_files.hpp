#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sagips/data/examples.hpp"
#include "workloads/calorimeter3d/cell_transform.hpp"

namespace sagips::workloads {

/// Energies of particles are given to networks in this unit.
inline constexpr double energy_unit_GeV = 100;

/// The examples of a shower source. energies: [rows, 1, X, Y, Z] GeV, are used up; energy: of the particles
/// [rows] GeV; angle: [rows] rad, undefined: there is none
data::Examples as_examples(torch::Tensor energies, const torch::Tensor& energy,
                           const torch::Tensor& angle, const CellTransform& transform);

/// How HDF5 files of showers are laid out.
enum class ShowerLayout {
  clic,  ///< the calorimeter GAN's: ECAL [N, X, Y, Z] and sum [N] in GeV times 50, energy [N] in GeV,
         ///< mtheta [N], the angle as measured; events whose sum is at most 10 are left out
  calo_challenge  ///< incident_energies [N, 1] and showers [N, voxels] in MeV, radius fastest, then angle
                  ///< around the axis, then layer: X, Y, Z are radius, angle, layer; no polar angle
};

struct ShowerFiles {
  ShowerLayout layout;
  std::vector<std::int64_t> shape;  ///< X, Y, Z
  CellTransform transform;
  data::ExampleFiles limits;  ///< of memory, and of copies

  /// Showers of files (also patterns and lists), which are read again and again where they do not fit into
  /// memory. throws: DataError, ConfigError; collective
  data::ExampleSets load(const std::vector<std::string>& files, const data::Reading& reading) const;
};

/// Angles of the particles that made some rows. shape: numbers [n] int64 -> [n] rad
using ParticleAngles = std::function<torch::Tensor(const torch::Tensor& numbers)>;

/// Writes showers as the calorimeter GAN's files have them, eta and theta of the particle too. rows: with the
/// targets "energy" and "angle"; what is measured of the cells is written as mtheta and sum.
/// angles: empty: the target "angle" is the particle's
/// throws: StorageError; ConfigError for rows without these targets
void write_showers(const std::string& path, const data::ExampleRows& rows,
                   const CellTransform& transform, const ParticleAngles& angles = {});

}  // namespace sagips::workloads
