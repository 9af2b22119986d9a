#pragma once
#include "sagips/problem/comparison.hpp"
#include "sagips/run/figure_writer.hpp"

namespace sagips::run {

/// Draws what a comparison has found, each figure as `compared_NAME`.
void draw_comparison(FigureWriter& draw, const problem::ExampleComparison& comparison);

}  // namespace sagips::run
