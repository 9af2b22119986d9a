#include <algorithm>
#include <array>
#include <cmath>

#include "sagips/comm/exchanges.hpp"
#include "sagips/core/text.hpp"
#include "sagips/study/simulated/simulation_plan.hpp"

namespace sagips::study {

namespace {

using What = Simulation::What;
using Overlap = simulate::ScenarioConfig::Overlap;

// Epochs that show it, as far as so many messages allow; one period at least.
constexpr double few_epochs = 4, many_epochs = 20;
constexpr double message_budget = 1e5;  // some seconds of a core

bool is_random(const simulate::ScenarioConfig& scenario) {
  return scenario.jitter > 0 || !scenario.sample.empty();
}

// Whole periods of the exchange. It is simulated by itself for one more.
std::int64_t epochs_of(const SimulatedWay& way, double arrays, std::int64_t asked, double wanted) {
  const auto period = static_cast<double>(way.facts.period);
  if (asked > 0) wanted = static_cast<double>(asked);
  double periods = std::ceil(wanted / period);
  const double messages = arrays * way.facts.messages * period;
  if (asked == 0 && messages > 0)
    periods = std::min(periods, std::floor(message_budget / messages) - 1);
  return way.facts.period * static_cast<std::int64_t>(std::max(1.0, periods));
}

Simulation simulation(const run::Job& job, const SimulatePlan& plan, const SimulatedWay& way,
                      What what, const simulate::ScenarioConfig& scenario) {
  Simulation one;
  one.what = what;
  one.way = way;
  const bool alone =
      what == What::exchange || (what == What::training && job.of<SimulateConfig>().epochs == 0 &&
                                 is_a_sum(plan, way, scenario));
  one.name = core::text(way.exchange, way.fused ? "" : "_unfused", "_", way.ranks, "_",
                        word(alone ? What::exchange : what));
  if (alone && what == What::training) one.computation_s = scenario.compute_s;
  one.job.exchange = way.exchange;
  one.job.exchanges = job.settings.exchanges;
  one.job.ranks = way.ranks;
  one.job.tensors = plan.step.tensors;
  one.job.fused = way.fused;
  one.job.each_length_once = alone && !way.fused && is_a_sum(plan, way, scenario);
  one.job.platform = plan.platform;
  if (!alone) one.job.scenario = scenario;
  if (scenario.overlap == Overlap::none && !way.facts.has_centre)
    one.job.scenario.polls = 1;  // nothing is under way then
  const double arrays = way.fused ? 1 : static_cast<double>(plan.step.tensors.size());
  const bool many =
      (what != What::training && what != What::late) || is_random(scenario) || way.facts.has_centre;
  one.job.epochs = alone ? 0
                         : epochs_of(way, arrays, job.of<SimulateConfig>().epochs,
                                     many ? many_epochs : few_epochs);
  one.job.alone = what == What::exchange || what == What::training;  // once is enough
  one.messages = way.facts.messages * arrays *
                 static_cast<double>(one.job.epochs + (one.job.alone ? way.facts.period : 0));
  return one;
}

std::vector<Simulation> by_messages(std::vector<Simulation> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.messages > b.messages; });
  return all;
}

}  // namespace

std::string word(Simulation::What what) {
  // in the order of What
  constexpr std::array words{"exchange",    "training",    "one_update_late",
                             "undisturbed", "slow_leader", "slow_follower"};
  return words[static_cast<std::size_t>(what)];
}

bool is_a_sum(const SimulatePlan& plan, const SimulatedWay& way,
              const simulate::ScenarioConfig& scenario) {
  // ranks leave a double tree one after another, and so they come to the next one
  return way.facts.exact && way.exchange != "double_tree" && !is_random(scenario) &&
         scenario.overlap == Overlap::none && scenario.straggler < 0 && scenario.pause_every == 0 &&
         scenario.data_bytes == 0 && plan.platform.gpu_copy.bandwidth <= 0;
}

// The simulator has no library that moves an MPI_Iallreduce along: it is one that blocks.
bool can_be_late(const std::string& exchange) {
  return !comm::known_exchanges().get(exchange, "simulate.exchanges").is_of_library;
}

bool calibrates(const Simulation& one) {
  return !one.way.fused && (one.way.exchange == "ring" || one.way.exchange == "arar");
}

std::vector<Simulation> calibrating_simulations(const run::Job& job, const SimulatePlan& plan) {
  std::vector<Simulation> rings, others;
  for (const SimulatedWay& way : plan.ways) {
    Simulation one = simulation(job, plan, way, What::exchange, {});
    if (calibrates(one))
      rings.push_back(std::move(one));
    else if (is_a_sum(plan, way, job.of<SimulateConfig>().scenario))
      others.push_back(std::move(one));
  }
  if (rings.size() < 2) return {};
  std::vector<Simulation> all{rings.back(), rings.front()};
  all.insert(all.end(), others.begin(), others.end());
  return by_messages(std::move(all));
}

std::vector<Simulation> study_simulations(const run::Job& job, const SimulatePlan& plan,
                                          const ComputeTime& compute) {
  std::vector<Simulation> all;
  simulate::ScenarioConfig scenario = job.of<SimulateConfig>().scenario;
  scenario.compute_s = compute.mean_s;
  scenario.sample = compute.sample;
  for (const SimulatedWay& way : plan.ways) {
    if (compute.mean_s <= 0) {
      all.push_back(simulation(job, plan, way, What::exchange, {}));
      continue;
    }
    all.push_back(simulation(job, plan, way, What::training, scenario));
    if (!job.of<SimulateConfig>().late || !way.fused || !way.facts.exact ||
        scenario.overlap == Overlap::one_update_late || !can_be_late(way.exchange))
      continue;
    simulate::ScenarioConfig late = scenario;
    late.overlap = Overlap::one_update_late;
    all.push_back(simulation(job, plan, way, What::late, late));
  }
  if (compute.mean_s > 0)
    for (const SimulatedWay& way : plan.with_stragglers)
      for (const What what : {What::undisturbed, What::slow_leader, What::slow_follower}) {
        if (what == What::slow_follower && !plan.has_followers) continue;
        simulate::ScenarioConfig slow = scenario;
        // rank 0 leads its group; the next one of its node leads none
        slow.straggler = what == What::undisturbed ? -1 : what == What::slow_leader ? 0 : 1;
        all.push_back(simulation(job, plan, way, what, slow));
      }
  return by_messages(std::move(all));
}

}  // namespace sagips::study
