#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sagips::analysis {

/// What the experiments of a closure test say of one parameter and one kind of error.
///
/// Errors are standard errors of what was measured, not of what was expected: the mean's is width /
/// sqrt(n); the width's follows from the fourth moment of the pulls, since they need not be normal
/// (fewer than 30 pulls are taken as if they were); the coverage's is half of the interval of
/// Wilson's score.
/// source: E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209
struct ClosureSummary {
  std::string parameter;
  std::string errors_from;                  ///< which kind of error: "covariance of the moments"
  std::size_t experiments = 0;              ///< that stated a finite error above 0
  std::size_t unusable = 0;                 ///< the others that gave an answer
  double mean = 0, mean_error = 0;          ///< of the pulls (estimate - truth) / error; 0 expected
  double width = 0, width_error = 0;        ///< 1 expected
  double coverage = 0, coverage_error = 0;  ///< share within +- error; 0.683 expected
  std::vector<double> pulls;
};

/// An estimate with its error, of one experiment.
struct Estimate {
  double value = 0, error = 0;
};
ClosureSummary summarise_closure(const std::string& parameter, const std::string& errors_from,
                                 double truth, std::span<const Estimate> estimates);

/// The probability of a normal number to lie within one standard deviation of its mean.
inline constexpr double normal_coverage = 0.682689492137;

/// A table of parameter, errors, pull mean, pull width and coverage, each with its error.
std::string closure_table(const std::vector<ClosureSummary>& summaries);

/// The same for spreadsheets. throws: StorageError
void write_closure_csv(const std::string& path, const std::vector<ClosureSummary>& summaries);

}  // namespace sagips::analysis
