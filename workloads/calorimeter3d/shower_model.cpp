#include "workloads/calorimeter3d/shower_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::workloads {

namespace {

// The medium: 95 % of its mass is tungsten. source: Particle Data Group, atomic and nuclear properties
constexpr double atomic_number = 71, critical_energy_GeV = 8.2e-3;
// Electrons lose less of their energy in silicon (14) than minimum ionising particles do, behind tungsten (74).
// source: hep-ex/0001020, e / mip = 1 / (1 + 0.007 (Z_p - Z_a))
constexpr double electron_response = 1 / (1 + 0.007 * (74 - 14));

/// The radial density p f(R_core) + (1 - p) f(R_tail), f(R) = 2 r R^2 / (r^2 + R^2)^2, radii in Moliere radii.
struct RadialProfile {
  double core, tail, core_share;
};

// tau: depth in units of that of the shower maximum. source: hep-ex/0001020, sections 4.1.2 and 4.2.2
RadialProfile radial_profile(double energy_GeV, double tau, double per_sampling_frequency) {
  const double log_energy = std::log(energy_GeV), missing = 1 - electron_response;
  const double fades = per_sampling_frequency * std::exp(-tau);
  const double core = 0.0251 + 0.00319 * log_energy + (0.1162 - 0.000381 * atomic_number) * tau;
  const double tail =
      (0.659 - 0.00309 * atomic_number) *
      (std::exp(-2.59 * (tau - 0.645)) + std::exp((0.3585 + 0.0421 * log_energy) * (tau - 0.645)));
  const double width = 1.313 - 0.0686 * log_energy;
  const double place = (0.401 + 0.00187 * atomic_number - tau) / width;
  const double share = (2.632 - 0.00094 * atomic_number) * std::exp(place - std::exp(place));
  const double correction =
      missing * (0.348 - 0.642 * per_sampling_frequency * std::exp(-(tau - 1) * (tau - 1)));
  constexpr double least_radius = 1e-3;
  return {std::max(least_radius, core - 0.0203 * missing + 0.0397 * fades),
          std::max(least_radius, tail - 0.14 * missing - 0.495 * fades),
          std::clamp(share + correction, 0.0, 1.0)};
}

}  // namespace

void CalorimeterGeometry::fields(core::FieldList& list) {
  list.add("shape", shape, "cells along X, Y and Z; layers follow each other along Z",
           core::Range::between(1, 1000));
  list.add("cell_mm", cell_mm, "width of a cell along X and Y", core::Range::positive());
  list.add("layer_mm", layer_mm, "depth of a layer", core::Range::positive());
  list.add("layer_radiation_lengths", layer_radiation_lengths, "the same in radiation lengths",
           core::Range{0.05, 5});
  list.add("moliere_radius_mm", moliere_radius_mm, "of absorber, silicon and gaps together",
           core::Range::positive());
}

void ShowerConfig::fields(core::FieldList& list) {
  geometry.fields(list);
  const core::Range energies = core::Range::between(1, 1000);
  list.add("lowest_energy_GeV", lowest_energy_GeV, "energies are uniform from here on", energies);
  list.add("highest_energy_GeV", highest_energy_GeV, "up to here", energies);
  const core::Range angles = core::Range::between(30, 150);
  list.add("lowest_angle_deg", lowest_angle_deg, "polar angles are uniform from here on", angles);
  list.add("highest_angle_deg", highest_angle_deg, "up to here; 90: along Z", angles);
  list.add("sampling_fraction", sampling_fraction,
           "what cells see of the energy lost in their layer", {0, 1, true, false});
  list.add("resolution", resolution, "sigma / E at 1 GeV by sampling alone", {0.01, 1});
}

