#include "sagips/run/generation_figures.hpp"

#include <algorithm>

#include "sagips/analysis/figures/images.hpp"
#include "sagips/analysis/figures/learning.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/figure_writer.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t images = 10;       // of each kind
constexpr std::int64_t most_pixels = 16;  // of a side; larger images are shown in mean values

// Grey images of two dimensions: means over channels, and sums over what is deeper.
// shape: [rows, channels, height, width, ...] -> as image_rows takes them
std::vector<analysis::Image> shown(torch::Tensor examples) {
  if (examples.dim() > 4) examples = examples.flatten(4).sum(4);
  examples = examples.mean(1, /*keepdim=*/true);
  const std::int64_t height = std::min(most_pixels, examples.size(2)),
                     width = std::min(most_pixels, examples.size(3));
  examples = torch::adaptive_avg_pool2d(examples, {height, width}).to(torch::kFloat64).contiguous();
  std::vector<analysis::Image> all;
  for (std::int64_t i = 0; i < examples.size(0); ++i) {
    const auto* const values = examples[i].data_ptr<double>();
    all.push_back({static_cast<std::size_t>(width), {values, values + height * width}});
  }
  return all;
}

// Rows that follow each other in their conditions, so that a column shows one of each kind.
torch::Tensor chosen_rows(const data::ExampleRows& rows) {
  const torch::Tensor few = torch::arange(std::min<std::int64_t>(rows.rows(), 1000), torch::kInt64);
  const torch::Tensor targets = rows.read(few).targets;
  const torch::Tensor order =
      targets.size(1) > 0 ? targets.select(1, 0).argsort(/*stable=*/true, 0, false) : few;
  const std::int64_t count = std::min(images, order.size(0));
  return order.index_select(
      0, (torch::arange(count, torch::kFloat64) + 0.5)
             .mul(static_cast<double>(order.size(0)) / static_cast<double>(count))
             .to(torch::kInt64));
}

}  // namespace

std::string draw_generation_figures(const record::RunDirectory& folder,
                                    const analysis::FigureConfig& config,
                                    const optim::Adversarial& learner,
                                    const data::ExampleRows& rows, core::Log& log) {
  FigureWriter draw(folder, config, log);
  draw(
      analysis::learning_curves(record::read_metrics(folder.file(record::run_files::metrics.name))),
      "learning_curves");
  if (rows.rows() > 0) {
    const data::Examples few = rows.read(chosen_rows(rows));
    if (few.inputs.dim() >= 4)
      draw(analysis::image_rows({{"real", shown(few.inputs)},
                                 {"made", shown(learner.make(few.targets, "figures"))}}),
           "made_examples");
  }
  return draw.finish();
}

}  // namespace sagips::run
