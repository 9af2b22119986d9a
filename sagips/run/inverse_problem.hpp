#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "sagips/optim/gan/gan.hpp"
#include "sagips/optim/goodness.hpp"
#include "sagips/optim/solvers.hpp"
#include "sagips/problem/data_settings.hpp"
#include "sagips/problem/workload.hpp"
#include "sagips/run/problem.hpp"
#include "sagips/train/evaluate.hpp"

namespace sagips::run {

/// How `sagips solve` looks for parameters.
struct SolveConfig {
  std::string method = "moments";
  double minutes = 0;           ///< 0: no limit
  std::int64_t bootstraps = 0;  ///< further solutions on data drawn again
  std::int64_t seeds = 0;       ///< further solutions with other seeds
  optim::EventTest test = optim::EventTest::energy;
  std::int64_t test_events = 1000;
  std::int64_t permutations = 1999;
  void fields(core::FieldList& list);
};

/// Parameters behind measured events: solvers find them, and so do networks that are trained to propose them.
class InverseProblem final : public Problem {
 public:
  explicit InverseProblem(std::unique_ptr<problem::Workload> of) : workload(std::move(of)) {}

  std::unique_ptr<problem::Workload> workload;
  problem::DataSettings data;
  optim::GanConfig gan;
  train::EvaluationConfig evaluation;
  SolveConfig solve;
  optim::SolversConfig solvers;

  std::string description() const override;
  std::string unit() const override { return "events"; }
  std::string remedy() const override { return "narrow the parameter ranges"; }
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
