#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/analysis/figures/over_time.hpp"

namespace sagips::analysis {

/// Loss of the batches and of the rows kept aside, and every other metric of these, against epochs; what
/// was found before the first one is left out. Of more classes or targets than colours the worst by name.
/// best: an epoch that is marked; 0: none
Figure learning_curves(const std::vector<record::Event>& metrics, std::int64_t best = 0);

/// Every metric of the rows kept aside of all members, not by class or target, one curve a member: of one
/// variant with mean and standard deviation over members, of several in their colours.
Figure member_curves(const std::vector<RunLearningCurve>& members);

/// Rows: the true class; columns: the predicted one; in the squares numbers of rows, their colour the share
/// of the true class. counts: row-major [classes, classes]. throws: Error when it is not square
Figure confusion_matrix(const std::vector<double>& counts, const std::vector<std::string>& classes);

/// Rates of true against false positives, as the threshold falls.
struct RocCurve {
  std::string label;
  std::vector<double> wrong, found;  ///< false and true positives, shares from 0 to 1
  double area = 0;                   ///< under it
};
/// The axis of false positives is logarithmic: what is found without one stands at its low end.
Figure roc_curves(const std::vector<RocCurve>& curves);

/// One output of a regression.
struct Regression {
  std::string label;
  std::vector<double> wanted, found;
};
/// Histograms of found minus wanted, one panel an output, with mean and width.
Figure regression_residuals(const std::vector<Regression>& outputs);
/// Points of the first `most` rows, one panel an output, with the line of equality.
Figure predicted_against_true(const std::vector<Regression>& outputs, std::int64_t most);

}  // namespace sagips::analysis
