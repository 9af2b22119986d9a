#include "sagips/run/generation_problem.hpp"

#include "sagips/core/config/effects.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/generation_task.hpp"
#include "sagips/run/learning_problem.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

std::string GenerationProblem::description() const {
  return "a generation problem, which has no parameters to find (`sagips train`, `check`, "
         "`predict` "
         "and `report` are for it)";
}

void GenerationProblem::set_defaults(Settings& settings) const {
  settings.exchange = "all_reduce";
  settings.early_stop.metric = "distance";
  settings.loop.epochs = 20;
  settings.loop.snapshots = 0;  // of generators of parameters
}

void GenerationProblem::fields(core::FieldList& list, Settings& settings) {
  settings.first_fields(list);
  if (!examples_of.empty())
    list.add("examples", examples_of,
             "a learning workload: inputs like its own are made, for its targets as conditions");
  core::FieldList data;
  split.fields(data);
  examples->fields(data);  // which knows whether rows are kept aside
  list.add_group("data", std::move(data), "rows of examples (inputs) and conditions (targets)");
  learner.fields(list);
  settings.training_fields(
      list, [&settings](core::FieldList& fields) { settings.ranks.timeout_field(fields); });
}

void GenerationProblem::add_needs(const core::FieldList& list, const Job& job,
                                  const Usage& usage) const {
  if (has_gem(job, usage))
    core::needs(list, !comm::keeps_central_weights(job.settings.exchange), no_gem,
                {"generator.optimizer", "discriminator.optimizer"});
  add_needs_of_rows(list, job, split);
}

train::ExchangeChoice GenerationProblem::exchanges(const Settings& settings) const {
  return {settings.exchange, {{"discriminator", settings.exchange}}, settings.exchanges};
}

StepKeys GenerationProblem::step_keys() const {
  return {"batch",
          learner.batch,
          {{"generator.optimizer", learner.generator.optimizer.learning_rate},
           {"discriminator.optimizer", learner.discriminator.optimizer.learning_rate}}};
}

StepOfRanks GenerationProblem::step_of_ranks(const Job& job) const {
  const data::ExampleSets sets = load_conditioned(job);
  return run::step_of_ranks(*make_adversarial(job, sets), sets.training->rows(), learner.batch);
}

std::unique_ptr<Task> GenerationProblem::task(const Job& job, comm::Ranks& ranks,
                                              core::Log& log) const {
  return std::make_unique<GenerationTask>(job, ranks, log);
}

}  // namespace sagips::run
