#pragma once
#include <string>
#include <vector>

#include "sagips/env/environment.hpp"
#include "sagips/optim/solver.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What the moments of the same data say of what networks have found.
struct Judgement {
  bool is_made = false;       ///< false: it cannot be had, and the last of the problems says why
  bool finishes = false;      ///< the config wants the minimum as the answer (generator.finish)
  optim::Solution minimum{};  ///< of the moments, next to the networks
  std::vector<optim::GoodnessOfFit> goodness{};  ///< of the answer
  std::vector<double>
      distances{};              ///< of the networks from the minimum, by parameter; 0 of fixed ones
  double largest_distance = 0;  ///< of them, in errors of the minimum
  std::string farthest{};       ///< the parameter that has it
  std::vector<std::string> problems{};  ///< that kept a part of it away

  /// Whether the networks are farther from the minimum than one of its errors.
  bool is_far() const { return largest_distance > 1; }
};

/// values: what the networks found, by parameter. Features that are called "discriminator" judge the events
/// that were kept aside.
Judgement judge_networks(const Job& job, const env::Environment& environment,
                         const std::vector<double>& values);

}  // namespace sagips::run
