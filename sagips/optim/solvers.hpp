#pragma once
#include <functional>
#include <memory>
#include <string>

#include "sagips/core/config.hpp"
#include "sagips/core/registry.hpp"
#include "sagips/optim/maximum_likelihood.hpp"
#include "sagips/optim/moments.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// The settings of every solver, one group each.
struct SolversConfig {
  MomentsConfig moments;
  FitConfig fit;
  void fields(core::FieldList& list);
};

/// A solver as the program knows it.
struct SolverEntry {
  std::string summary;  ///< one line
  std::function<std::unique_ptr<Solver>(const SolversConfig&)> make;
};

/// moments, likelihood, ...
core::Registry<SolverEntry> solvers();

}  // namespace sagips::optim
