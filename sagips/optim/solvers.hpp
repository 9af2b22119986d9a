#pragma once
#include <functional>
#include <memory>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/core/registry.hpp"
#include "sagips/env/compare/event_distance.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/optim/moments/moments.hpp"
#include "sagips/optim/search/direct.hpp"
#include "sagips/optim/search/search.hpp"
#include "sagips/optim/search/searchers.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// The settings of every solver, one group each.
struct SolversConfig {
  MomentsConfig moments;
  FitConfig fit;
  env::EventDistance::Config distance;  ///< what direct and the searches minimise
  Direct::Config direct;
  Search::Config search;
  SearcherConfigs searchers;
  void fields(core::FieldList& list);
};

/// A solver as the program knows it.
struct SolverEntry {
  std::string summary;  ///< one line
  std::function<std::unique_ptr<Solver>(const SolversConfig&)> make;
  /// Whether the solver needs a gradient of the pipeline.
  std::function<bool(const SolversConfig&)> needs_gradient = [](const SolversConfig&) {
    return false;
  };
};

/// bayesian, direct, evolution, likelihood, moments, policy_gradient, random.
core::Registry<SolverEntry> solvers();

}  // namespace sagips::optim
