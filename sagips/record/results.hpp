#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/record/event.hpp"

namespace sagips::record {

/// One row of the final table.
struct ParameterResult {
  std::string name, unit;
  bool fixed = false;
  std::optional<double> truth;
  double recovered = 0;
  double spread = 0;                     ///< over noise vectors: not an error of the parameter
  std::optional<double> residual_start;  ///< eq. (6) before the first epoch
  std::optional<double> residual_end;
  std::optional<double> floor;                 ///< Cramer-Rao, relative to the truth
  std::optional<double> fit_value, fit_error;  ///< maximum-likelihood fit of the same data
  std::optional<double> error{};               ///< of `recovered`; Results::errors_from says which
  std::optional<double> bootstrap_error{};     ///< spread over data drawn again
  std::optional<double> seed_error{};          ///< spread over seeds
  /// The two sides of an interval of 68 % around `recovered` that is not symmetric.
  std::optional<double> error_below{}, error_above{};
  /// One-sided limits at 95 %, where an end of the range is near.
  std::optional<double> lower_limit{}, upper_limit{};
  bool open = false;  ///< the data do not fix it: `recovered` is one of many values
  std::string
      at_end{};  ///< "lower", "upper": the end of its range that `recovered` lies at; else empty
  std::optional<double> period{};  ///< values that differ by it are the same, as of a phase
};

/// (recovered - true) / error, of the truth's side; nothing where one is missing or the parameter is
/// fixed.
std::optional<double> pull(const ParameterResult& row);

/// Probabilities below which a fit is in tension with the data, and does not describe them. Two tests a
/// solution are made: one right pipeline in a hundred is said not to describe its data.
constexpr double in_tension = 0.05, improbable = 0.005;

/// Whether the pipeline can describe the data.
struct GoodnessResult {
  std::string name;  ///< "chi2 of the moments"
  double value = 0;
  double degrees_of_freedom = 0;  ///< 0: not a chi2
  double p_value = 1;
};

/// One row behind the other; in files a list of rows.
struct SquareMatrix : std::vector<double> {
  SquareMatrix() = default;
  explicit SquareMatrix(std::vector<double> rows) : std::vector<double>(std::move(rows)) {}
  SquareMatrix(std::initializer_list<double> rows) : std::vector<double>(rows) {}
};

/// Correlations of the free parameters' estimates.
struct CorrelationResult {
  std::string of;                  ///< "errors: covariance of the moments"
  std::vector<std::string> names;  ///< of the rows and columns
  SquareMatrix values;             ///< shape: [names, names]
  SquareMatrix covariance{};       ///< the same in physical units; empty: not known
};

/// Another solution that the data allow, all parameters.
struct OtherSolution {
  std::vector<double> values, errors;
  double score = 0;  ///< what the method minimises: chi2 of the moments
};

/// Peak resident memory over ranks [MB].
struct PeakMemory {
  double mean = 0, maximum = 0;
};

struct Results {
  std::string workload, version, git_hash, data_origin, finish_reason;
  bool complete = true;
  std::int64_t seed = 0, epochs = 0, events = 0;
  double time_s = 0;
  std::vector<ParameterResult> parameters;
  std::string method{};       ///< what found `recovered`: "gan", "moments", ...
  std::string errors_from{};  ///< what `error` is: "covariance of the moments"; empty: none
  std::vector<GoodnessResult> goodness{};
  std::vector<NamedNumber> numbers;  ///< e.g. "ks_mean_start", "ks_mean_end", "norm_1_residual"
  std::vector<CorrelationResult> correlations{};
  std::vector<std::string> open_directions{};  ///< "a - 0.5 b": what the data do not fix
  std::vector<OtherSolution> others{};         ///< by their score
  std::vector<core::Warning> warnings{};       ///< all that were said
  /// Of a training, since the run began: the mean and, part by part, the largest over ranks that compute.
  std::optional<TimeSplit> time_split{}, time_split_maximum{};
  std::optional<StepTimes> steps{};       ///< of the first rank that computes
  std::optional<PeakMemory> memory_mb{};  ///< of the processes that have ended it
};

/// The correlations and the covariance of the errors of `recovered`; nullptr: none are stated.
const CorrelationResult* errors_of_answer(const Results& results);

/// `Results::method` of a network that learns targets from inputs.
inline constexpr const char* learning_method = "network";

/// A metric before the first epoch and after the last one.
struct MetricResult {
  std::string name;
  std::optional<double> start;
  double end = 0;
};
/// Those among the numbers of results: NAME_start and NAME_end.
std::vector<MetricResult> metrics_of(const Results& results);

void write_results_json(const std::string& path, const Results& results);
Results read_results_json(const std::string& path);  ///< throws DataError
/// What a run found, for other programs: the content of its results.json and, of a closure test, the
/// rows of closure.csv under `closure`, with `warnings` and, by code, in how many experiments one was
/// said; in one JSON object with the path of the folder. The files are as this program wrote them.
std::string results_of_folder(const std::string& folder,
                              const std::vector<core::Warning>& warnings);
/// One row a parameter; without parameters one row a metric.
void write_summary_csv(const std::string& path, const Results& results);
/// covariance.npy, f8 [free, free]; nothing where no covariance is stated. folder: of the run
void write_covariance(const std::string& folder, const Results& results);

}  // namespace sagips::record
