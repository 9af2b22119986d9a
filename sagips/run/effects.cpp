#include "sagips/run/effects.hpp"

#include <algorithm>
#include <utility>

#include "sagips/core/config/config_value.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/solvers.hpp"

namespace sagips::run {

namespace {

using core::FieldList;
using core::needs;
using core::text;
using Keys = std::vector<core::KeyWithoutEffect>;
using Rule = comm::CentralRuleConfig::Rule;

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// What other commands alone read.
void needs_of_commands(const FieldList& list, const Workloads& workloads, const Settings& settings,
                       const Usage& usage) {
  const bool trains = usage.trains;
  needs(list, !usage.folds, "no folds", {"data.held_out"});
  for (const SettingsGroup& group : workloads.groups) {
    std::vector<std::string> keys = {group.name};
    const bool of_ways = usage.command == "convergence" || usage.command == "scaling";
    if (group.name == "ensemble" && of_ways)  // which share its launcher
      keys = {"ensemble.members", "ensemble.vary", "ensemble.grid", "ensemble.ranks",
              "ensemble.draws"};
    if (usage.command == "scaling" && group.name == "ensemble")
      keys.emplace_back("ensemble.at_once");  // timings must not disturb each other
    if (usage.command == "scaling" && group.name == "simulate") continue;  // further ranks
    needs(list, group.name == usage.command, "sagips " + group.name, keys);
  }
  needs(list, trains, "a training of networks",
        {"objective",      "generator",       "discriminator",     "batch",
         "optimizer",      "dense",           "exchange",          "exchanges",
         "ranks.fraction", "train",           "early_stop",        "evaluation",
         "run.fit",        "run.tensorboard", "data.held_out",     "data.validation_rows",
         "measures",       "label_flips",     "generator_updates", "collapse",
         "shuffle_rows"});
  const bool likelihoods = usage.command == "fit" || usage.command == "compare";
  needs(list, trains || !likelihoods, "a training or sagips solve", {"device", "precision"});
  const bool solves = usage.command == "solve";
  needs(list, solves, "sagips solve", {"solve.test", "solve.test_events", "solve.permutations"});
  needs(list, solves || usage.command == "closure", "sagips solve", {"solve"});
  const std::vector<std::string>& methods = usage.methods;
  const auto runs = [&](const std::string& one) { return contains(methods, one); };
  needs(list, trains || runs("moments"), "the method moments", {"moments"});
  needs(list, usage.command == "fit" || runs("likelihood") || (trains && settings.run.fit),
        "the method likelihood", {"fit.starts", "fit.evaluations", "fit.edm"});
  needs(list, runs("direct"), "the method direct", {"direct"});
  bool searches = false;
  for (const std::string one : {"bayesian", "evolution", "policy_gradient", "random"}) {
    needs(list, runs(one), "the method " + one, {one});
    searches = searches || runs(one);
  }
  needs(list, searches, "a search (solve.method=bayesian, ...)", {"search"});
  needs(list, searches || runs("direct"), "the method direct or a search", {"distance"});
  needs(list, settings.run.figures, "run.figures=true", {"figures"});
}

void needs_of_exchanges(const FieldList& list, const Job& job, const Usage& usage) {
  const Settings& settings = job.settings;
  const bool several = usage.ranks > 1;
  needs(list, several, "several ranks",
        {"exchange", "exchanges", "ranks.data", "ranks.channels", "shared", "generator.shared",
         "discriminator.exchange", "discriminator.shared", "batch.over_ranks", "optimizer.overlap",
         "ensemble.launcher"});
  needs(list, several || usage.waiting_ranks > 1, "several ranks",
        {"ranks.timeout_s", "tune.launcher"});
  needs(list, !usage.in_blocks, "trainings that are started one by one (no mpirun)",
        {"tune.at_once", "tune.launcher"});
  for (const char* comparing : {"convergence", "scaling", "simulate"})  // exchanges
    if (usage.command == comparing) return;
  const train::ExchangeChoice choice = job.exchange_choice();
  std::vector<std::string> used = {choice.primary};
  for (const auto& [network, name] : choice.others) used.push_back(name);
  const auto uses = [&](const std::string& one) { return contains(used, one); };
  const comm::ExchangesConfig& all = settings.exchanges;
  const auto add = [&used](const std::string& part) { used.push_back(part); };
  if (uses("averaged")) add(all.averaged.inner), add(all.averaged.mean);
  if (uses("grouped")) add(all.grouped.inner), add(all.grouped.outer);
  if (uses("served") && all.served.ranks_per_worker > 1) add(all.served.inner);
  const bool modes = uses("arar_arar") || uses("rma_arar_arar");
  const auto known = comm::known_exchanges();
  needs(
      list,
      known.has(used.front()) && (known.get(used.front(), "exchange").is_exact || uses("averaged")),
      "an exact exchange of the first network", {"exchanges.learning_rate_scaling"});
  needs(list,
        std::any_of(used.begin(), used.end(),
                    [&](const std::string& one) {
                      return known.has(one) && known.get(one, "exchange").is_exact;
                    }),
        "an exact exchange", {"exchanges.running_statistics", "exchanges.batch_norm"});
  needs(list, settings.device != "cpu", "device=cuda or auto", {"exchanges.memory"});
  needs(list, uses("grouped"), "exchange=grouped",
        {"exchanges.grouped.inner", "exchanges.grouped.outer"});
  needs(list, uses("grouped") || modes, "exchange=grouped, arar_arar or rma_arar_arar",
        {"exchanges.grouped.outer_every", "exchanges.grouped.leader", "exchanges.grouped.rule"});
  needs(list, uses("grouped") || modes || uses("lanes") || uses("auto"), "an exchange in groups",
        {"exchanges.grouped"});
  needs(list, uses("rma_ring") || uses("rma_arar_arar"), "exchange=rma_ring or rma_arar_arar",
        {"exchanges.rma_ring"});
  needs(list, uses("double_tree") || uses("auto"), "exchange=double_tree or auto",
        {"exchanges.double_tree"});
  for (const std::string one : {"compressed", "gossip", "averaged", "served", "auto"})
    needs(list, uses(one), "exchange=" + one, {"exchanges." + one});
}

void needs_of_training(const FieldList& list, const Job& job) {
  const Settings& settings = job.settings;
  const std::string at_an_end = "train.epochs above 0 (nobody knows how much of the run is over)";
  const bool waits = job.problem->waits_for_plateau();
  for (const std::string place : {"optimizer", "optimizer.generator", "optimizer.discriminator"})
    for (const std::string key : {".schedule", ".final_rate", ".drop_at"})
      needs(list, settings.loop.epochs > 0 || waits, at_an_end, {place + key});
}

FieldList list_of(const Workloads& workloads, Job& job, const Usage& usage) {
  FieldList list = fields_of(workloads, job);
  needs_of_commands(list, workloads, job.settings, usage);
  needs_of_exchanges(list, job, usage);
  job.problem->add_needs(list, job, usage);
  needs_of_training(list, job);
  return list;
}

// Beside those of the workload's own settings from which the job differs least.
Keys keys_set_for_nothing(const Workloads& workloads, Job& job, const Usage& usage) {
  const FieldList list = list_of(workloads, job, usage);
  const auto beside = [&](const std::string& source) {
    Job usual = read_any_job(workloads, source, {});
    return core::keys_without_effect(list, fields_of(workloads, usual));
  };
  Keys fewest = beside(job.entry->name);
  for (const auto& settings : job.entry->settings)
    if (Keys keys = beside(job.entry->name + "/" + settings.first); keys.size() < fewest.size())
      fewest = std::move(keys);
  for (const std::string& varied : usage.varied)
    std::erase_if(fewest, [&, group = varied.substr(0, varied.rfind('.'))](const auto& one) {
      return one.key.starts_with(group);
    });
  return fewest;
}

}  // namespace

const char* const no_gem =
    "another rule than gem, whose steps are gradients times exchanges.served.gem.learning_rate";

bool has_gem(const Job& job, const Usage& usage) {
  return usage.trains && usage.ranks > 1 && job.settings.exchanges.served.rule.rule == Rule::gem;
}

void refuse_with_gem(const std::string& key) {
  throw core::ConfigError(
      key, text("has no effect here: it needs ", no_gem, ". Set that, or leave this one out."));
}

std::string keys_without_effect(const Workloads& workloads, Job& job, const Usage& usage) {
  std::vector<std::string> parts, names;
  const Keys keys = keys_set_for_nothing(workloads, job, usage);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].needs == no_gem) refuse_with_gem(keys[i].key);
    names.push_back(keys[i].key);
    if (i + 1 < keys.size() && keys[i + 1].needs == keys[i].needs) continue;
    parts.push_back(text(core::join(names, ", "), " (needs ", keys[i].needs, ")"));
    names.clear();
  }
  return parts.empty() ? std::string() : "no effect in this run: " + core::join(parts, "; ");
}

