#include "sagips/run/run_figures.hpp"

#include <algorithm>
#include <limits>

#include "sagips/analysis/figures/densities.hpp"
#include "sagips/analysis/figures/errors.hpp"
#include "sagips/analysis/figures/observable.hpp"
#include "sagips/analysis/figures/over_time.hpp"
#include "sagips/analysis/figures/parameter_pairs.hpp"
#include "sagips/analysis/figures/solutions.hpp"
#include "sagips/analysis/histogram.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/random.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/numbers.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/figure_writer.hpp"

namespace sagips::run {

namespace {

constexpr std::size_t histogram_bins = 60;
constexpr std::int64_t most_vectors = 1000;
constexpr std::int64_t error_vectors = 400;
constexpr std::int64_t most_points = 200;
constexpr std::int64_t most_model_numbers = 10'000'000;  // of synthetic events beside the data

using data::numbers_of;

// In parts: double precision of all events would take more memory than the events.
// shapes: values [events], weights [events] or undefined
void fill(analysis::Histogram& histogram, const torch::Tensor& values,
          const torch::Tensor& weights) {
  constexpr std::int64_t at_once = 65536;
  for (std::int64_t first = 0; first < values.size(0); first += at_once) {
    const std::int64_t count = std::min(at_once, values.size(0) - first);
    const std::vector<double> part = numbers_of(values.narrow(0, first, count));
    if (weights.defined())
      histogram.fill(part, numbers_of(weights.narrow(0, first, count)));
    else
      histogram.fill(part);
  }
}

// All values, but for those far beyond the bulk: one broken event would make a picture of one bar.
std::pair<double, double> range_of(const std::vector<data::Dataset>& parts, std::int64_t column) {
  constexpr std::int64_t enough = 100'000;  // values of which the bulk is known
  constexpr double far = 20;                // times the distance between the quartiles
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::vector<torch::Tensor> some;
  for (const data::Dataset& part : parts) {
    const torch::Tensor values = part.values.select(1, column);
    low = std::min(low, values.min().item<double>());
    high = std::max(high, values.max().item<double>());
    some.push_back(values.slice(0, 0, values.size(0), values.size(0) / enough + 1));
  }
  const torch::Tensor sorted = std::get<0>(torch::cat(some).to(torch::kFloat64).sort());
  const double first = sorted[sorted.size(0) / 4].item<double>(),
               third = sorted[sorted.size(0) * 3 / 4].item<double>();
  if (!(first < third)) return {low, high};
  return {std::max(low, first - far * (third - first)),
          std::min(high, third + far * (third - first))};
}

// prefix: of the files, where there are several channels
void draw_observables(FigureWriter& draw, const problem::ChannelPlan& plan,
                      const env::Channel& channel, const std::string& prefix,
                      const std::pair<torch::Tensor, torch::Tensor>& synthetic) {
  std::vector<data::Dataset> measured{channel.training};  // not joined: they may lie in files
  if (channel.held_out.values.defined()) measured.push_back(channel.held_out);
  for (std::size_t i = 0; i < plan.observables.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i);
    const torch::Tensor model = synthetic.first.select(1, column);
    const auto [low, high] = range_of(measured, column);
    if (!(low < high) || model.size(0) == 0) continue;
    analysis::Histogram measured_counts(low, high, histogram_bins),
        model_counts(low, high, histogram_bins);
    for (const data::Dataset& part : measured)
      fill(measured_counts, part.values.select(1, column), part.weights.value_or(torch::Tensor()));
    fill(model_counts, model, synthetic.second);
    const problem::Observable& observable = plan.observables[i];
    draw(analysis::observable_with_ratio(measured_counts, model_counts, observable.name,
                                         observable.unit),
         "observable_" + prefix + observable.name);
  }
}

std::string prefix_of(const std::vector<problem::ChannelPlan>& plans, std::size_t k) {
  return plans.size() > 1 ? plans[k].name + "_" : std::string();
}

void draw_pairs(FigureWriter& draw, const record::Results& results, const torch::Tensor& proposals,
                std::size_t most) {
  std::vector<std::string> names;
  std::vector<std::optional<double>> truth;
  std::vector<torch::Tensor> columns;
  for (std::size_t i = 0; i < results.parameters.size() && names.size() < most; ++i) {
    const record::ParameterResult& row = results.parameters[i];
    if (row.fixed) continue;
    names.push_back(analysis::name_text(row));
    truth.push_back(row.truth);
    columns.push_back(proposals.select(1, static_cast<std::int64_t>(i)));
  }
  draw(analysis::parameter_pairs(numbers_of<float>(torch::stack(columns, 1)), names, truth),
       "generator_samples");
}

// The answer with its errors.
void draw_errors(FigureWriter& draw, const record::Results& results, std::size_t most) {
  if (const auto figure = analysis::deviations(results)) draw(*figure, "deviations");
  if (const auto figure = analysis::error_ellipses(results, most)) draw(*figure, "error_ellipses");
  if (!results.others.empty()) draw(analysis::solutions(results), "solutions");
}

analysis::DensityBand band(const problem::DensityCurve& curve, const env::ParameterSet& parameters,
                           const torch::Tensor& samples) {
  const torch::NoGradGuard no_gradient;
  // a picture needs no more points than it has pixels
  const std::int64_t step = std::max<std::int64_t>(1, curve.x.size(0) / most_points);
  const auto thinned = [step](const torch::Tensor& values) {
    return values.slice(1, 0, values.size(1), step).to(torch::kFloat64);
  };
  const torch::Tensor values = thinned(curve.values(samples));
  const torch::Tensor edges =
      torch::quantile(values, torch::tensor({0.16, 0.84}, torch::kFloat64), 0);
  analysis::DensityBand result{.name = curve.name,
                               .x = numbers_of(curve.x.slice(0, 0, curve.x.size(0), step)),
                               .mean = numbers_of(values.mean(0)),
                               .low = numbers_of(edges[0]),
                               .high = numbers_of(edges[1]),
                               .truth = {}};
  if (parameters.truth_known())
    result.truth = numbers_of(thinned(curve.values(parameters.truth().unsqueeze(0)))[0]);
  return result;
}

// What the workload's parameters stand for, one figure an axis: mean and 16 to 84 % of the samples,
// and the truth where it is known. Empty where the workload names no densities.
// samples: [rows, parameters], physical; band_label: what they are, e.g. "proposals"
std::vector<analysis::Figure> density_figures(const problem::Workload& workload,
                                              const env::ParameterSet& parameters,
                                              const torch::Tensor& samples,
                                              const std::string& band_label) {
  const torch::Tensor shown =
      samples.slice(0, 0, std::min(samples.size(0), most_vectors)).to(torch::kFloat64);
  std::vector<std::string> axes;
  std::vector<std::vector<analysis::DensityBand>> bands;
  for (const problem::DensityCurve& curve : workload.densities()) {
    const auto known = std::find(axes.begin(), axes.end(), curve.axis);
    const auto place = static_cast<std::size_t>(known - axes.begin());
    if (known == axes.end()) {
      axes.push_back(curve.axis);
      bands.emplace_back();
    }
    bands[place].push_back(band(curve, parameters, shown));
  }
  std::vector<analysis::Figure> figures;
  for (std::size_t i = 0; i < axes.size(); ++i)
    figures.push_back(
        analysis::densities_with_band(bands[i], axes[i], "16 to 84 % of the " + band_label));
  return figures;
}

// Parameter vectors that scatter as the errors of an estimate say, inside the parameters' ranges.
// covariance: [free, free], physical; undefined: one vector, the values themselves
// shape: [rows, parameters]
torch::Tensor vectors_within_errors(const env::ParameterSet& parameters,
                                    const std::vector<double>& values,
                                    const torch::Tensor& covariance, std::uint64_t seed) {
  torch::Tensor centre = torch::tensor(values, torch::kFloat64).unsqueeze(0);
  if (!covariance.defined() || covariance.size(0) != parameters.free_size()) return centre;
  // a root of the covariance that a vanishing or slightly negative eigenvalue does not hurt
  const auto [eigenvalues, vectors] = torch::linalg_eigh(covariance.to(torch::kFloat64));
  const torch::Tensor root = vectors * eigenvalues.clamp_min(0).sqrt().unsqueeze(0);
  std::vector<double> uniform(static_cast<std::size_t>(error_vectors * parameters.free_size()));
  core::RandomStream(seed, "figure errors").uniform(0, 0, uniform);
  const torch::Tensor normal =
      torch::special_ndtri(torch::tensor(uniform, torch::kFloat64)).reshape({error_vectors, -1});
  const torch::Tensor moves = normal.matmul(root.t());
  torch::Tensor result = centre.repeat({error_vectors, 1});
  for (std::size_t i = 0; i < parameters.free().size(); ++i) {
    const auto column = static_cast<std::int64_t>(parameters.free()[i]);
    const env::Parameter& parameter = parameters.all()[parameters.free()[i]];
    const torch::Tensor moved =
        result.select(1, column) + moves.select(1, static_cast<std::int64_t>(i));
    const double period = parameter.high - parameter.low;
    result.select(1, column).copy_(parameter.periodic
                                       ? moved - ((moved - parameter.low) / period).floor() * period
                                       : moved.clamp(parameter.low, parameter.high));
  }
  return result;
}

void draw_densities(FigureWriter& draw, const Job& job, const env::ParameterSet& parameters,
                    const torch::Tensor& samples, const std::string& band_label) {
  const auto figures = density_figures(*job.inverse().workload, parameters, samples, band_label);
  for (std::size_t i = 0; i < figures.size(); ++i)
    draw(figures[i], i == 0 ? "densities" : core::text("densities_", i + 1));
}

}  // namespace

