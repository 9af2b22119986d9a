#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figures/methods_over_time.hpp"
#include "sagips/core/log.hpp"
#include "sagips/optim/solver.hpp"
#include "sagips/record/results.hpp"
#include "sagips/run/requests.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// Which methods are let run on one workload.
struct CompareConfig {
  std::vector<std::string> methods = {"moments", "gan"};
  double minutes = 2;  ///< for each
  void fields(core::FieldList& list);
  /// throws: ConfigError where there is no method, or none of that name
  void check() const;
};

/// What one method did within its budget.
struct Attempt {
  std::string method{};
  std::vector<optim::Visit> visits{};  ///< the last one is its answer
  double time_s = 0;
  std::string end{};                               ///< why it ended, in words
  analysis::MethodLearningCurve learning_curve{};  ///< distance over time
};

/// Methods that have worked on one problem, one after the other.
struct Compared {
  std::string folder{};
  std::vector<Attempt> attempts{};  ///< without those that gave no answer
  record::Results known{};          ///< parameters with truth and floors
  std::string distance{};           ///< what is shown over time: "mean |residual| [%]"
  double floor = 0;                 ///< what the data allow of it on average; 0: not known
  std::string figure{};             ///< a path; empty: none
  bool complete = true;             ///< false: it was asked to stop
};

/// Lets the methods that the job names work on it, each for as long, and fills a run folder. Prints nothing
/// but to the log, where a method that gives no answer is warned of.
/// throws: ConfigError before anything is made; core::Error where no method gives an answer; StorageError
Compared compare(const Job& job, const Requests& requests, core::Log& log);

}  // namespace sagips::run