VariedKeys::VariedKeys(std::vector<std::string> keys, Usage usage)
    : keys_(std::move(keys)), usage_(std::move(usage)) {
  usage_.varied.clear();
}

void VariedKeys::look_at(const Workloads& workloads, Job& training) {
  const FieldList list = list_of(workloads, training, usage_);
  for (const std::string& key : keys_) {
    const auto [entry, is_first] = needs_.emplace(key, core::needed_by(list, key));
    if (!is_first && !entry->second.empty()) entry->second = core::needed_by(list, key);
  }
}

std::string VariedKeys::remark() const {
  std::vector<std::string> parts;
  for (const std::string& key : keys_)
    if (const auto found = needs_.find(key); found != needs_.end() && !found->second.empty())
      parts.push_back(text(key, " (needs ", found->second, ")"));
  return parts.empty() ? std::string() : "no effect in any training: " + core::join(parts, "; ");
}

std::string remark_on_updates(const Job& job, const std::string& place,
                              const optim::UpdateConfig& rule, std::int64_t batches,
                              std::int64_t ranks) {
  // owners of central weights count what all have sent
  if (batches <= 0 || (comm::keeps_central_weights(job.settings.exchange) && ranks > 1)) return {};
  const std::int64_t updates = batches / rule.batches_per_update;
  if (updates == 0)
    return text(place, ".batches_per_update=", rule.batches_per_update, ": the run has ", batches,
                " batches, so it makes no update");
  if (rule.warm_up < updates || rule.warm_up == 0) return {};
  return text(place, ".warm_up=", rule.warm_up, ": the run has ", updates,
              " updates, so the learning rate never reaches its full size");
}

void warn_without_effect(const Workloads& workloads, Job& job, const Usage& usage,
                         const comm::Ranks& ranks, core::Log& log) {
  const std::string line = keys_without_effect(workloads, job, usage);
  if (!line.empty() && ranks.is_first()) log.warning("without-effect", line);
}

}  // namespace sagips::run
