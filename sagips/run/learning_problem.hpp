#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "sagips/problem/learning.hpp"
#include "sagips/run/problem.hpp"

namespace sagips::run {

/// Says what keys need of problems that are judged by rows kept aside. list: with the group `data`
void add_needs_of_rows(const core::FieldList& list, const Job& job,
                       const data::ExampleSplit& split);

/// One of several networks of a learning problem.
struct PartSettings {
  std::string name;
  std::vector<nn::LayerConfig> layers;
  double rate = 1;
  std::string exchange;    ///< empty: that of the run
  std::string start_from;  ///< as of the run, for this one alone; empty: that of the run
  void fields(core::FieldList& list);
};

/// Networks that learn targets from inputs.
class LearningProblem final : public Problem {
 public:
  enum class Standardise { none, inputs, targets, both };

  explicit LearningProblem(std::unique_ptr<problem::ExampleSource> of) : examples(std::move(of)) {}

  std::unique_ptr<problem::ExampleSource> examples;
  data::ExampleSplit split;
  Standardise standardise = Standardise::none;
  std::vector<nn::LayerConfig> layers;
  std::vector<PartSettings> networks;  ///< in place of those
  std::string
      start_from;  ///< run folder or file whose weights the networks begin with; empty: none
  optim::SupervisedConfig learner;

  std::string description() const override;
  std::string unit() const override { return "rows"; }
  std::string remedy() const override {
    return standardise == Standardise::none ? "standardise the rows (data.standardise=true)" : "";
  }
  void set_defaults(Settings& settings) const override;
  void fields(core::FieldList& list, Settings& settings) override;
  void add_needs(const core::FieldList& list, const Job& job, const Usage& usage) const override;
  bool waits_for_plateau() const override;
  train::ExchangeChoice exchanges(const Settings& settings) const override;
  bool check(const Look& look) const override;
  StepKeys step_keys() const override;
  StepOfRanks step_of_ranks(const Job& job) const override;
  std::unique_ptr<Task> task(const Job& job, comm::Ranks& ranks, core::Log& log) const override;
  Predicted predict(const Job& job, const std::string& folder, const PredictOptions& options,
                    core::Log& log) const override;
};

}  // namespace sagips::run
