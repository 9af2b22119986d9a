#include "sagips/run/learning_figures.hpp"

#include "sagips/analysis/figures/learning.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/figure_writer.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t most_classes = 12;   // more have no room
constexpr std::int64_t most_points = 2000;  // of a picture

std::vector<double> numbers(const torch::Tensor& values) {
  const torch::Tensor dense = values.to(torch::kFloat64).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

// Shares of the rows of each class that were taken for each class. shape: [classes, classes]
torch::Tensor confusion(const torch::Tensor& taken, const torch::Tensor& targets,
                        std::int64_t classes) {
  const torch::Tensor counts =
      torch::bincount(targets * classes + taken, {}, classes * classes).reshape({classes, classes});
  return counts.to(torch::kFloat64) / counts.sum(1, true).clamp_min(1);
}

// The curve of one class against all others, thinned to what a picture shows.
analysis::RocCurve roc(const std::string& label, const torch::Tensor& scores,
                       const torch::Tensor& is_signal) {
  const torch::Tensor order = scores.argsort(0, /*descending=*/true);
  const torch::Tensor signal = is_signal.index_select(0, order).to(torch::kFloat64);
  const torch::Tensor found = signal.cumsum(0), wrong = (1 - signal).cumsum(0);
  // equal scores are one step of the curve
  const torch::Tensor sorted = scores.index_select(0, order);
  const torch::Tensor ends =
      torch::cat({sorted.slice(0, 1) != sorted.slice(0, 0, -1), torch::ones({1}, torch::kBool)})
          .nonzero()
          .flatten();
  const std::int64_t step = std::max<std::int64_t>(1, ends.size(0) / most_points);
  const torch::Tensor places =
      torch::cat({ends.slice(0, 0, ends.size(0), step), ends.slice(0, -1)});
  const auto share = [&](const torch::Tensor& counts) {
    std::vector<double> values{0};
    for (const double value :
         numbers(counts.index_select(0, places) / counts.slice(0, -1).clamp_min(1)))
      values.push_back(value);
    return values;
  };
  return {label, share(wrong), share(found)};
}

std::vector<std::string> class_names(std::vector<std::string> names, std::int64_t classes) {
  for (std::int64_t k = static_cast<std::int64_t>(names.size()); k < classes; ++k)
    names.push_back(core::text(k));
  names.resize(static_cast<std::size_t>(classes));
  return names;
}

void draw_classes(FigureWriter& draw, const torch::Tensor& probabilities,
                  const torch::Tensor& targets, const std::vector<std::string>& known) {
  const std::int64_t classes = probabilities.size(1);
  if (classes > most_classes) return;
  const std::vector<std::string> names = class_names(known, classes);
  draw(analysis::confusion_matrix(numbers(confusion(probabilities.argmax(1), targets, classes)),
                                  names),
       "confusion");
  std::vector<analysis::RocCurve> curves;
  for (std::int64_t k = classes == 2 ? 1 : 0; k < classes; ++k)
    curves.push_back(
        roc(names[static_cast<std::size_t>(k)], probabilities.select(1, k), targets == k));
  draw(analysis::roc_curves(curves), "roc");
}

void draw_yes_or_no(FigureWriter& draw, const torch::Tensor& probabilities,
                    const torch::Tensor& targets) {
  const torch::Tensor score = probabilities.flatten(1).select(1, 0);
  const torch::Tensor is_signal = targets.flatten(1).select(1, 0) > 0.5;
  draw(analysis::confusion_matrix(
           numbers(confusion((score > 0.5).to(torch::kInt64), is_signal.to(torch::kInt64), 2)),
           {"no", "yes"}),
       "confusion");
  draw(analysis::roc_curves({roc("yes", score, is_signal)}), "roc");
}

void draw_values(FigureWriter& draw, const torch::Tensor& values, const torch::Tensor& targets) {
  const torch::Tensor found = values.flatten(1), wanted = targets.flatten(1);
  if (wanted.size(0) < 2) return;  // one row has no spread
  std::vector<analysis::Regression> outputs;
  for (std::int64_t i = 0; i < std::min(most_classes, found.size(1)); ++i)
    outputs.push_back(
        {core::text("output ", i), numbers(wanted.select(1, i)), numbers(found.select(1, i))});
  draw(analysis::regression_residuals(outputs), "residuals");
  draw(analysis::predicted_against_true(outputs, most_points), "predicted_against_true");
}

}  // namespace

std::string draw_learning_figures(const record::RunDirectory& folder,
                                  const analysis::FigureConfig& config, const optim::Loss& loss,
                                  const torch::Tensor& predicted, const torch::Tensor& targets,
                                  const std::vector<std::string>& classes, core::Log& log) {
  FigureWriter draw(folder, config, log);
  draw(
      analysis::learning_curves(record::read_metrics(folder.file(record::run_files::metrics.name))),
      "learning_curves");
  if (!predicted.defined()) return draw.finish();  // no rows were kept aside
  if (loss.of_classes())
    draw_classes(draw, predicted, targets, classes);
  else if (loss.targets == optim::Loss::Targets::yes_or_no)
    draw_yes_or_no(draw, predicted, targets);
  else
    draw_values(draw, predicted, targets);
  return draw.finish();
}

}  // namespace sagips::run
