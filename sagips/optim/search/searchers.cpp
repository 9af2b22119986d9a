#include "sagips/optim/search/searchers.hpp"

#include "sagips/core/config/effects.hpp"

namespace sagips::optim {

// Here, and not in evolution.cpp: a build without pagmo knows the keys, too.
void searchers::Evolution::Config::fields(core::FieldList& list) {
  list.add_choice(
      "algorithm", {"cmaes", "sade", "de1220"}, [this] { return algorithm; },
      [this](const std::string& chosen) { algorithm = chosen; },
      "of pagmo: covariance matrix adaptation, or self-adaptive differential evolution");
  list.add("population", population,
           "first population; 0: 4 + 3 ln n for cmaes (Hansen), 10 n for the others, n parameters",
           core::Range::between(0, 1e6));
  list.add("deviation", deviation, "cmaes: first one, in units of the parameters' ranges",
           core::Range{0, 1, true, false});
  core::needs(list, algorithm == "cmaes", "algorithm=cmaes", {"deviation"});
}

void SearcherConfigs::fields(core::FieldList& list) {
  list.group("bayesian", bayesian, "Bayesian optimisation with a Gaussian process");
  list.group("evolution", evolution, "evolutionary search by pagmo");
  list.group("policy_gradient", policy_gradient, "reinforcement learning of a normal policy");
}

void SettingSearcherConfigs::fields(core::FieldList& list) {
  list.group("bayesian", numbers.bayesian, "Bayesian optimisation with a Gaussian process");
  list.group("tpe", tpe, "tree-structured Parzen estimator");
  list.group("ageing", ageing, "ageing evolution");
  list.group("genetic", genetic, "NNLO's genetic search");
  list.group("evolution", numbers.evolution, "evolutionary search by pagmo");
  list.group("grid", grid, "every value with every other");
}

namespace {

template <class Kind>
SearcherMaker maker_of(const typename Kind::Config& config) {
  return [config](const SearchStart& start) { return std::make_unique<Kind>(config, start); };
}

SearcherMaker even(searchers::Even::Form form) {
  return
      [form](const SearchStart& start) { return std::make_unique<searchers::Even>(form, start); };
}

}  // namespace

core::Registry<SearcherMaker> searchers_of(const SearcherConfigs& configs) {
  using namespace searchers;
  core::Registry<SearcherMaker> registry("searcher");
  registry.add("bayesian", maker_of<Bayesian>(configs.bayesian));
  registry.add("evolution", maker_of<Evolution>(configs.evolution));
  registry.add("policy_gradient", maker_of<PolicyGradient>(configs.policy_gradient));
  registry.add("random", even(Even::Form::random));
  return registry;
}

core::Registry<SearcherMaker> setting_searchers_of(const SettingSearcherConfigs& configs) {
  using namespace searchers;
  core::Registry<SearcherMaker> registry("searcher");
  registry.add("bayesian", maker_of<Bayesian>(configs.numbers.bayesian));
  registry.add("tpe", maker_of<Tpe>(configs.tpe));
  registry.add("ageing", maker_of<Ageing>(configs.ageing));
  registry.add("genetic", maker_of<Genetic>(configs.genetic));
  registry.add("evolution", maker_of<Evolution>(configs.numbers.evolution));
  registry.add("sobol", even(Even::Form::sobol));
  registry.add("grid", maker_of<Grid>(configs.grid));
  registry.add("random", even(Even::Form::random));
  return registry;
}

}  // namespace sagips::optim
