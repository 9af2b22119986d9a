#include "sagips/record/results.hpp"

#include <cmath>
#include <filesystem>

#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/experiments.hpp"
#include "sagips/record/json.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::record {

Json json_of(const SquareMatrix& matrix) {
  const auto size = static_cast<std::ptrdiff_t>(std::lround(std::sqrt(matrix.size())));
  Json rows = Json::array();
  for (auto row = matrix.begin(); row != matrix.end(); row += size)
    rows.push_back(std::vector<double>(row, row + size));
  return rows;
}

void read_into(SquareMatrix& matrix, const Json& rows) {
  for (const Json& row : rows)
    if (row.is_array())
      read_into(static_cast<std::vector<double>&>(matrix), row);
    else  // older files hold all numbers in one list
      matrix.push_back(number(row));
}

void each_field(Either<ParameterResult> auto& parameter, const auto& use) {
  use("name", parameter.name);
  use("unit", parameter.unit);
  use("fixed", parameter.fixed);
  use("truth", parameter.truth);
  use("recovered", parameter.recovered);
  use("spread", parameter.spread);
  use("residual_start", parameter.residual_start);
  use("residual_end", parameter.residual_end);
  use("floor", parameter.floor);
  use("fit_value", parameter.fit_value);
  use("fit_error", parameter.fit_error);
  use("error", parameter.error);
  use("bootstrap_error", parameter.bootstrap_error);
  use("seed_error", parameter.seed_error);
  use.later("error_below", parameter.error_below);
  use.later("error_above", parameter.error_above);
  use.later("lower_limit", parameter.lower_limit);
  use.later("upper_limit", parameter.upper_limit);
  use.later("open", parameter.open);
  use.later("at_end", parameter.at_end);
  use.later("period", parameter.period);
}

void each_field(Either<GoodnessResult> auto& goodness, const auto& use) {
  use("name", goodness.name);
  use("value", goodness.value);
  use("degrees_of_freedom", goodness.degrees_of_freedom);
  use("p_value", goodness.p_value);
}

void each_field(Either<CorrelationResult> auto& correlation, const auto& use) {
  use("of", correlation.of);
  use("names", correlation.names);
  use("values", correlation.values);
  use.later("covariance", correlation.covariance);
}

void each_field(Either<OtherSolution> auto& other, const auto& use) {
  use("values", other.values);
  use("errors", other.errors);
  use("score", other.score);
}

void each_field(Either<StepTimes> auto& steps, const auto& use) {
  use("count", steps.count);
  use("mean_s", steps.mean_s);
  use("spread_s", steps.spread_s);
  use("maximum_s", steps.maximum_s);
  use("first_epoch_s", steps.first_epoch_s);
}

void each_field(Either<PeakMemory> auto& memory, const auto& use) {
  use("mean", memory.mean);
  use("maximum", memory.maximum);
}

void each_field(Either<Results> auto& results, const auto& use) {
  use("workload", results.workload);
  use("version", results.version);
  use("git_hash", results.git_hash);
  use("data_origin", results.data_origin);
  use("finish_reason", results.finish_reason);
  use("complete", results.complete);
  use("seed", results.seed);
  use("epochs", results.epochs);
  use("events", results.events);
  use("time_s", results.time_s);
  use("method", results.method);
  use("errors_from", results.errors_from);
  use("goodness", results.goodness);
  use("parameters", results.parameters);
  use("numbers", results.numbers);
  use.later("correlations", results.correlations);
  use.later("open_directions", results.open_directions);
  use.later("others", results.others);
  use.later("warnings", results.warnings);
  use.known("time_split", results.time_split);
  use.known("time_split_maximum", results.time_split_maximum);
  use.known("steps", results.steps);
  use.known("memory_mb", results.memory_mb);
}

std::optional<double> pull(const ParameterResult& row) {
  if (row.fixed || !row.truth || !row.error) return std::nullopt;
  double away = row.recovered - *row.truth;
  if (row.period) away -= std::round(away / *row.period) * *row.period;
  const std::optional<double>& side = away > 0 ? row.error_below : row.error_above;
  const double error = side.value_or(*row.error);
  if (!(error > 0)) return std::nullopt;
  return away / error;
}

