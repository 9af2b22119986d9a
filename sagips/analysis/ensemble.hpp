#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sagips::analysis {

/// What a study's members predict of some parameters, all for the same noise vectors.
struct Ensemble {
  std::vector<std::string> parameters;
  std::vector<std::optional<double>> truth;  ///< by parameter
  /// One array a member, row-major [noise vectors, parameters], physical units.
  std::vector<std::vector<float>> members;

  std::size_t rows() const;
};

/// What an ensemble says of one parameter, averaged over noise vectors.
struct EnsembleParameter {
  double value = 0;                ///< eq. (7)
  double spread = 0;               ///< eq. (8), 1/M
  double deviation = 0;            ///< standard deviation of the members' means, 1/(M-1)
  std::optional<double> residual;  ///< eq. (6); none where the truth is unknown or 0
};
/// source: SAGIPS paper, eq. (6) to (8) and Sec. VI-A
/// throws: Error when there is no member or their lengths differ
std::vector<EnsembleParameter> summarise(const Ensemble& ensemble);

/// One number for all parameters: the root mean square over those with a truth that is not zero.
struct EnsembleQuality {
  double residual = 0;  ///< of the residuals, eq. (6): the RMSE of figs. 8 to 10
  double spread = 0;    ///< of eq. (8) relative to the truth
};
/// Empty where no parameter has such a truth.
std::optional<EnsembleQuality> quality(const Ensemble& ensemble);

/// Standard errors of the two by leaving out one member after the other (jackknife); 0 with one.
/// source: Efron and Stein, Ann. Statist. 9 (1981) 586
EnsembleQuality quality_errors(const Ensemble& ensemble);

/// Mean and standard deviation over sub-ensembles of one size.
struct EnsembleSize {
  std::size_t members = 1;
  double residual = 0, residual_deviation = 0;
  double spread = 0, spread_deviation = 0;
};
/// For each size `draws` sub-ensembles, each without a member twice; the largest size has only one.
///
/// At most 500 of the noise vectors are looked at, evenly chosen.
/// source: SAGIPS paper, Sec. VI-B, figs. 9 and 10; seeded, so it repeats
/// cost:   sizes * draws * members * noise vectors * parameters additions
std::vector<EnsembleSize> over_sizes(const Ensemble& ensemble, std::span<const std::size_t> sizes,
                                     std::size_t draws, std::uint64_t seed);

/// Numbers of members from 1 to all, at most some 25 of them, denser where they are small.
std::vector<std::size_t> sampled_sizes(std::size_t members);

}  // namespace sagips::analysis
