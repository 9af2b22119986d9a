#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/record/event.hpp"

namespace sagips::analysis {

/// Loss of the batches and of the rows kept aside, and every other metric of these, against epochs.
Figure learning_curves(const std::vector<record::Event>& metrics);

/// Rows: the true class; columns: what the network takes it for; shares of the true class.
/// shares: row-major [classes, classes]. throws: Error when it is not square
Figure confusion_matrix(const std::vector<double>& shares, const std::vector<std::string>& classes);

/// How many of the wanted are found, against how many of the others are taken for them.
struct RocCurve {
  std::string label;
  std::vector<double> wrong, found;  ///< shares, from 0 to 1
};
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
