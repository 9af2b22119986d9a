#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sagips::record {

/// What a closure experiment found, with one kind of error.
struct ExperimentEstimate {
  std::string errors_from;     ///< "covariance of the moments"
  std::vector<double> values;  ///< by parameter, physical units
  std::vector<double> errors;  ///< by parameter; not finite or 0: none
};

/// One closure experiment: toy data of its own, and what was found in them.
struct Experiment {
  std::int64_t number = 0;
  double time_s = 0;
  double core_s = 0;    ///< processor time, of all threads
  std::string failure;  ///< why there is no estimate; empty: there are
  std::vector<ExperimentEstimate> estimates;
  std::vector<std::string> warnings;  ///< codes of what was said about them, each once
  int attempts = 1;  ///< how often it was made, as the lines of a folder tell; not written
};

/// Adds a line to a file of JSON lines; complete when it returns. throws: StorageError
void append_experiment(const std::string& path, const Experiment& experiment);

/// All experiments of a folder's .jsonl files by number, each number once: one that failed gives way
/// to a later attempt. A last line that was cut
/// off by a crash is left out. throws: DataError for any other line that cannot be read
std::vector<Experiment> read_experiments(const std::string& folder);

/// How many experiments each code was said of.
std::map<std::string, int> warned(const std::vector<Experiment>& experiments);

}  // namespace sagips::record