void ShowerConfig::check(const std::string& key) const {
  if (geometry.shape.size() != 3)
    throw core::ConfigError(core::text(key, ".shape"),
                            core::text("has ", geometry.shape.size(),
                                       " numbers. Give cells along X, Y and Z: [51, 51, 25]."));
  const auto check = [&](const char* name, double lowest, double highest) {
    if (lowest > highest)
      throw core::ConfigError(core::text(key, ".lowest_", name),
                              core::text("is above ", key, ".highest_", name, " (", lowest, " > ",
                                         highest, "). Change either."));
  };
  check("energy_GeV", lowest_energy_GeV, highest_energy_GeV);
  check("angle_deg", lowest_angle_deg, highest_angle_deg);
}

double LongitudinalProfile::until(double depth) const {
  // The regularised incomplete gamma function by its series, all of whose terms are positive.
  // source: Abramowitz and Stegun, 6.5.29
  const double x = beta() * depth;
  if (x <= 0) return 0;
  constexpr double enough = 1e-12;
  double term = 1 / shape, sum = term;
  for (double n = shape + 1; term > enough * sum || n < x; ++n) sum += term *= x / n;
  return std::min(1.0, sum * std::exp(shape * std::log(x) - x - std::lgamma(shape)));
}

/// Random numbers of one shower, one after the other.
class ShowerModel::Draws {
 public:
  Draws(const core::RandomStream& random, std::uint32_t number)
      : random_(random), number_(number) {}

  double uniform() {
    if (next_ == numbers_.size()) {
      random_.uniform(number_, 0, numbers_, drawn_);
      drawn_ += static_cast<std::uint32_t>(numbers_.size());
      next_ = 0;
    }
    return numbers_[next_++];
  }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }
  /// Of mean and variance `shape`. source: Marsaglia and Tsang, ACM Trans. Math. Softw. 26 (2000) 363
  double gamma(double shape) {
    if (shape < 1) {
      const double smaller = std::pow(uniform(), 1 / shape);
      return smaller * gamma(shape + 1);
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), cube = std::pow(1 + c * x, 3);
      if (cube > 0 && std::log(uniform()) < x * x / 2 + d * (1 - cube + std::log(cube)))
        return d * cube;
    }
  }

 private:
  const core::RandomStream& random_;
  std::uint32_t number_, drawn_ = 0;
  std::array<double, 64> numbers_{};
  std::size_t next_ = 64;
};

struct ShowerModel::Axis {
  double x, y,
      middle;  ///< where it is in the middle of the block, and the layer where it is there, in cells
  double slope;    ///< cells along y a layer
  double depth;    ///< of a layer along it, in radiation lengths
  double stretch;  ///< of circles around it along y, where they meet a layer
};

/// What is spread over the cells of one layer.
struct ShowerModel::Layer {
  std::uint32_t number;  ///< of the shower
  std::int64_t z;
  double x, y, stretch;  ///< of the axis
  RadialProfile radial;
  double energy;  ///< that is seen [GeV]
  std::size_t spots;
};

ShowerModel::ShowerModel(const ShowerConfig& config, std::uint64_t seed)
    : config_(config),
      random_(seed, "showers"),
      per_sampling_frequency_(config.geometry.layer_radiation_lengths) {
  config_.check("data");
}

// source: hep-ex/0001020, sections 4.1.1 (homogeneous media) and 4.2.1 (sampling calorimeters)
ShowerModel::Fluctuations ShowerModel::fluctuations(double energy_GeV) const {
  const double y = std::log(energy_GeV / critical_energy_GeV);
  const double maximum =
      y - 0.812 - 0.55 * per_sampling_frequency_ - 0.69 * (1 - electron_response);
  const double shape = 0.81 + (0.458 + 2.26 / atomic_number) * y - 0.476 * per_sampling_frequency_;
  constexpr double least_maximum = 0.5, least_shape = 1.2;  // of very thick layers
  return {std::log(std::max(least_maximum, maximum)), std::log(std::max(least_shape, shape)),
          1 / (-2.5 + 1.25 * y), 1 / (-0.82 + 0.79 * y), 0.784 - 0.023 * y};
}

