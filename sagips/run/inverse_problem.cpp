#include "sagips/run/inverse_problem.hpp"

#include <algorithm>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/inverse_task.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

void SolveConfig::fields(core::FieldList& list) {
  list.add("method", method, "what looks for the parameters; see `sagips list`");
  list.add("minutes", minutes, "time limit; 0: none", core::Range::at_least(0));
  list.add("bootstraps", bootstraps,
           "further solutions on data drawn again with replacement: errors from their spread",
           core::Range::between(0, 1e6));
  list.add("seeds", seeds, "further solutions with other seeds: what the method's own chance does",
           core::Range::between(0, 1e6));
  list.choice("test", test,
              {{"energy", optim::EventTest::energy}, {"classifier", optim::EventTest::classifier}},
              "how measured and synthetic events are told apart: by their energy distance, or by a "
              "small network, which is better where few of many observables differ");
  list.add("test_events", test_events, "measured and synthetic events of that test; 0: no test",
           core::Range::between(0, 20000));
  list.add("permutations", permutations, "of the test by energy distance",
           core::Range::between(10, 1e6));
  core::needs(list, test_events > 0, "test_events above 0", {"test", "permutations"});
  core::needs(list, test == optim::EventTest::energy, "test=energy", {"permutations"});
}

std::string InverseProblem::description() const {
  return "a problem of parameters, which has no examples to learn from. Use `sagips solve`, "
         "`train` or `fit`.";
}

void InverseProblem::fields(core::FieldList& list, Settings& settings) {
  settings.first_fields(list);
  list.group("data", data.data, "measured events");
  core::FieldList toy;
  toy.add("events", data.toy_events, "toy events made when data.file is empty",
          core::Range::between(1, 1e10));
  toy.choice("weights", data.toy_weights,
             {{"accepted", env::ToyWeights::accepted}, {"kept", env::ToyWeights::kept}},
             "of a pipeline that weighs its events: accepted takes an event with a probability of "
             "its weight, as data come; kept takes all with their weights");
  list.add_group("toy", std::move(toy), "made-up data for closure tests");
  gan.fields(list);
  settings.training_fields(list,
                           [&settings](core::FieldList& fields) { settings.ranks.fields(fields); });
  list.group("evaluation", evaluation, "how a generator is looked at");
  list.group("solve", solve, "how `sagips solve` looks for parameters");
  solvers.fields(list);
  data.channel_fields(list, *workload);
  workload->fields(list);
}

namespace {

// In a command that makes events with the parameters' toy values, where there are any, and reads no file. What
// is set of a file without naming one is refused there.
void needs_of_measured_events(const core::FieldList& list, const problem::Workload& workload,
                              const problem::DataSettings& settings) {
  const auto needs_reading = [&](const std::string& place, const data::DatasetConfig& config,
                                 const problem::ChannelPlan& plan) {
    if (config.file.empty()) return;
    std::vector<std::string> keys;
    for (const char* key :
         {"file", "hdf5_dataset", "columns", "weight_column", "reference", "maximum_events"})
      keys.push_back(core::text(place, ".", key));
    if (!plan.cuts_select_events) keys.push_back(place + ".cuts");
    core::needs(list, false, "a command that reads events", keys);
  };
  for (const problem::ChannelPlan& plan : workload.channels()) {
    needs_reading("data", settings.data, plan);
    needs_reading(core::text("channels.", plan.name, ".data"), settings.of(plan).data, plan);
  }
  for (const env::Parameter& parameter : workload.parameters()) {
    const std::string place = "parameters." + parameter.name;
    core::needs(list, !parameter.toy, core::text("no ", place, ".toy"), {place + ".truth"});
  }
}

}  // namespace

void InverseProblem::add_needs(const core::FieldList& list, const Job& job,
                               const Usage& usage) const {
  using core::needs;
  if (has_gem(job, usage)) {
    needs(list, !comm::keeps_central_weights(job.settings.exchange), no_gem,
          {"optimizer.generator"});
    needs(list, !comm::keeps_central_weights(gan.discriminator.exchange), no_gem,
          {"optimizer.discriminator"});
  }
  needs(list, gan.discriminator.exchange != "none", "discriminator.exchange",
        {"discriminator.shared"});
  needs(list, job.settings.early_stop.watches() || waits_for_plateau(),
        "early_stop.patience or target", {"early_stop.metric", "early_stop.better"});
  needs(list, false, "rows kept aside", {"early_stop.restore"});
  const auto& channels = data.channels;
  const bool toys = channels.empty() ? data.data.file.empty()
                                     : std::any_of(channels.begin(), channels.end(), [](auto& one) {
                                         return one.second.enabled && one.second.data.file.empty();
                                       });
  const bool generates = usage.command == "generate";  // which makes toy events whatever is given
  needs(list, toys || generates, "toy events (no data.file)", {"toy"});
  if (generates) needs_of_measured_events(list, *workload, data);
}

bool InverseProblem::waits_for_plateau() const {
  return gan.optimizer.generator.waits_for_plateau() ||
         gan.optimizer.discriminator.waits_for_plateau();
}

train::ExchangeChoice InverseProblem::exchanges(const Settings& settings) const {
  return {settings.exchange, {{"discriminator", gan.discriminator.exchange}}, settings.exchanges};
}

StepKeys InverseProblem::step_keys() const {
  return {"batch.samples",
          gan.batch.samples,
          {{"optimizer.generator", gan.optimizer.generator.learning_rate},
           {"optimizer.discriminator", gan.optimizer.discriminator.learning_rate}}};
}

// Of the tensors that the ranks share, in the network's order.
StepOfRanks InverseProblem::step_of_ranks(const Job&) const {
  const auto network = gan.generator.network.network(
      gan.generator.noise_dimensions, env::ParameterSet(workload->parameters()).free_size(),
      "generator");
  StepOfRanks step{
      {},
      /*of_rows=*/false,
      [batch = gan.batch](std::int64_t ranks) {
        return static_cast<double>(ranks * batch.samples_of_rank({0, ranks}) * batch.events);
      },
      [](std::int64_t) { return std::int64_t{1}; }};
  for (const nn::ParameterTensor& tensor : network->parameters()) {
    const bool shared = gan.generator.shared == nn::SharedPart::all ||
                        (gan.generator.shared == nn::SharedPart::weights_only && !tensor.is_bias);
    if (shared) step.tensors.push_back(tensor.size());
  }
  if (step.tensors.empty())
    throw core::ConfigError(
        "generator.shared",
        "none shares nothing (there is no exchange to simulate). Use weights_only or all.");
  return step;
}

std::unique_ptr<Task> InverseProblem::task(const Job& job, comm::Ranks& ranks,
                                           core::Log& log) const {
  return std::make_unique<InverseTask>(job, ranks, log);
}

}  // namespace sagips::run
