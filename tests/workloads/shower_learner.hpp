#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sagips/run/generation_task.hpp"
#include "sagips/run/settings.hpp"
#include "workloads/calorimeter3d/calorimeter3d.hpp"

namespace sagips::testing {

inline constexpr const char *full = "calorimeter3d", *laptop = "calorimeter3d/laptop";
inline constexpr std::size_t maker = 0, judge = 1;  ///< of a learner's networks

/// A job of the workload. without: kinds of layers that are left out of both networks
inline run::Job shower_job(const std::string& settings, const std::vector<std::string>& assignments,
                           const std::vector<std::string>& without = {}) {
  static const run::Workloads workloads = [] {
    run::Workloads made("workload");
    const problem::Entry entry = workloads::calorimeter3d_workload();
    made.add(entry.name, entry);
    return made;
  }();
  run::Job job = run::read_any_job(workloads, settings, assignments);
  optim::AdversarialConfig& learner = job.as<run::GenerationProblem>()->learner;
  for (auto* layers : {&learner.generator.layers, &learner.discriminator.layers})
    std::erase_if(*layers, [&](const nn::LayerConfig& layer) {
      return std::find(without.begin(), without.end(), layer.kind()) != without.end();
    });
  return job;
}

/// The learner of such a job, and its showers.
struct Learns {
  run::Job job;
  data::ExampleSets sets;
  std::unique_ptr<optim::Adversarial> learner;

  explicit Learns(run::Job of, const problem::RankPlace& place = {})
      : job(std::move(of)),
        sets(run::load_conditioned(job)),
        learner(run::make_adversarial(job, sets, place)) {
    at::set_num_threads(1);
  }
  nn::Replica& replica(std::size_t player) const { return learner->networks()[player].replica; }
  const nn::Network& network(std::size_t player) const {
    return *learner->networks()[player].part.network;
  }
};

}  // namespace sagips::testing
