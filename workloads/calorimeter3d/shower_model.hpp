#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"

namespace sagips::workloads {

/// A block of a sampling calorimeter: layers one behind the other along z, each of X x Y cells.
struct CalorimeterGeometry {
  std::vector<std::int64_t> shape{51, 51, 25};  ///< cells along X, Y, Z
  double cell_mm = 5.1, layer_mm = 5.05;
  double layer_radiation_lengths = 0.685;  ///< 2.4 mm of tungsten
  double moliere_radius_mm = 19;

  void fields(core::FieldList& list);
  std::int64_t cells() const { return shape[0] * shape[1] * shape[2]; }
};

/// Which showers are made.
struct ShowerConfig {
  CalorimeterGeometry geometry{};
  double lowest_energy_GeV = 2, highest_energy_GeV = 500;
  double lowest_angle_deg = 60, highest_angle_deg = 120;
  double sampling_fraction = 0.0221;  ///< what the cells see of the energy that is lost in a layer
  double resolution = 0.17;           ///< sigma / E at 1 GeV, from sampling alone

  void fields(core::FieldList& list);
  /// throws: ConfigError; key: of the group, for messages
  void check(const std::string& key) const;
};

/// A gamma density of depth, in radiation lengths: dE/dt = E beta (beta t)^(shape - 1) exp(-beta t) / Gamma(shape).
struct LongitudinalProfile {
  double shape, maximum;  ///< alpha; depth of the maximum, (alpha - 1) / beta

  double beta() const { return (shape - 1) / maximum; }
  double mean() const { return shape / beta(); }
  /// Share of the energy that is lost before a depth.
  double until(double depth) const;
};

/// Electromagnetic showers in a sampling calorimeter, after Grindhammer and Peters (hep-ex/0001020): a gamma
/// density along the axis whose two parameters fluctuate together, spots around it by a core and a tail that
/// widen with depth. docs/physics/calorimeter3d.md has all formulas, and what is left out. Threads may share it.
class ShowerModel {
 public:
  struct Particle {
    double energy_GeV, angle;  ///< polar angle of its axis [rad]
  };
  /// Mean of ln T and ln alpha, their deviations and correlation, at an energy.
  struct Fluctuations {
    double mean_maximum, mean_shape, sigma_maximum, sigma_shape, correlation;
  };

  /// throws: ConfigError
  ShowerModel(const ShowerConfig& config, std::uint64_t seed);

  /// One shower, a function of seed and number alone. cells: [X, Y, Z], is filled with GeV
  Particle make(std::uint32_t number, std::span<float> cells) const;
  /// Whose shower that is.
  Particle particle(std::uint32_t number) const;
  Fluctuations fluctuations(double energy_GeV) const;

 private:
  class Draws;
  struct Axis;
  struct Layer;
  Particle particle_of(Draws& draws) const;
  static LongitudinalProfile profile_of(const Fluctuations& f, Draws& draws);
  Axis axis_of(double angle, const Fluctuations& f, Draws& draws) const;
  double visible_energy(double lost, Draws& draws) const;
  void place_spots(const Layer& layer, std::span<float> along_x, std::span<float> along_y) const;
  void add_spots(const Layer& layer, std::vector<float>& room, std::span<float> cells) const;

  ShowerConfig config_;
  core::RandomStream random_;
  double per_sampling_frequency_;  ///< 1 / F_S: radiation lengths of a layer
};

}  // namespace sagips::workloads
