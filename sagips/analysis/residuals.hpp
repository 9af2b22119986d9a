#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace sagips::analysis {

/// Relative residual (truth - prediction) / truth; not finite when the truth is zero.
/// source: SAGIPS paper, eq. (6)
double residual(double truth, double prediction);

/// Mean and spread of one network's predictions of a parameter over noise vectors.
struct Prediction {
  double mean = 0;    ///< eq. (7) with M = 1, averaged over the noise vectors
  double spread = 0;  ///< standard deviation over noise vectors (1/n): how far the generator has
                      ///< contracted, no error of the parameter
};
/// samples: row-major [rows, parameters]; one Prediction a parameter
/// throws: Error when there is no row or the last row is not full
std::vector<Prediction> predict(std::span<const float> samples, std::size_t parameters);

/// Ensemble response and spread for each noise vector, [rows * parameters] each.
/// source: SAGIPS paper, eq. (7) and (8); 1/M in eq. (8)
struct EnsembleResponse {
  std::vector<double> mean, spread;
};
/// members: M arrays [rows * parameters] evaluated on the same noise
/// throws: Error when there is no member or their lengths differ
EnsembleResponse ensemble_response(std::span<const std::vector<float>> members);

}  // namespace sagips::analysis
