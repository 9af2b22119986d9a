#include "sagips/optim/search/searchers.hpp"

#include "sagips/optim/search/searchers/random.hpp"

namespace sagips::optim {

void SearcherConfigs::fields(core::FieldList& list) {
  list.group("bayesian", bayesian, "Bayesian optimisation with a Gaussian process");
  list.group("evolution", evolution, "evolutionary search by pagmo");
  list.group("policy_gradient", policy_gradient, "reinforcement learning of a normal policy");
}

core::Registry<SearcherMaker> searchers_of(const SearcherConfigs& configs) {
  core::Registry<SearcherMaker> registry("searcher");
  registry.add("bayesian", [config = configs.bayesian](const SearchStart& start) {
    return std::make_unique<searchers::Bayesian>(config, start);
  });
  registry.add("evolution", [config = configs.evolution](const SearchStart& start) {
    return std::make_unique<searchers::Evolution>(config, start);
  });
  registry.add("policy_gradient", [config = configs.policy_gradient](const SearchStart& start) {
    return std::make_unique<searchers::PolicyGradient>(config, start);
  });
  registry.add("random",
               [](const SearchStart& start) { return std::make_unique<searchers::Random>(start); });
  return registry;
}

}  // namespace sagips::optim
