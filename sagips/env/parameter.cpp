#include "sagips/env/parameter.hpp"

#include <cmath>
#include <set>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

using core::ConfigError;
using core::text;

void Parameter::fields(core::FieldList& list) {
  const std::string of = help.empty() ? std::string() : " (" + help + ")";
  const std::string in = unit.empty() ? std::string() : " [" + unit + "]";
  list.add("low", low, "lower end of the range of " + name + of + in);
  list.add("high", high, "upper end of the range of " + name + in);
  list.add("truth", truth, "true value of " + name + ", when known" + in);
  list.add("toy", toy, "value of " + name + " that toy data are made with" + in);
  list.add("fixed", fixed, "hold " + name + " at this value; null: free" + in);
  list.add("periodic", periodic, "both ends of the range are the same point, as of a phase");
}

void add_parameters(core::FieldList& list, std::vector<Parameter>& parameters) {
  core::FieldList own;
  for (Parameter& parameter : parameters) own.group(parameter.name, parameter, parameter.help);
  list.add_group("parameters", std::move(own), "what is to be found");
}

double Parameter::nearest(double value, double other) const {
  const double period = high - low;
  return periodic ? value + std::round((other - value) / period) * period : value;
}

std::optional<double> Parameter::relative_residual(double value) const {
  if (!truth || *truth == 0) return std::nullopt;
  return (*truth - nearest(value, *truth)) / *truth;
}

namespace {

void check(const Parameter& parameter) {
  const std::string where = "parameters." + parameter.name;
  if (!(parameter.low < parameter.high))
    throw ConfigError(where, text("the range ", parameter.low, " .. ", parameter.high,
                                  " is empty. Set low below high."));
  const auto check_inside = [&](const char* what, const std::optional<double>& value) {
    if (value && !(*value > parameter.low && *value < parameter.high))
      throw ConfigError(
          where, text(what, " = ", *value, " does not lie between ", parameter.low, " and ",
                      parameter.high, " (an end of the range is never reached). Widen the range."));
  };
  check_inside("truth", parameter.truth);
  check_inside("toy", parameter.toy);
  check_inside("fixed", parameter.fixed);
}

}  // namespace

ParameterSet::ParameterSet(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    check(parameters_[i]);
    if (!names.insert(parameters_[i].name).second)
      throw ConfigError("parameters", text("'", parameters_[i].name, "' is there twice."));
    if (!parameters_[i].fixed) free_.push_back(i);
  }
  if (free_.empty())
    throw ConfigError("parameters",
                      "none is free (nothing is left to find). Free at least one: "
                      "parameters.NAME.fixed=null");
  std::vector<double> low, width, fixed;
  std::vector<std::int64_t> places, periodic;
  for (const auto& parameter : parameters_) fixed.push_back(parameter.fixed.value_or(0));
  for (const std::size_t i : free_) {
    low.push_back(parameters_[i].low);
    width.push_back(parameters_[i].high - parameters_[i].low);
    places.push_back(static_cast<std::int64_t>(i));
    periodic.push_back(parameters_[i].periodic ? 1 : 0);
    has_periodic_ = has_periodic_ || parameters_[i].periodic;
  }
  low_ = Constant(torch::tensor(low, torch::kFloat64));
  width_ = Constant(torch::tensor(width, torch::kFloat64));
  fixed_ = Constant(torch::tensor(fixed, torch::kFloat64));
  places_ = Constant::as_given(torch::tensor(places, torch::kInt64));
  periodic_ = Constant::as_given(torch::tensor(periodic, torch::kInt64).to(torch::kBool));
}

std::vector<std::string> ParameterSet::names() const {
  std::vector<std::string> names;
  for (const auto& parameter : parameters_) names.push_back(parameter.name);
  return names;
}

torch::Tensor ParameterSet::away(const torch::Tensor& unit, const torch::Tensor& from) const {
  const torch::Tensor straight = unit - from;
  return has_periodic_ ? torch::where(periodic(), straight - straight.round(), straight) : straight;
}

torch::Tensor ParameterSet::in_first_turn(const torch::Tensor& unit) const {
  return has_periodic_ ? torch::where(periodic_.on(unit.device()), unit - unit.floor(), unit)
                       : unit;
}

torch::Tensor ParameterSet::physical_from_unit(const torch::Tensor& unit) const {
  torch::Tensor values = in_first_turn(unit) * width_.like(unit) + low_.like(unit);
  if (free_size() == size()) return values;
  std::vector<std::int64_t> shape = unit.sizes().vec();
  shape.back() = size();
  return fixed_.like(unit).expand(shape).index_copy(-1, places_.on(unit.device()), values);
}

torch::Tensor ParameterSet::physical_from_logit(const torch::Tensor& logit) const {
  return physical_from_unit(torch::sigmoid(logit));
}

torch::Tensor ParameterSet::unit_from_physical(const torch::Tensor& physical) const {
  std::vector<torch::Tensor> columns;
  for (const auto i : free_) {
    const Parameter& parameter = parameters_[i];
    columns.push_back((physical.select(-1, static_cast<std::int64_t>(i)) - parameter.low) /
                      (parameter.high - parameter.low));
  }
  return torch::stack(columns, -1);
}

torch::Tensor ParameterSet::logit_from_physical(const torch::Tensor& physical) const {
  return torch::logit(unit_from_physical(physical));
}

bool ParameterSet::truth_known() const {
  for (const auto& parameter : parameters_)
    if (!parameter.truth && !parameter.fixed) return false;
  return true;
}

ParameterSet ParameterSet::at_toy_values() const {
  std::vector<Parameter> parameters = parameters_;
  for (Parameter& parameter : parameters)
    if (parameter.toy) parameter.truth = parameter.toy;
  ParameterSet set(std::move(parameters));
  set.truth();
  return set;
}

torch::Tensor ParameterSet::truth() const {
  std::vector<double> values;
  for (const auto& parameter : parameters_) {
    if (!parameter.truth && !parameter.fixed)
      throw ConfigError("parameters." + parameter.name,
                        text("its true value is not known (toy data need one). Set parameters.",
                             parameter.name, ".toy, or data.file for measured events."));
    values.push_back(parameter.truth ? *parameter.truth : *parameter.fixed);
  }
  return torch::tensor(values, torch::kFloat64);
}

}  // namespace sagips::env
