#include "sagips/env/samplers/axis.hpp"

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

void Axis::fields(core::FieldList& list) {
  list.add("low", low, "first point of the table");
  list.add("high", high, "last point of the table");
  list.add("points", points, "points of the table", core::Range::between(3, 1e5));
  list.choice("spacing", spacing,
              {{"linear", Spacing::linear},
               {"quadratic", Spacing::quadratic},
               {"logarithmic", Spacing::logarithmic}},
              "equal steps, steps that grow from the low end, or equal ratios");
}

void Axis::check(const std::string& where) const {
  if (!(low < high))
    throw core::ConfigError(
        where, core::text("the axis ", low, " .. ", high, " is empty. Set low below high."));
  if (spacing == Spacing::logarithmic && low <= 0)
    throw core::ConfigError(where, core::text("an axis from ", low,
                                              " has no logarithm. Set low above 0, or spacing "
                                              "linear or quadratic."));
}

torch::Tensor Axis::positions() const {
  const torch::Tensor share = torch::linspace(0, 1, points, torch::kFloat64);
  if (spacing == Spacing::logarithmic) return torch::exp(share * std::log(high / low)) * low;
  return (spacing == Spacing::quadratic ? share.square() : share) * (high - low) + low;
}

}  // namespace sagips::env
