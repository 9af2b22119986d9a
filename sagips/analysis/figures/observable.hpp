#pragma once
#include <string>

#include "sagips/analysis/figure.hpp"
#include "sagips/analysis/histogram.hpp"

namespace sagips::analysis {

/// The contents of a histogram, divided by `unit`, as steps.
Series outline(const Histogram& histogram, const std::string& label, Colour colour,
               double unit = 1);

/// Data as points with their statistical errors over the model as steps, and below data / model
/// with the model's own statistical error as a band.
///
/// The model is scaled to the data's total, under- and overflow included: shapes are compared.
/// label, unit: of the observable; the unit may be empty
/// throws: Error when the bins differ or the model is empty
Figure observable_with_ratio(const Histogram& data, const Histogram& model,
                             const std::string& label, const std::string& unit);

}  // namespace sagips::analysis
