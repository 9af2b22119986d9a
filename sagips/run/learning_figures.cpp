#include "sagips/run/learning_figures.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/figures/learning.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/figure_writer.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t most_outputs = 12, most_classes = 20;  // more have no room
constexpr std::int64_t most_points = 2000;                    // of a picture
constexpr double closest = 0.01;  // of two points of a curve: relative, or of the axis

std::vector<double> numbers(const torch::Tensor& values) {
  const torch::Tensor dense = values.to(torch::kFloat64).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

// Rows with their weights.
struct Judged {
  torch::Tensor predicted, targets, weights;
};

// shape: [classes, classes]
std::vector<double> confusion(const torch::Tensor& taken, const Judged& rows,
                              std::int64_t classes) {
  return numbers(torch::bincount(rows.targets * classes + taken, rows.weights, classes * classes));
}

// The curve of one class against all others, thinned to what a picture shows; its area is NaN where one
// of the two has no row.
analysis::RocCurve roc(const std::string& label, const torch::Tensor& scores,
                       const torch::Tensor& is_signal, const torch::Tensor& weights) {
  analysis::RocCurve curve{label, {0}, {0}};
  curve.area = optim::area_under_curve(scores, is_signal, weights);
  // equal scores are one step of the curve
  const auto [values, places] = at::_unique(scores, /*sorted=*/true, /*return_inverse=*/true);
  const auto rates = [&, &places = places, &values = values](const torch::Tensor& counts) {
    const torch::Tensor sums = torch::zeros({values.size(0)}, torch::kFloat64)
                                   .scatter_add(0, places, counts)
                                   .flip(0)
                                   .cumsum(0);
    return numbers(sums / sums[-1]);
  };
  const std::vector<double> found = rates(is_signal * weights), wrong = rates(~is_signal * weights);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_apart = wrong[i] > (1 + closest) * curve.wrong.back() ||
                          found[i] > curve.found.back() + closest / 2 || i + 1 == found.size();
    const bool is_corner = i + 1 < found.size() && (wrong[i] == 0) != (wrong[i + 1] == 0);
    if (!is_apart && !is_corner) continue;
    curve.wrong.push_back(wrong[i]);
    curve.found.push_back(found[i]);
  }
  return curve;
}

std::vector<std::string> class_names(std::vector<std::string> names, std::int64_t classes) {
  for (std::int64_t k = static_cast<std::int64_t>(names.size()); k < classes; ++k)
    names.push_back(core::text(k));
  names.resize(static_cast<std::size_t>(classes));
  return names;
}

// Of many classes those that are told apart worst.
void draw_roc(FigureWriter& draw, std::vector<analysis::RocCurve> curves) {
  std::erase_if(curves, [](const auto& curve) { return std::isnan(curve.area); });
  std::string title;
  if (curves.size() > static_cast<std::size_t>(most_classes)) {
    std::stable_sort(curves.begin(), curves.end(),
                     [](const auto& a, const auto& b) { return a.area < b.area; });
    title = core::text("the ", most_classes, " of ", curves.size(), " classes with the least area");
    curves.resize(static_cast<std::size_t>(most_classes));
  }
  analysis::Figure figure = analysis::roc_curves(curves);
  figure.title = title;
  draw(std::move(figure), "roc");
}

void draw_classes(FigureWriter& draw, const Judged& rows, const std::vector<std::string>& known) {
  const std::int64_t classes = rows.predicted.size(1);
  const std::vector<std::string> names = class_names(known, classes);
  if (classes <= most_classes)
    draw(analysis::confusion_matrix(confusion(rows.predicted.argmax(1), rows, classes), names),
         "confusion");
  std::vector<analysis::RocCurve> curves;
  for (std::int64_t k = classes == 2 ? 1 : 0; k < classes; ++k)
    curves.push_back(roc(names[static_cast<std::size_t>(k)], rows.predicted.select(1, k),
                         rows.targets == k, rows.weights));
  draw_roc(draw, std::move(curves));
}

void draw_yes_or_no(FigureWriter& draw, const Judged& rows) {
  const torch::Tensor score = rows.predicted.flatten(1).select(1, 0);
  const torch::Tensor is_signal = rows.targets.flatten(1).select(1, 0) > 0.5;
  draw(analysis::confusion_matrix(confusion((score > 0.5).to(torch::kInt64),
                                            {score, is_signal.to(torch::kInt64), rows.weights}, 2),
                                  {"no", "yes"}),
       "confusion");
  draw_roc(draw, {roc("yes", score, is_signal, rows.weights)});
}

void draw_values(FigureWriter& draw, const torch::Tensor& values, const torch::Tensor& targets) {
  const torch::Tensor found = values.flatten(1), wanted = targets.flatten(1);
  if (wanted.size(0) < 2) return;  // one row has no spread
  std::vector<analysis::Regression> outputs;
  for (std::int64_t i = 0; i < std::min(most_outputs, found.size(1)); ++i)
    outputs.push_back(
        {core::text("output ", i), numbers(wanted.select(1, i)), numbers(found.select(1, i))});
  draw(analysis::regression_residuals(outputs), "residuals");
  draw(analysis::predicted_against_true(outputs, most_points), "predicted_against_true");
}

}  // namespace

std::string draw_learning_figures(const record::RunDirectory& folder,
                                  const analysis::FigureConfig& config, const optim::Loss& loss,
                                  const optim::Prediction& rows,
                                  const std::vector<std::string>& classes, core::Log& log) {
  FigureWriter draw(folder, config, log);
  draw(
      analysis::learning_curves(record::read_metrics(folder.file(record::run_files::metrics.name))),
      "learning_curves");
  if (!rows.outputs.defined()) return draw.finish();  // no rows were kept aside
  const torch::Tensor predicted = loss.predicted(rows.outputs);
  const Judged judged{predicted, rows.targets,
                      rows.weights.defined() ? rows.weights.to(torch::kFloat64)
                                             : torch::ones({predicted.size(0)}, torch::kFloat64)};
  if (loss.of_classes())
    draw_classes(draw, judged, classes);
  else if (loss.targets == optim::Loss::Targets::yes_or_no)
    draw_yes_or_no(draw, judged);
  else
    draw_values(draw, predicted, rows.targets);
  return draw.finish();
}

}  // namespace sagips::run
