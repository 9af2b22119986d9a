#pragma once
#include "sagips/core/config/config.hpp"
#include "sagips/core/registry.hpp"
#include "sagips/optim/search/searcher.hpp"
#include "sagips/optim/search/searchers/bayesian.hpp"
#include "sagips/optim/search/searchers/evolution.hpp"
#include "sagips/optim/search/searchers/policy_gradient.hpp"

namespace sagips::optim {

/// The settings of all searchers; the one that is chosen reads its own.
struct SearcherConfigs {
  searchers::Bayesian::Config bayesian;
  searchers::Evolution::Config evolution;
  searchers::PolicyGradient::Config policy_gradient;

  void fields(core::FieldList& list);
};

/// bayesian, evolution, policy_gradient, random.
core::Registry<SearcherMaker> searchers_of(const SearcherConfigs& configs);

}  // namespace sagips::optim
