#pragma once
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/stage.hpp"

namespace sagips::env {

/// Compares a stage's vector-Jacobian product with central differences in double precision, for one
/// random slope of the output and for each column of a two-dimensional input alone.
/// throws: ShapeError naming the stage, the column and both numbers
void check_product(const Stage& stage, const Events& input, const Noise& noise);

}  // namespace sagips::env