const CorrelationResult* errors_of_answer(const Results& results) {
  // a likelihood fit is an answer by itself, and stands beside that of a training
  const std::string of = results.method.empty() ? "errors of the maximum-likelihood fit"
                                                : "errors: " + results.errors_from;
  for (const CorrelationResult& one : results.correlations)
    if (one.of == of && !one.covariance.empty()) return &one;
  return nullptr;
}

void write_covariance(const std::string& folder, const Results& results) {
  const CorrelationResult* errors = errors_of_answer(results);
  if (errors == nullptr) return;
  const std::size_t size = errors->names.size();
  core::write_file(core::text(folder, "/", run_files::covariance.name),
                   core::npy_bytes(errors->covariance, {size, size}));
}

void write_results_json(const std::string& path, const Results& results) {
  core::write_file(path, file_text(json_of(results), 2));
}

Results read_results_json(const std::string& path) {
  return parse_record<Results>(core::read_file(path), path, "holds no results of a run",
                               "Use the file as the run wrote it.");
}

std::string results_of_folder(const std::string& folder,
                              const std::vector<core::Warning>& warnings) {
  const auto path = [&](const RunFile& file) { return core::text(folder, "/", file.name); };
  Json object = {{"folder", folder}};
  if (std::filesystem::exists(path(run_files::results)))
    object.update(Json::parse(core::read_file(path(run_files::results))));
  if (std::filesystem::exists(path(run_files::closure))) {
    const auto rows = core::read_csv_rows(path(run_files::closure));
    for (std::size_t row = 1; row < rows.size(); ++row) {
      Json& entry = object["closure"].emplace_back(Json::object());
      for (std::size_t i = 0; i < rows[row].size(); ++i) {
        double number = 0;
        if (core::parse_number(rows[row][i], number))
          entry[rows[0][i]] = number;
        else
          entry[rows[0][i]] = rows[row][i];
      }
    }
  }
  if (std::filesystem::exists(path(run_files::experiments))) {
    object["warnings"] = json_of(warnings);
    object["experiment_warnings"] = Json::object();
    for (const auto& [code, count] : warned(read_experiments(path(run_files::experiments))))
      object["experiment_warnings"][code] = count;
  }
  return file_text(object, 2);
}

namespace {

constexpr std::string_view at_start = "_start", at_end = "_end";

}  // namespace

std::vector<MetricResult> metrics_of(const Results& results) {
  std::vector<MetricResult> metrics;
  for (const NamedNumber& number : results.numbers) {
    if (!number.name.ends_with(at_end)) continue;
    MetricResult metric{
        number.name.substr(0, number.name.size() - at_end.size()), {}, number.value};
    for (const NamedNumber& other : results.numbers)
      if (other.name == metric.name + std::string(at_start)) metric.start = other.value;
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

namespace {

// The table of a run without parameters.
void write_metrics_csv(const std::string& path, const Results& results) {
  std::string content = "metric,start,end\n";
  for (const MetricResult& metric : metrics_of(results))
    content += core::csv_line(metric.name, metric.start, metric.end);
  core::write_file(path, content);
}

}  // namespace

void write_summary_csv(const std::string& path, const Results& results) {
  if (results.parameters.empty()) return write_metrics_csv(path, results);
  std::string content =
      "parameter,unit,fixed,true,recovered,spread,residual_start,residual_end,floor,fit_value,"
      "fit_error,error,error_below,error_above,bootstrap_error,seed_error,lower_limit,upper_limit,"
      "open\n";
  for (const ParameterResult& row : results.parameters)
    content += core::csv_line(row.name, row.unit, row.fixed, row.truth, row.recovered, row.spread,
                              row.residual_start, row.residual_end, row.floor, row.fit_value,
                              row.fit_error, row.error, row.error_below, row.error_above,
                              row.bootstrap_error, row.seed_error, row.lower_limit, row.upper_limit,
                              row.open);
  core::write_file(path, content);
}

}  // namespace sagips::record