std::string draw_run_figures(const record::RunDirectory& folder, const Job& job,
                             const env::Environment& environment, const record::Results& results,
                             const torch::Tensor& proposals, const train::Evaluator& evaluator,
                             core::Log& log) {
  const analysis::FigureConfig& config = job.settings.figures;
  FigureWriter draw(folder, config, log);
  const auto metrics = record::read_metrics(folder.file(record::run_files::metrics.name));
  draw(analysis::residuals_over_time(metrics, results.parameters), "residuals_over_time");
  draw(analysis::losses_over_time(metrics), "losses_over_time");
  draw(analysis::distances_over_time(metrics), "distances_over_time");
  const auto plans = problem::channels_in_use(*job.inverse().workload, job.inverse().data);
  for (std::size_t k = 0; k < plans.size(); ++k)
    draw_observables(draw, plans[k], environment.channels[k], prefix_of(plans, k),
                     evaluator.events(k, proposals));
  draw_densities(draw, job, environment.parameters, proposals, "proposals");
  draw_pairs(draw, results, proposals, config.most_parameters());
  draw_errors(draw, results, config.most_parameters());
  return draw.finish();
}

void draw_fit_figures(FigureWriter& draw, const Job& job, const env::Environment& environment,
                      const record::Results& results, const torch::Tensor& covariance) {
  std::vector<double> values;
  for (const record::ParameterResult& row : results.parameters) values.push_back(row.recovered);
  const auto plans = problem::channels_in_use(*job.inverse().workload, job.inverse().data);
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const env::Channel& channel = environment.channels[k];
    // Ten times the data, so that the model's own fluctuations stay below the data's. Beside many
    // data there are fewer: more would cost what the solution costs, and the fluctuations are drawn.
    const std::int64_t events =
        std::min(10 * channel.training.size(), most_model_numbers / channel.observables());
    const data::Dataset model = env::toy_data(
        channel.pipeline, torch::tensor(values, torch::kFloat64), events,
        channel.training.observables, core::RandomStream(job.seed(), "figure events"));
    draw_observables(draw, plans[k], channel, prefix_of(plans, k), {model.values, {}});
  }
  draw_densities(draw, job, environment.parameters,
                 vectors_within_errors(environment.parameters, values, covariance, job.seed()),
                 "values that the errors allow");
  draw_errors(draw, results, job.settings.figures.most_parameters());
}

}  // namespace sagips::run