// Sampling fluctuates as a gamma density does: its variance is resolution^2 E, and it never is below 0. What
// is left is no signal in any cell.
double ShowerModel::visible_energy(double lost, Draws& draws) const {
  constexpr double least_GeV = 1e-6;
  const double square = config_.resolution * config_.resolution;
  if (lost <= 0) return 0;
  const double visible = config_.sampling_fraction * square * draws.gamma(lost / square);
  return visible < least_GeV ? 0 : visible;
}

LongitudinalProfile ShowerModel::profile_of(const Fluctuations& f, Draws& draws) {
  const double one = draws.normal(), other = draws.normal();
  const double both = std::sqrt((1 + f.correlation) / 2),
               apart = std::sqrt((1 - f.correlation) / 2);
  constexpr double least = 1.05;  // a density of depth that begins at 0
  return {std::max(least, std::exp(f.mean_shape + f.sigma_shape * (both * one - apart * other))),
          std::exp(f.mean_maximum + f.sigma_maximum * (both * one + apart * other))};
}

// The block is cut around the shower: its axis meets the block's middle where showers of its energy have
// their centre, or half way through a block that ends before.
ShowerModel::Axis ShowerModel::axis_of(double angle, const Fluctuations& f, Draws& draws) const {
  const CalorimeterGeometry& geometry = config_.geometry;
  const auto half = [&](std::size_t i) { return static_cast<double>(geometry.shape[i]) / 2; };
  Axis axis{};
  axis.stretch = 1 / std::sin(angle);
  axis.depth = geometry.layer_radiation_lengths * axis.stretch;
  axis.slope = std::cos(angle) * axis.stretch * geometry.layer_mm / geometry.cell_mm;
  const double shape = std::exp(f.mean_shape);
  axis.middle = std::min(half(2), shape / (shape - 1) * std::exp(f.mean_maximum) / axis.depth);
  axis.x = half(0) + draws.between(-0.5, 0.5);
  axis.y = half(1) + draws.between(-0.5, 0.5);
  return axis;
}

// The first two numbers of a shower.
ShowerModel::Particle ShowerModel::particle_of(Draws& draws) const {
  const double energy = draws.between(config_.lowest_energy_GeV, config_.highest_energy_GeV);
  return {energy, draws.between(config_.lowest_angle_deg, config_.highest_angle_deg) *
                      std::numbers::pi / 180};
}

ShowerModel::Particle ShowerModel::particle(std::uint32_t number) const {
  Draws draws(random_, number);
  return particle_of(draws);
}

ShowerModel::Particle ShowerModel::make(std::uint32_t number, std::span<float> cells) const {
  Draws draws(random_, number);
  const Particle particle = particle_of(draws);
  const Fluctuations f = fluctuations(particle.energy_GeV);
  const LongitudinalProfile profile = profile_of(f, draws);
  // Spots end before the energy does. source: hep-ex/0001020, fluctuations of radial profiles
  const LongitudinalProfile of_spots{profile.shape * (0.844 + 0.0026 * atomic_number),
                                     profile.maximum * (0.813 + 0.0019 * atomic_number)};
  const double spots = 10.3 / config_.resolution * std::pow(particle.energy_GeV, 0.959);
  const double mean_shape = std::exp(f.mean_shape);
  const double depth_of_tau = profile.mean() * (mean_shape - 1) / mean_shape;
  const Axis axis = axis_of(particle.angle, f, draws);

  std::fill(cells.begin(), cells.end(), 0.0F);
  std::vector<float> room;
  double lost_before = 0, spots_before = 0;
  for (std::int64_t z = 0; z < config_.geometry.shape[2]; ++z) {
    const double end = static_cast<double>(z + 1) * axis.depth,
                 centre = static_cast<double>(z) + 0.5;
    const double lost = profile.until(end), spots_until = of_spots.until(end);
    const RadialProfile radial = radial_profile(
        particle.energy_GeV, centre * axis.depth / depth_of_tau, per_sampling_frequency_);
    const double energy = visible_energy(particle.energy_GeV * (lost - lost_before), draws);
    const double wanted = spots * (spots_until - spots_before) + draws.uniform();
    add_spots({number, z, axis.x, axis.y + (centre - axis.middle) * axis.slope, axis.stretch,
               radial, energy, std::max<std::size_t>(1, static_cast<std::size_t>(wanted))},
              room, cells);
    lost_before = lost;
    spots_before = spots_until;
  }
  return particle;
}

