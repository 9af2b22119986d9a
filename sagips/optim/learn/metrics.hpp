#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/optim/learn/losses.hpp"

namespace sagips::optim {

/// How well outputs agree with targets, by name; row weights count in each.
///
/// `loss` always. Classes: `accuracy`, `top_3_accuracy` (of more classes than top_k), `area_under_curve` (of
/// two classes; of more the mean of each that is there against all others). Binary cross entropy: `accuracy` and
/// `area_under_curve` of the first output. Otherwise `mean_square_error`, `mean_absolute_error` of what the
/// outputs stand for.
/// shapes: as in Loss; weights [rows] or undefined
std::map<std::string, double> metrics(const Loss& loss, const torch::Tensor& outputs,
                                      const torch::Tensor& targets, const torch::Tensor& weights,
                                      std::int64_t top_k = 3);

/// The probability that a row of one kind has a larger score than a row of the other, ties half.
/// source: Hanley and McNeil, Radiology 143 (1982) 29
/// shapes: scores [rows], is_signal [rows] bool, weights [rows]; NaN where a kind is missing
double area_under_curve(const torch::Tensor& scores, const torch::Tensor& is_signal,
                        const torch::Tensor& weights);

}  // namespace sagips::optim
