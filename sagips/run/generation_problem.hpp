#pragma once
#include <memory>
#include <string>

#include "sagips/optim/adversarial/adversarial.hpp"
#include "sagips/problem/learning.hpp"
#include "sagips/run/problem.hpp"

namespace sagips::run {

/// A network that makes inputs like those of a learning workload, for targets that are its conditions.
class GenerationProblem final : public Problem {
 public:
  /// of: the name of the learning workload whose examples they are; empty: they are its own
  GenerationProblem(std::string of, std::unique_ptr<problem::ExampleSource> source)
      : examples_of(std::move(of)), examples(std::move(source)) {}

  std::string examples_of;
  std::unique_ptr<problem::ExampleSource> examples;
  data::ExampleSplit split;
  optim::AdversarialConfig learner;

  std::string description() const override;
  std::string unit() const override { return "rows"; }
  void set_defaults(Settings& settings) const override;
  void fields(core::FieldList& list, Settings& settings) override;
  void add_needs(const core::FieldList& list, const Job& job, const Usage& usage) const override;
  bool waits_for_plateau() const override { return learner.waits_for_plateau(); }
  train::ExchangeChoice exchanges(const Settings& settings) const override;
  bool check(const Look& look) const override;
  StepKeys step_keys() const override;
  StepOfRanks step_of_ranks(const Job& job) const override;
  std::unique_ptr<Task> task(const Job& job, comm::Ranks& ranks, core::Log& log) const override;
  Predicted predict(const Job& job, const std::string& folder, const PredictOptions& options,
                    core::Log& log) const override;
};

}  // namespace sagips::run
