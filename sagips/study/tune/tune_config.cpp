#include "sagips/study/tune/tune_config.hpp"

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::study {

using core::Range;

void TunedKey::fields(core::FieldList& list) {
  list.add("key", key, "what trials differ in: a key of a training, as optimizer.learning_rate");
  list.add("low", low, "lowest value");
  list.add("high", high, "highest value");
  list.add("log", log, "even on a logarithmic scale");
  list.add("integer", integer, "whole numbers alone");
  list.add("values", values, "in place of a range: what it may be");
  list.add("ordered", ordered, "whether neighbours among the values are alike");
  list.add("when", when, "KEY=VALUE|VALUE of a key before it: counts only there; empty: always");
}

void EarlyEndConfig::fields(core::FieldList& list) {
  list.choice("rule", rule,
              {{"none", Rule::none},
               {"halving", Rule::halving},
               {"brackets", Rule::brackets},
               {"median", Rule::median}},
              "asynchronous successive halving (ASHA), Hyperband's brackets of it, or worse than "
              "the median of the others");
  list.add("first", first, "epochs before the first look, over all folds", Range::positive());
  list.add("factor", factor, "one trial of so many goes on, for so many times the epochs",
           Range::between(2, 100));
  list.add("brackets", brackets, "of them: each looks `factor` times later than the one before",
           Range::between(1, 20));
  list.add("trials", trials, "median: of how many others at least", Range::between(1, 1e6));
  core::needs(list, rule != Rule::none, "another rule than none", {"first"});
  core::needs(list, rule == Rule::halving || rule == Rule::brackets, "rule=halving or brackets",
              {"factor"});
  core::needs(list, rule == Rule::brackets, "rule=brackets", {"brackets"});
  core::needs(list, rule == Rule::median, "rule=median", {"trials"});
}

void PopulationConfig::fields(core::FieldList& list) {
  list.add("members", members, "networks that train side by side; 0: no population",
           Range::between(0, 1e5));
  list.add("legs", legs, "parts of a training, between which the members are compared",
           Range::between(2, 1e5));
  list.add("share", share, "of the members, that go on with the networks of as many of the best",
           Range{0, 0.5, true});
  list.add("change", change, "what numbers are multiplied with or divided by then",
           Range{1, 100, true});
  list.add("anew", anew, "chance that a setting is drawn anew then", Range::between(0, 1));
  core::needs(list, members > 0, "members above 0", {"legs", "share", "change", "anew"});
}

void TuneConfig::searcher_fields(core::FieldList& list) {
  std::vector<std::string> words = optim::setting_searchers_of({}).names();
  words.emplace_back("auto");
  list.add_choice(
      "searcher", std::move(words), [this] { return searcher; },
      [this](const std::string& chosen) { searcher = chosen; },
      "what chooses settings; auto: bayesian for up to ten numbers, tpe beyond and for words");
  searchers.fields(list);
  for (const std::string one : {"bayesian", "tpe", "ageing", "genetic", "evolution", "grid"})
    core::needs(list,
                searcher == one || (searcher == "auto" && (one == "bayesian" || one == "tpe")),
                "searcher=" + one, {one});
}

void TuneConfig::fields(core::FieldList& list) {
  list.list("space", space, "the keys that trials differ in, and what they may be");
  list.add("minimise", minimise, "the metric of the evaluations that is to be small");
  list.add("maximise", maximise, "or the one that is to be large");
  list.add("trials", trials,
           "trainings, also --trials; a population has a member's legs times its members",
           Range::between(1, 1e7));
  list.add("minutes", minutes, "no trial begins later, also --minutes; 0: no limit",
           Range::at_least(0));
  list.add("target", target, "a trial that is as good as this ends the study, also --target");
  list.add("folds", folds, "trainings of a trial, each with another part of the rows kept aside",
           Range::between(1, 1000));
  list.add("seeds", seeds, "trainings of a trial, each with the seed after the one before",
           Range::between(1, 1000));
  list.add(
      "side_by_side", side_by_side,
      "trainings of a trial, folds or seeds, that run at the same time, each on an equal part of "
      "its ranks",
      Range::between(1, 1000));
  searcher_fields(list);
  list.add("points", points,
           "tried first: \"key=value, key=value\", a value for every key that counts");
  list.add_path("warm_start", warm_start,
                "folder of an earlier study whose trials are learned from");
  list.group("early_end", early_end, "which trials end before their time");
  list.group("population", population, "population-based training");
  list.add("ranks", ranks, "of each trial, also --block-ranks", Range::between(1, 1e6));
  list.add("launcher", launcher,
           "what starts a trial of several ranks where none are started; {ranks} is their number");
  list.add("at_once", at_once, "trials that run at the same time here; 0: as the cores allow",
           Range::between(0, 1e5));
  list.add("lease_s", lease_s,
           "a worker without a sign of life for so long gives its trial back [s]",
           Range::at_least(1));
}

void TuneConfig::check() const {
  if (space.empty())
    throw core::ConfigError("tune.space",
                            "names no key (all trials would be one). Write for example `space: "
                            "[{key: optimizer.learning_rate, low: 1e-4, high: 1e-2, log: true}]`.");
  if (minimise.empty() == maximise.empty())
    throw core::ConfigError("tune.minimise",
                            "say what the best trial is: tune.minimise or tune.maximise, one of "
                            "them, with the name of a metric, e.g. tune.minimise=loss.");
  if (folds > 1 && seeds > 1)
    throw core::ConfigError("tune.seeds",
                            "a trial is trained with several folds or with several seeds. Set one "
                            "of tune.folds and tune.seeds to 1.");
  if (side_by_side > trainings())
    throw core::ConfigError("tune.side_by_side",
                            core::text("is ", side_by_side, ", and a trial has ", trainings(),
                                       trainings() == 1 ? " training. " : " trainings. ",
                                       "Set tune.folds or tune.seeds to as many, or lower it."));
  if (ranks % side_by_side != 0)
    throw core::ConfigError("tune.side_by_side",
                            core::text("the ranks of a trial (", ranks, ") are not ", side_by_side,
                                       " equal parts. Set tune.ranks (--block-ranks) to a multiple "
                                       "of it."));
  if (side_by_side > 1 && early_end.rule != EarlyEndConfig::Rule::none)
    throw core::ConfigError("tune.side_by_side",
                            "an early end looks at one training of a trial after the other. Set it "
                            "to 1, or tune.early_end.rule=none.");
  if (population.members > 0 && seeds > 1)
    throw core::ConfigError("tune.population",
                            "members of a population are trained with one seed each. Set "
                            "tune.seeds=1.");
  if (population.members > 0 && folds > 1)
    throw core::ConfigError("tune.population",
                            "members of a population go on with each other's networks, which have "
                            "seen the rows that a fold keeps aside. Set tune.folds=1.");
  if (population.members > 0 && early_end.rule != EarlyEndConfig::Rule::none)
    throw core::ConfigError("tune.early_end.rule",
                            "a population replaces its worst members itself. Set it to none.");
}

}  // namespace sagips::study