// In place: two uniform numbers become the place of a spot, in cells. Without calls or branches, so that
// compilers make vectors of it.
void ShowerModel::place_spots(const Layer& layer, std::span<float> along_x,
                              std::span<float> along_y) const {
  const double cells_per_radius = config_.geometry.moliere_radius_mm / config_.geometry.cell_mm;
  const auto core = static_cast<float>(layer.radial.core * cells_per_radius);
  const auto tail = static_cast<float>(layer.radial.tail * cells_per_radius);
  const auto share = static_cast<float>(layer.radial.core_share);
  const auto x = static_cast<float>(layer.x), y = static_cast<float>(layer.y);
  const auto stretch = static_cast<float>(layer.stretch);
  for (std::size_t i = 0; i < along_x.size(); ++i) {
    // One number chooses the component and, by what is left of it, the radius: u = r^2 / (r^2 + R^2).
    const float number = along_x[i], turn = 4 * along_y[i];
    const bool in_core = number < share;
    const float over = in_core ? number : number - share, under = in_core ? share : 1 - share;
    const float u = std::min(over / under, 1 - 1e-7F);
    const float radius = (in_core ? core : tail) * std::sqrt(u / (1 - u));
    // Of a quarter turn's angle, at most pi / 4 from its middle, the series to 1e-7.
    const auto quarter = static_cast<float>(static_cast<std::int32_t>(turn));
    const float a = (turn - quarter - 0.5F) * std::numbers::pi_v<float> / 2, b = a * a;
    const float sine = a * (1 + b * (-1.F / 6 + b * (1.F / 120 - b / 5040)));
    const float cosine = 1 + b * (-0.5F + b * (1.F / 24 + b * (-1.F / 720 + b / 40320)));
    const bool is_odd = quarter == 1 || quarter == 3;
    const float sign = quarter < 2 ? radius : -radius;
    along_x[i] = x + sign * (is_odd ? -sine : cosine);
    along_y[i] = y + sign * stretch * (is_odd ? cosine : sine);
  }
}

void ShowerModel::add_spots(const Layer& layer, std::vector<float>& room,
                            std::span<float> cells) const {
  if (layer.energy <= 0) return;
  room.resize(std::max(room.size(), 2 * layer.spots));
  const std::span<float> both(room.data(), 2 * layer.spots);
  const auto along_x = both.first(layer.spots), along_y = both.last(layer.spots);
  random_.uniform(layer.number, static_cast<std::uint32_t>(1 + layer.z), both);
  place_spots(layer, along_x, along_y);
  const auto energy = static_cast<float>(layer.energy / static_cast<double>(layer.spots));
  const std::vector<std::int64_t>& shape = config_.geometry.shape;
  const auto width = static_cast<float>(shape[0]), height = static_cast<float>(shape[1]);
  for (std::size_t i = 0; i < layer.spots; ++i) {
    const float x = along_x[i], y = along_y[i];
    if (x < 0 || x >= width || y < 0 || y >= height) continue;
    const std::int64_t column =
        static_cast<std::int64_t>(x) * shape[1] + static_cast<std::int64_t>(y);
    cells[static_cast<std::size_t>(column * shape[2] + layer.z)] += energy;
  }
}

}  // namespace sagips::workloads
