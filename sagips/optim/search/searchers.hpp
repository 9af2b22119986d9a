#pragma once
#include "sagips/core/config/config.hpp"
#include "sagips/core/registry.hpp"
#include "sagips/optim/search/searcher.hpp"
#include "sagips/optim/search/searchers/ageing.hpp"
#include "sagips/optim/search/searchers/bayesian.hpp"
#include "sagips/optim/search/searchers/even.hpp"
#include "sagips/optim/search/searchers/evolution.hpp"
#include "sagips/optim/search/searchers/policy_gradient.hpp"
#include "sagips/optim/search/searchers/tpe.hpp"

namespace sagips::optim {

/// The settings of the searchers of parameters; the one that is chosen reads its own.
struct SearcherConfigs {
  searchers::Bayesian::Config bayesian;
  searchers::Evolution::Config evolution;
  searchers::PolicyGradient::Config policy_gradient;

  void fields(core::FieldList& list);
};

/// The same for searches over settings, where a score is a training.
struct SettingSearcherConfigs {
  SearcherConfigs numbers;
  searchers::Tpe::Config tpe;
  searchers::Ageing::Config ageing;
  searchers::Genetic::Config genetic;
  searchers::Grid::Config grid;

  void fields(core::FieldList& list);
};

/// bayesian, evolution, policy_gradient, random.
core::Registry<SearcherMaker> searchers_of(const SearcherConfigs& configs);

/// bayesian, tpe, ageing, genetic, evolution, sobol, grid, random.
core::Registry<SearcherMaker> setting_searchers_of(const SettingSearcherConfigs& configs);

}  // namespace sagips::optim
