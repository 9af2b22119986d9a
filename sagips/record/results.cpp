#include "sagips/record/results.hpp"

#include <exception>

#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {
namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> optional_number(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

Json parameter_to_json(const ParameterResult& parameter) {
  return {{"name", parameter.name},
          {"unit", parameter.unit},
          {"fixed", parameter.fixed},
          {"truth", or_null(parameter.truth)},
          {"recovered", parameter.recovered},
          {"spread", parameter.spread},
          {"residual_start", or_null(parameter.residual_start)},
          {"residual_end", or_null(parameter.residual_end)},
          {"floor", or_null(parameter.floor)},
          {"fit_value", or_null(parameter.fit_value)},
          {"fit_error", or_null(parameter.fit_error)},
          {"error", or_null(parameter.error)},
          {"bootstrap_error", or_null(parameter.bootstrap_error)},
          {"seed_error", or_null(parameter.seed_error)}};
}

ParameterResult parameter_from_json(const Json& object) {
  ParameterResult parameter;
  parameter.name = object.at("name").get<std::string>();
  parameter.unit = object.at("unit").get<std::string>();
  parameter.fixed = object.at("fixed").get<bool>();
  parameter.truth = optional_number(object.at("truth"));
  parameter.recovered = number(object.at("recovered"));
  parameter.spread = number(object.at("spread"));
  parameter.residual_start = optional_number(object.at("residual_start"));
  parameter.residual_end = optional_number(object.at("residual_end"));
  parameter.floor = optional_number(object.at("floor"));
  parameter.fit_value = optional_number(object.at("fit_value"));
  parameter.fit_error = optional_number(object.at("fit_error"));
  parameter.error = optional_number(object.at("error"));
  parameter.bootstrap_error = optional_number(object.at("bootstrap_error"));
  parameter.seed_error = optional_number(object.at("seed_error"));
  return parameter;
}

Json goodness_to_json(const std::vector<GoodnessResult>& all) {
  Json list = Json::array();
  for (const GoodnessResult& one : all)
    list.push_back({{"name", one.name},
                    {"value", one.value},
                    {"degrees_of_freedom", one.degrees_of_freedom},
                    {"p_value", one.p_value}});
  return list;
}

std::vector<GoodnessResult> goodness_from_json(const Json& list) {
  std::vector<GoodnessResult> all;
  for (const Json& one : list)
    all.push_back({one.at("name").get<std::string>(), number(one.at("value")),
                   number(one.at("degrees_of_freedom")), number(one.at("p_value"))});
  return all;
}

Json correlations_to_json(const std::vector<CorrelationResult>& all) {
  Json list = Json::array();
  for (const CorrelationResult& one : all)
    list.push_back({{"of", one.of}, {"names", one.names}, {"values", one.values}});
  return list;
}

std::vector<CorrelationResult> correlations_from_json(const Json& list) {
  std::vector<CorrelationResult> all;
  for (const Json& one : list) {
    all.push_back(
        {one.at("of").get<std::string>(), one.at("names").get<std::vector<std::string>>(), {}});
    for (const Json& value : one.at("values")) all.back().values.push_back(number(value));
  }
  return all;
}

Json results_to_json(const Results& results) {
  Json parameters = Json::array();
  for (const ParameterResult& parameter : results.parameters)
    parameters.push_back(parameter_to_json(parameter));
  return {{"workload", results.workload},
          {"version", results.version},
          {"git_hash", results.git_hash},
          {"data_origin", results.data_origin},
          {"finish_reason", results.finish_reason},
          {"complete", results.complete},
          {"seed", results.seed},
          {"epochs", results.epochs},
          {"events", results.events},
          {"time_s", results.time_s},
          {"method", results.method},
          {"errors_from", results.errors_from},
          {"goodness", goodness_to_json(results.goodness)},
          {"parameters", std::move(parameters)},
          {"numbers", named_numbers_to_json(results.numbers)},
          {"correlations", correlations_to_json(results.correlations)}};
}

Results results_from_json(const Json& object) {
  Results results;
  results.workload = object.at("workload").get<std::string>();
  results.version = object.at("version").get<std::string>();
  results.git_hash = object.at("git_hash").get<std::string>();
  results.data_origin = object.at("data_origin").get<std::string>();
  results.finish_reason = object.at("finish_reason").get<std::string>();
  results.complete = object.at("complete").get<bool>();
  results.seed = object.at("seed").get<std::int64_t>();
  results.epochs = object.at("epochs").get<std::int64_t>();
  results.events = object.at("events").get<std::int64_t>();
  results.time_s = number(object.at("time_s"));
  results.method = object.at("method").get<std::string>();
  results.errors_from = object.at("errors_from").get<std::string>();
  results.goodness = goodness_from_json(object.at("goodness"));
  for (const Json& parameter : object.at("parameters"))
    results.parameters.push_back(parameter_from_json(parameter));
  results.numbers = named_numbers_from_json(object.at("numbers"));
  if (object.contains("correlations"))
    results.correlations = correlations_from_json(object["correlations"]);
  return results;
}

std::string number_cell(const std::optional<double>& value) {
  return value ? core::round_trip(*value) : std::string{};
}

}  // namespace

void write_results_json(const std::string& path, const Results& results) {
  core::write_file(
      path, results_to_json(results).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Results read_results_json(const std::string& path) {
  const std::string content = core::read_file(path);
  try {
    return results_from_json(Json::parse(content));
  } catch (const std::exception& problem) {
    throw core::DataError(path, core::text("holds no results of a run (", problem.what(),
                                           "). Use the file as the run wrote it."));
  }
}

void write_summary_csv(const std::string& path, const Results& results) {
  std::string content =
      "parameter,unit,fixed,true,recovered,spread,residual_start,residual_end,floor,fit_value,"
      "fit_error,error,bootstrap_error,seed_error\n";
  for (const ParameterResult& row : results.parameters) {
    const std::vector<std::string> cells{
        core::csv_cell(row.name),         core::csv_cell(row.unit),      row.fixed ? "yes" : "no",
        number_cell(row.truth),           number_cell(row.recovered),    number_cell(row.spread),
        number_cell(row.residual_start),  number_cell(row.residual_end), number_cell(row.floor),
        number_cell(row.fit_value),       number_cell(row.fit_error),    number_cell(row.error),
        number_cell(row.bootstrap_error), number_cell(row.seed_error)};
    content += core::join(cells, ",") + "\n";
  }
  core::write_file(path, content);
}

}  // namespace sagips::record
