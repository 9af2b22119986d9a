#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sagips/optim/adversarial/adversarial.hpp"
#include "sagips/run/generation_problem.hpp"
#include "sagips/run/task.hpp"
#include "sagips/run/trained_networks.hpp"

namespace sagips::run {

/// The examples of a generation problem with the targets that it reads, and those kept aside.
/// throws: ConfigError, DataError; collective
data::ExampleSets load_conditioned(const Job& job, comm::Ranks* ranks = nullptr);

/// throws: ConfigError for what contradicts the rows
std::unique_ptr<optim::Adversarial> make_adversarial(const Job& job, const data::ExampleSets& sets,
                                                     const problem::RankPlace& place = {});

/// What conditions are, beside the networks in their file: a class by how many there are, values by 0, then
/// their shape; and of values the smallest and largest that rows have had, where there were any.
/// range: of all targets [2, numbers]
std::map<std::string, torch::Tensor> arrays_of(const std::vector<optim::Condition>& conditions,
                                               const torch::Tensor& range);

/// Two networks, one of which makes examples. They are judged by the rows that are kept aside, on rank 0.
class GenerationTask final : public Task {
 public:
  GenerationTask(const Job& job, comm::Ranks& ranks, core::Log& log);

  optim::Optimizer& optimizer() override { return *learner_; }
  std::string fingerprint() const override { return fingerprint_; }
  std::string description() const override;
  std::string share() const override;
  std::vector<std::string> metric_names() const override;
  void begin(bool resumed) override;
  std::optional<record::Evaluated> evaluate(std::int64_t epoch) override;
  bool keeps_best() const override { return true; }
  void judge(const record::Evaluated& evaluated, const BestNetworks::Score& score) override;
  void state(nn::StateList& list) override { list.part("best", best_); }
  record::Results write(RunOutputs& outputs, const Training& training,
                        const std::vector<RankRow>& rows) override;

 private:
  std::unique_ptr<problem::ExampleComparison> comparison() const;
  /// Of the rows of all ranks. shape: [2, numbers]; collective
  torch::Tensor range_of_targets() const;
  /// All rows kept aside by the present networks.
  std::unique_ptr<problem::ExampleComparison> compared() const;
  /// The classifier test.
  void tell_apart(const problem::ExampleComparison& comparison, record::Results& results);

  const Job& job_;
  comm::Ranks& ranks_;
  core::Log& log_;
  data::ExampleSets sets_;
  std::string fingerprint_;
  std::unique_ptr<optim::Adversarial> learner_;
  BestNetworks best_;
  /// What evaluations of this process have compared: the last one, and that of the best networks.
  std::unique_ptr<problem::ExampleComparison> last_compared_, best_compared_;
};

}  // namespace sagips::run
