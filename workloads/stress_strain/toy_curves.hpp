#pragma once
#include <cstdint>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/data/examples.hpp"
#include "workloads/stress_strain/hardening_law.hpp"

namespace sagips::workloads {

inline constexpr std::int64_t numbers_of_point = 3, material_parameters = 2;

/// Drawn curves of materials, a stand-in for measured ones. Strength and exponent are even in their ranges; the failure
/// strain is even between a share of the largest strain and that strain, whatever the material. Each point has strain,
/// stress with normal noise, and the flag 1; behind the failure all three are 0.
struct ToyCurves {
  enum class Strains { even, random };

  HardeningLaw law;
  double lowest_strength = 200, highest_strength = 1200;  ///< MPa, of the law `root` without a unit
  double lowest_exponent = 0.1, highest_exponent = 0.5;
  double largest_strain = 0.3;
  double earliest_failure = 0.2;  ///< share of the largest strain; 1: none fails
  double noise = 10;              ///< standard deviation of a stress, in its unit
  Strains strains = Strains::even;

  void fields(core::FieldList& list);
  /// throws: ConfigError
  void check(const std::string& group) const;
  /// Curves number first, first + 1, ..., each a function of the seed and its number.
  /// shape: inputs [count, points, (strain, stress, flag)], targets [count, (strength, exponent)]
  data::Examples make(std::int64_t first, std::int64_t count, std::int64_t points,
                      std::uint64_t seed) const;
};

}  // namespace sagips::workloads
