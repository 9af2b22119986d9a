#include "sagips/run/run_figures.hpp"

#include <algorithm>

#include "sagips/analysis/figures/observable.hpp"
#include "sagips/analysis/figures/over_time.hpp"
#include "sagips/analysis/figures/parameter_pairs.hpp"
#include "sagips/analysis/histogram.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/density_figures.hpp"

namespace sagips::run {

namespace {

constexpr std::size_t histogram_bins = 60;

class Drawer {
 public:
  Drawer(const record::RunDirectory& folder, core::Log& log)
      : folder_(folder.folder(record::run_files::figures.name)), log_(log) {}

  std::string operator()(const analysis::Figure& figure, const std::string& name) {
    if (missing_) return {};
    std::string problem;
    try {
      if (analysis::write_figure(figure, folder_ + "/" + name, problem))
        return folder_ + "/" + name + ".png";
    } catch (const core::Error& error) {  // a picture never costs a run its results
      problem = error.what();
    }
    missing_ = true;
    log_.warning("no figures: " + problem);
    return {};
  }

 private:
  std::string folder_;
  core::Log& log_;
  bool missing_ = false;
};

std::vector<double> column(const torch::Tensor& values, std::int64_t i) {
  const torch::Tensor dense = values.select(1, i).to(torch::kFloat64).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

std::vector<double> weights_or_ones(const torch::Tensor& weights, std::size_t count) {
  if (!weights.defined()) return std::vector<double>(count, 1.0);
  const torch::Tensor dense = weights.to(torch::kFloat64).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

torch::Tensor all_events(const env::Channel& channel) {
  if (!channel.held_out.values.defined()) return channel.training.values;
  return torch::cat({channel.training.values, channel.held_out.values});
}

torch::Tensor all_weights(const env::Channel& channel) {
  if (!channel.training.weights) return {};
  if (!channel.held_out.values.defined()) return *channel.training.weights;
  return torch::cat({*channel.training.weights, *channel.held_out.weights});
}

// prefix: of the files, where there are several channels
void draw_observables(Drawer& draw, const problem::ChannelPlan& plan, const env::Channel& channel,
                      const std::string& prefix,
                      const std::pair<torch::Tensor, torch::Tensor>& synthetic) {
  const torch::Tensor measured = all_events(channel);
  for (std::size_t i = 0; i < plan.observables.size(); ++i) {
    const std::vector<double> data = column(measured, static_cast<std::int64_t>(i));
    const std::vector<double> model = column(synthetic.first, static_cast<std::int64_t>(i));
    const auto [low, high] = std::minmax_element(data.begin(), data.end());
    if (!(*low < *high) || model.empty()) continue;
    analysis::Histogram measured_counts(*low, *high, histogram_bins),
        model_counts(*low, *high, histogram_bins);
    measured_counts.fill(data, weights_or_ones(all_weights(channel), data.size()));
    model_counts.fill(model, weights_or_ones(synthetic.second, model.size()));
    const problem::Observable& observable = plan.observables[i];
    draw(analysis::observable_with_ratio(measured_counts, model_counts, observable.name,
                                         observable.unit),
         "observable_" + prefix + observable.name);
  }
}

std::string prefix_of(const std::vector<problem::ChannelPlan>& plans, std::size_t k) {
  return plans.size() > 1 ? plans[k].name + "_" : std::string();
}

std::vector<float> flat(const torch::Tensor& values) {
  const torch::Tensor dense = values.to(torch::kFloat32).contiguous();
  return {dense.data_ptr<float>(), dense.data_ptr<float>() + dense.numel()};
}

void draw_pairs(Drawer& draw, const env::ParameterSet& parameters, const torch::Tensor& proposals) {
  std::vector<std::string> names;
  std::vector<std::optional<double>> truth;
  std::vector<torch::Tensor> columns;
  for (const std::size_t i : parameters.free()) {
    names.push_back(parameters.all()[i].name);
    truth.push_back(parameters.all()[i].truth);
    columns.push_back(proposals.select(1, static_cast<std::int64_t>(i)));
  }
  draw(analysis::parameter_pairs(flat(torch::stack(columns, 1)), names, truth), "parameter_pairs");
}

void draw_densities(Drawer& draw, const Job& job, const env::ParameterSet& parameters,
                    const torch::Tensor& samples, const std::string& band_label) {
  const auto figures = density_figures(*job.workload, parameters, samples, band_label);
  for (std::size_t i = 0; i < figures.size(); ++i)
    draw(figures[i], i == 0 ? "densities" : core::text("densities_", i + 1));
}

}  // namespace

std::string draw_run_figures(const record::RunDirectory& folder, const Job& job,
                             const env::Environment& environment, const record::Results& results,
                             const torch::Tensor& proposals, const train::Evaluator& evaluator,
                             core::Log& log) {
  Drawer draw(folder, log);
  const auto metrics = record::read_metrics(folder.file(record::run_files::metrics.name));
  const std::string first =
      draw(analysis::residuals_over_time(metrics, results.parameters), "residuals_over_time");
  draw(analysis::losses_over_time(metrics), "losses_over_time");
  draw(analysis::distances_over_time(metrics), "distances_over_time");
  const auto plans = problem::channels_in_use(*job.workload, job.settings.data);
  for (std::size_t k = 0; k < plans.size(); ++k)
    draw_observables(draw, plans[k], environment.channels[k], prefix_of(plans, k),
                     evaluator.events(k, proposals));
  draw_densities(draw, job, environment.parameters, proposals, "proposals");
  draw_pairs(draw, environment.parameters, proposals);
  return first;
}

std::string draw_fit_figures(const record::RunDirectory& folder, const Job& job,
                             const env::Environment& environment, const std::vector<double>& values,
                             const torch::Tensor& covariance, core::Log& log) {
  Drawer draw(folder, log);
  const auto plans = problem::channels_in_use(*job.workload, job.settings.data);
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const env::Channel& channel = environment.channels[k];
    // ten times the data, so that the model's own fluctuations stay below the data's
    const data::Dataset model = env::toy_data(
        channel.pipeline, torch::tensor(values, torch::kFloat64), channel.training.size() * 10,
        channel.training.observables, core::RandomStream(job.seed(), "figure events"));
    draw_observables(draw, plans[k], channel, prefix_of(plans, k), {model.values, {}});
  }
  draw_densities(draw, job, environment.parameters,
                 vectors_within_errors(environment.parameters, values, covariance, job.seed()),
                 "values that the errors allow");
  return folder.file(record::run_files::figures.name);
}

}  // namespace sagips::run
