#include "sagips/run/generation_figures.hpp"

#include <algorithm>

#include "sagips/analysis/figures/images.hpp"
#include "sagips/analysis/figures/learning.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/comparison_figures.hpp"
#include "sagips/run/figure_writer.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t images = 10, views = 4;                // of each kind
constexpr std::int64_t most_pixels = 16, most_of_views = 26;  // of a side; larger: mean values

// shape: [rows, height, width] -> as image_rows takes them
std::vector<analysis::Image> grey(const torch::Tensor& pictures) {
  const torch::Tensor values = pictures.to(torch::kFloat64).contiguous();
  const std::int64_t width = values.size(2), count = values.size(1) * width;
  std::vector<analysis::Image> all;
  for (std::int64_t i = 0; i < values.size(0); ++i) {
    const auto* const first = values[i].data_ptr<double>();
    all.push_back({static_cast<std::size_t>(width), {first, first + count}});
  }
  return all;
}

// Means over channels, and sums over what is deeper.
// shape: [rows, channels, height, width, ...] -> [rows, height, width]
torch::Tensor flat_images(torch::Tensor examples) {
  if (examples.dim() > 4) examples = examples.flatten(4).sum(4);
  examples = examples.mean(1);
  return torch::adaptive_avg_pool2d(
      examples, {std::min(most_pixels, examples.size(1)), std::min(most_pixels, examples.size(2))});
}

// Means of squares of as many pixels as make them few.
torch::Tensor small(const torch::Tensor& pictures) {
  const std::int64_t side = std::max(pictures.size(1), pictures.size(2));
  const std::int64_t step = (side + most_of_views - 1) / most_of_views;
  return torch::avg_pool2d(pictures, {step, step}, {step, step}, {0, 0}, /*ceil_mode=*/true,
                           /*count_include_pad=*/false);
}

// Rows that follow each other in their conditions, so that a column shows one of each kind.
torch::Tensor chosen_rows(const data::ExampleRows& rows, std::int64_t most) {
  const torch::Tensor few = torch::arange(std::min<std::int64_t>(rows.rows(), 1000), torch::kInt64);
  const torch::Tensor targets = rows.read(few).targets;
  const torch::Tensor order =
      targets.size(1) > 0 ? targets.select(1, 0).argsort(/*stable=*/true, 0, false) : few;
  const std::int64_t count = std::min(most, order.size(0));
  return order.index_select(
      0, (torch::arange(count, torch::kFloat64) + 0.5)
             .mul(static_cast<double>(order.size(0)) / static_cast<double>(count))
             .to(torch::kInt64));
}

void draw_examples(FigureWriter& draw, const GenerationShown& shown) {
  const bool has_views = !shown.source.views(shown.rows.first(1).inputs).empty();
  const data::Examples few = shown.rows.read(chosen_rows(shown.rows, has_views ? views : images));
  if (!has_views && few.inputs.dim() < 4) return;
  const torch::Tensor made = shown.learner.make(few.targets, "figures");
  if (!has_views)
    return draw(analysis::image_rows(
                    {{"real", grey(flat_images(few.inputs))}, {"made", grey(flat_images(made))}}),
                "made_examples");
  const std::vector<problem::ExampleView> of_made = shown.source.views(made);
  std::size_t i = 0;
  for (const problem::ExampleView& real : shown.source.views(few.inputs)) {
    draw(analysis::image_rows({{"real: " + real.title, grey(small(real.images))},
                               {"made", grey(small(of_made[i++].images))}},
                              real.is_logarithmic),
         "made_examples_" + real.name);
  }
}

}  // namespace

std::string draw_generation_figures(const record::RunDirectory& folder,
                                    const analysis::FigureConfig& config,
                                    const GenerationShown& shown, core::Log& log) {
  FigureWriter draw(folder, config, log);
  draw(analysis::learning_curves(record::read_metrics(folder.file(record::run_files::metrics.name)),
                                 shown.best_epoch),
       "learning_curves");
  if (shown.rows.rows() > 0) draw_examples(draw, shown);
  if (shown.comparison) draw_comparison(draw, *shown.comparison);
  return draw.finish();
}

}  // namespace sagips::run
