#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/optim/learn/losses.hpp"

namespace sagips::optim {

/// A metric of a user's own: of what outputs stand for (probabilities, values in the data's unit), targets
/// and weights of rows, float64. shapes: [rows, ...], as in Loss, [rows]
struct Metric {
  std::string name;
  std::function<double(const torch::Tensor& predicted, const torch::Tensor& targets,
                       const torch::Tensor& weights)>
      value;
};
/// Every learning problem is judged by it, too, from now on; an earlier one of that name is replaced. Called
/// as `add_loss` is. throws: StateError for a name that SAGIPS has
void add_metric(Metric metric);
/// A function in Python by its word. throws: ConfigError
Metric python_metric(const std::string& word);

/// How well outputs agree with targets, by name; row weights count in each.
///
/// `loss` always. Classes: `accuracy`, `top_3_accuracy` (of more classes than top_k), `area_under_curve` (of
/// two classes; of more the mean of each that is there against all others). Binary cross entropy: `accuracy` and
/// `area_under_curve` of the first output. Otherwise `mean_square_error`, `mean_absolute_error` of what the
/// outputs stand for. Up to 50 classes or targets also one by one, `recall/NAME` (the share of the rows of a
/// class that are found), `precision/NAME` (the share of those taken for it that are of it; NaN where there are
/// none), `area_under_curve/NAME` against all others, `efficiency_at_1_percent/NAME` and `.._10_..` (the share of
/// them that is found where so much of the others is taken for them), `mean_square_error/NAME` and
/// `mean_absolute_error/NAME`. What `add_metric` has added. Where a loss has
/// heads: `loss`, and of each head by itself what it would have alone, `HEAD.loss`, `HEAD.accuracy`, ...
/// names: of the classes or targets; fewer: numbers from 0
/// shapes: as in Loss; weights [rows] or undefined
std::map<std::string, double> metrics(const Loss& loss, const torch::Tensor& outputs,
                                      const torch::Tensor& targets, const torch::Tensor& weights,
                                      std::int64_t top_k = 3,
                                      const std::vector<std::string>& names = {});

/// Logits of each class against all others, log p / (1 - p), which tell rows apart where probabilities are next
/// to 0 or 1. shapes: outputs of the cross entropy [rows, classes] -> the same
torch::Tensor class_scores(const torch::Tensor& outputs);

/// Rates of true and false positives as the threshold falls from above all scores to the least: shares of the
/// weights from 0 to 1, one more than there are different scores.
struct RocCurve {
  torch::Tensor found, wrong;
  /// Under it: the probability that a row of one kind has a larger score than a row of the other, ties half;
  /// NaN where a kind is missing or a score is NaN.
  double area = 0;
};
/// source: Hanley and McNeil, Radiology 143 (1982) 29
/// shapes: scores [rows], is_signal [rows] bool, weights [rows] float64
RocCurve roc_curve(const torch::Tensor& scores, const torch::Tensor& is_signal,
                   const torch::Tensor& weights);

}  // namespace sagips::optim
