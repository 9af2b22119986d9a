#include "sagips/run/learning_problem.hpp"

#include <algorithm>

#include "sagips/core/config/config_value.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

namespace {

// Whether nothing has been said so far that a field needs.
bool lacks_nothing(const core::FieldList& list, const std::string& group, const std::string& name) {
  const auto* found = core::find_entry(list.entries(), group);
  found = found ? core::find_entry(found->members, name) : nullptr;
  return found && found->needs.empty();
}

}  // namespace

void add_needs_of_rows(const core::FieldList& list, const Job& job,
                       const data::ExampleSplit& split) {
  using core::needs;
  // where other rows are kept aside than a share, that has no effect
  const bool keeps_best = split.held_out > 0 || !lacks_nothing(list, "data", "held_out");
  needs(list, keeps_best, "rows kept aside", {"early_stop.restore", "train.evaluate_every"});
  needs(list, job.settings.early_stop.watches() || job.problem->waits_for_plateau() || keeps_best,
        "early_stop.patience or target", {"early_stop.metric", "early_stop.better"});
  needs(list, false, "a generator of parameters", {"train.snapshots", "run.fit"});
}

void PartSettings::fields(core::FieldList& list) {
  list.list("layers", layers, nn::LayerConfig::help());
  list.add("rate", rate, "times optimizer.learning_rate; 0: it stays as it begins",
           core::Range::at_least(0));
  list.add("exchange", exchange, "how ranks exchange its gradients; empty: as `exchange` says");
  list.add_path("start_from", start_from, "as `start_from`, for this network alone");
}

std::string LearningProblem::description() const {
  return "a learning problem, which has no parameters to find. Use `sagips train`, `check`, "
         "`predict`, `report` or `ensemble`.";
}

void LearningProblem::set_defaults(Settings& settings) const {
  settings.exchange = "all_reduce";
  settings.early_stop.metric = "loss";
  settings.loop.epochs = 20;
  settings.loop.snapshots = 0;  // of generators
}

void LearningProblem::fields(core::FieldList& list, Settings& settings) {
  settings.first_fields(list);
  core::FieldList data;
  split.fields(data);
  examples->fields(data);  // which knows whether rows are kept aside
  data.choice(
      "standardise", standardise,
      {{"false", Standardise::none},
       {"inputs", Standardise::inputs},
       {"targets", Standardise::targets},
       {"true", Standardise::both}},
      "makes numbers of mean 0 and deviation 1, by the rows to learn from (of rows of one or two "
      "dimensions each number by itself, of images each channel); what is predicted and judged "
      "but the loss is in the data's units; true: inputs, and targets where these are values in "
      "any unit");
  list.add_group("data", std::move(data), "rows of inputs and targets");
  core::FieldList network;
  network.list("layers", layers, nn::LayerConfig::help());
  list.add_group("network", std::move(network), "what learns");
  list.named_groups("networks", networks,
                    "several, by names of yours, in place of `network`: each takes what the one "
                    "before it gives");
  list.add_path("start_from", start_from,
                "weights to begin with: those of a run folder (its best ones) or of a .safetensors "
                "file; empty: drawn by run.seed");
  learner.fields(list);
  settings.training_fields(
      list, [&settings](core::FieldList& fields) { settings.ranks.timeout_field(fields); });
}

void LearningProblem::add_needs(const core::FieldList& list, const Job& job,
                                const Usage& usage) const {
  using core::needs;
  const train::ExchangeChoice choice = exchanges(job.settings);
  if (has_gem(job, usage)) {
    for (const PartSettings& part : networks)
      if (part.rate != 1 && comm::keeps_central_weights(
                                part.exchange.empty() ? job.settings.exchange : part.exchange))
        refuse_with_gem(core::text("networks.", part.name, ".rate"));
    const bool all = std::all_of(choice.others.begin(), choice.others.end(), [](const auto& other) {
      return comm::keeps_central_weights(other.second);
    });
    needs(list, !comm::keeps_central_weights(choice.primary) || !all, no_gem, {"optimizer"});
  }
  add_needs_of_rows(list, job, split);
  needs(list, networks.empty(), "no networks", {"dense"});
  needs(list, learner.has_classes(), "a loss of classes", {"top_k"});
}

bool LearningProblem::waits_for_plateau() const { return learner.optimizer.waits_for_plateau(); }

train::ExchangeChoice LearningProblem::exchanges(const Settings& settings) const {
  train::ExchangeChoice choice{settings.exchange, {}, settings.exchanges};
  for (const PartSettings& part : networks) {
    const std::string own = part.exchange.empty() ? settings.exchange : part.exchange;
    if (&part == &networks.front())
      choice.primary = own;
    else
      choice.others[part.name] = own;
  }
  return choice;
}

StepKeys LearningProblem::step_keys() const {
  return {"batch", learner.batch, {{"optimizer", learner.optimizer.learning_rate}}};
}

StepOfRanks LearningProblem::step_of_ranks(const Job& job) const {
  const LearningRows rows = load_examples(job);
  const auto made = make_learner(job, make_networks(job, *rows.sets.training), rows);
  return run::step_of_ranks(*made, rows.sets.training->rows(), learner.batch);
}

std::unique_ptr<Task> LearningProblem::task(const Job& job, comm::Ranks& ranks,
                                            core::Log& log) const {
  return std::make_unique<LearningTask>(job, ranks, log);
}

}  // namespace sagips::run
