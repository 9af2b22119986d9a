#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sagips::record {

/// The learning curve of a training among simulated ranks, evaluation by evaluation. The same job
/// gives the same one, bit for bit.
struct SimulatedLearningCurve {
  /// The ranks after the same number of epochs. Residuals: eq. (6), one a parameter.
  struct Point {
    std::int64_t epoch = 0;
    double time_s = 0;              ///< simulated, when the median rank was there
    double last_s = 0;              ///< when the last one was
    std::vector<double> first;      ///< of rank 0's generator
    std::vector<double> mean;       ///< of the mean over ranks of their predictions
    std::vector<double> spread;     ///< deviation over ranks, relative to the truth
    double typical = 0;             ///< root mean square over ranks and parameters of the residuals
    double consensus_distance = 0;  ///< (1 / p) sum_r |w_r - mean w|^2 of the shared weights
  };
  std::string exchange;     ///< by name
  std::string description;  ///< what it turned out to be
  std::int64_t ranks = 1, floats = 0;
  std::vector<std::string> parameters;  ///< free, with a truth that is not 0
  std::vector<Point> points;
  double exposed_s = 0;  ///< in the exchange or waiting for others, an epoch, mean over ranks
  /// One-sided reads of all ranks: how many were used, too old, not yet there; ages in epochs.
  std::int64_t used = 0, dropped = 0, missing = 0;
  double age_mean = 0, age_maximum = 0;
};

/// Writes the learning curve as JSON. throws: StorageError
void write_simulated_learning_curve(const std::string& path, const SimulatedLearningCurve& curve);
/// throws: DataError
SimulatedLearningCurve read_simulated_learning_curve(const std::string& path);

}  // namespace sagips::record
