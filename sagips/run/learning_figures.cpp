#include "sagips/run/learning_figures.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/figures/learning.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/numbers.hpp"
#include "sagips/optim/learn/heads.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/figure_writer.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t most_outputs = 12, most_classes = 20;  // more have no room
constexpr std::int64_t most_points = 2000;                    // of a picture
constexpr double closest = 0.01;  // of two points of a curve: relative, or of the axis

using data::numbers_of;

// Rows with what ranks them and their weights, and what their pictures are called behind their kind.
struct Judged {
  torch::Tensor outputs, targets, weights;
  std::string suffix{};
};

// shape: [classes, classes]
std::vector<double> confusion(const torch::Tensor& taken, const Judged& rows,
                              std::int64_t classes) {
  return numbers_of(
      torch::bincount(rows.targets * classes + taken, rows.weights, classes * classes));
}

// Thinned to what a picture shows.
analysis::RocCurve shown(const std::string& label, const optim::RocCurve& roc) {
  analysis::RocCurve curve{label, {0}, {0}, roc.area};
  const std::vector<double> found = numbers_of(roc.found), wrong = numbers_of(roc.wrong);
  for (std::size_t i = 1; i < found.size(); ++i) {
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

// Each class against all others; of many those that are told apart worst.
void draw_roc(FigureWriter& draw, const Judged& rows, const std::vector<std::string>& names) {
  const torch::Tensor scores = optim::class_scores(rows.outputs);
  std::vector<analysis::RocCurve> curves;
  for (std::int64_t k = scores.size(1) == 2 ? 1 : 0; k < scores.size(1); ++k) {
    const optim::RocCurve roc =
        optim::roc_curve(scores.select(1, k), rows.targets == k, rows.weights);
    if (!std::isnan(roc.area)) curves.push_back(shown(names[static_cast<std::size_t>(k)], roc));
  }
  std::string title;
  if (curves.size() > static_cast<std::size_t>(most_classes)) {
    title = core::text("the ", most_classes, " of ", curves.size(), " classes with the least area");
    std::stable_sort(curves.begin(), curves.end(),
                     [](const auto& a, const auto& b) { return a.area < b.area; });
    curves.resize(static_cast<std::size_t>(most_classes));
  }
  analysis::Figure figure = analysis::roc_curves(curves);
  figure.title = title;
  draw(std::move(figure), "roc" + rows.suffix);
}

void draw_classes(FigureWriter& draw, const Judged& rows, const std::vector<std::string>& known) {
  const std::int64_t classes = rows.outputs.size(1);
  const std::vector<std::string> names = class_names(known, classes);
  if (classes <= most_classes)
    draw(analysis::confusion_matrix(confusion(rows.outputs.argmax(1), rows, classes), names),
         "confusion" + rows.suffix);
  draw_roc(draw, rows, names);
}

void draw_yes_or_no(FigureWriter& draw, const Judged& rows) {
  const torch::Tensor score = rows.outputs.flatten(1).select(1, 0);
  const torch::Tensor is_signal = rows.targets.flatten(1).select(1, 0) > 0.5;
  const Judged two{torch::stack({torch::zeros_like(score), score}, 1), is_signal.to(torch::kInt64),
                   rows.weights, rows.suffix};
  draw_classes(draw, two, {"no", "yes"});
}

void draw_values(FigureWriter& draw, const torch::Tensor& values, const Judged& rows,
                 const std::vector<std::string>& names) {
  const torch::Tensor found = values.flatten(1), wanted = rows.targets.flatten(1);
  if (wanted.size(0) < 2) return;  // one row has no spread
  std::vector<analysis::Regression> outputs;
  for (std::int64_t i = 0; i < std::min(most_outputs, found.size(1)); ++i)
    outputs.push_back({names.size() > static_cast<std::size_t>(i)
                           ? names[static_cast<std::size_t>(i)]
                           : core::text("output ", i),
                       numbers_of(wanted.select(1, i)), numbers_of(found.select(1, i))});
  draw(analysis::regression_residuals(outputs), "residuals" + rows.suffix);
  draw(analysis::predicted_against_true(outputs, most_points),
       "predicted_against_true" + rows.suffix);
}

void draw_rows(FigureWriter& draw, const optim::Loss& loss, const Judged& rows,
               const std::vector<std::string>& names) {
  if (loss.heads)
    for (const optim::Head& head : *loss.heads)
      draw_rows(draw, head.loss,
                {head.outputs_of(rows.outputs), head.targets_of(rows.targets), rows.weights,
                 "_" + head.name},
                head.names);
  else if (loss.of_classes())
    draw_classes(draw, rows, names);
  else if (loss.targets == optim::Loss::Targets::yes_or_no)
    draw_yes_or_no(draw, rows);
  else
    draw_values(draw, loss.predicted(rows.outputs), rows, names);
}

}  // namespace

std::string draw_learning_figures(const record::RunDirectory& folder,
                                  const analysis::FigureConfig& config, const optim::Loss& loss,
                                  const optim::Prediction& rows,
                                  const std::vector<std::string>& names, core::Log& log) {
  FigureWriter draw(folder, config, log);
  draw(
      analysis::learning_curves(record::read_metrics(folder.file(record::run_files::metrics.name))),
      "learning_curves");
  if (!rows.outputs.defined()) return draw.finish();  // no rows were kept aside
  const Judged judged{rows.outputs, rows.targets,
                      rows.weights.defined()
                          ? rows.weights.to(torch::kFloat64)
                          : torch::ones({rows.outputs.size(0)}, torch::kFloat64)};
  draw_rows(draw, loss, judged, names);
  return draw.finish();
}

}  // namespace sagips::run
