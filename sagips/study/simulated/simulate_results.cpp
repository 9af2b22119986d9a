#include "sagips/study/simulated/simulate_results.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/study/simulated/compute_time.hpp"
#include "sagips/study/simulated/run_simulations.hpp"
#include "sagips/study/study_figure.hpp"

namespace sagips::study {

namespace {

using analysis::SimulatedExchange;
using core::text;
using Family = SimulatedExchange::Family;
using What = Simulation::What;
namespace files = record::run_files;

constexpr double gain_of_grouping = 2;  // over the ring's: SAGIPS paper, Sec. VI-C1

// The paper's curves as far as it states them: from the ring's first epoch time, its gains.
std::vector<analysis::PublishedLine> published(const run::Job& job, const SimulatePlan& plan,
                                               const std::vector<SimulatedExchange>& exchanges) {
  if (plan.step.of_rows) return {};  // it trained on events
  const SimulatedExchange::Point* first = nullptr;
  for (const SimulatedExchange& one : exchanges)
    if (one.family == Family::tensor_by_tensor && one.label == "ring" &&
        one.points.front().epoch_s > 0)
      first = &one.points.front();
  if (!first) return {};
  std::vector<analysis::PublishedLine> lines;
  const double ring = job.of<SimulateConfig>().paper_gain;
  for (const auto& [name, gain] :
       {std::pair<std::string, double>{"ARAR", ring}, {"grouped", gain_of_grouping * ring}}) {
    if (gain >= 100) continue;
    analysis::PublishedLine line{
        text("paper's ", name, ": line that gains ", std::round(gain), " of 100"), {}, {}};
    for (const std::int64_t ranks : plan.ranks) {
      const auto at = static_cast<double>(ranks);
      line.ranks.push_back(at);
      line.epoch_s.push_back(first->epoch_s * straight_line(at, gain) /
                             straight_line(first->ranks, gain));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Returns the pictures' folder; empty: there are none.
std::string draw(const run::Job& job, const std::string& folder,
                 const analysis::SimulatedTraining& training,
                 const std::vector<StragglerRow>& stragglers, core::Log& log) {
  Pictures pictures(job, folder, log);
  const bool trained =
      !training.published.empty() ||
      std::any_of(training.exchanges.begin(), training.exchanges.end(),
                  [](const SimulatedExchange& one) { return one.points.front().epoch_s > 0; });
  pictures.draw(analysis::exchange_time_over_ranks(training), "exchange_over_ranks");
  pictures.draw(analysis::simulated_over_predicted(training), "cost_against_simulated");
  if (trained) {
    pictures.draw(analysis::simulated_time_over_ranks(training), "fig11_training_time");
    pictures.draw(analysis::simulated_rate_over_ranks(training), "fig12_analysis_rate");
  }
  if (!stragglers.empty())
    pictures.draw(
        analysis::straggler_rates(
            stragglers,
            text(training.conditions, "; ",
                 straggler_conditions(stragglers, job.of<SimulateConfig>().scenario.slowdown))),
        "straggler");
  return pictures.place();
}

std::string suffix_of(const SimulatedExchange& one) {
  if (one.family == Family::tensor_by_tensor) return " unfused";
  return one.family == Family::late ? " one_update_late" : "";
}

void write_numbers(const run::Job& job, const std::string& folder, const SimulationOutcome& outcome,
                   const std::vector<SimulatedExchange>& exchanges, const SimulatePlan& plan,
                   const std::vector<StragglerRow>& stragglers) {
  record::Results results;
  const bool complete = outcome.complete();
  results.workload = job.settings.workload;
  results.version = core::version();
  results.git_hash = core::git_hash();
  results.data_origin = "simulated ranks on " + job.of<SimulateConfig>().platform;
  results.complete = complete;
  results.finish_reason = text(outcome.planned - outcome.missing, " of ", outcome.planned,
                               " simulations done, on one core");
  results.seed = job.of<SimulateConfig>().scenario.seed;
  results.method = "simulate";
  for (const Simulation& one : outcome.simulations)
    if (one.result) results.time_s += one.result->host_s;
  results.numbers.push_back({"compute_s", outcome.compute.mean_s});
  for (const SimulatedExchange& one : exchanges) {
    const std::string name = one.label + suffix_of(one);
    for (const SimulatedExchange::Point& point : one.points) {
      const std::string at = text(" ", name, " ", point.ranks);
      if (point.exchange_s > 0) results.numbers.push_back({"exchange_s" + at, point.exchange_s});
      if (point.epoch_s > 0) results.numbers.push_back({"epoch_s" + at, point.epoch_s});
    }
    if (const double gain = gain_of(one, plan); gain > 0)
      results.numbers.push_back({"gain " + name, gain});
  }
  for (const Simulation& one : outcome.simulations)
    if (one.shows_centre())
      results.numbers.push_back(
          {text("updates_per_s ", one.way.label(), " ", one.way.ranks), one.result->updates_per_s});
  for (const StragglerRow& row : stragglers)
    results.numbers.push_back(
        {text(row.is_leader ? "slow_leader " : "slow_follower ", row.exchange, " others"),
         row.median});
  record::write_results_json(text(folder, "/", files::results.name), results);
}

}  // namespace

void write_simulation(const run::Job& job, const std::string& folder, const SimulatePlan& plan,
                      SimulateEnd& end, core::Log& log) {
  const SimulationOutcome& outcome = end.outcome;
  const std::vector<SimulatedExchange> exchanges = simulated_exchanges(plan, outcome);
  if (exchanges.empty()) return;
  const std::vector<StragglerRow> stragglers = straggler_rows(plan, outcome);
  const double slowdown = job.of<SimulateConfig>().scenario.slowdown;
  const auto path = [&](const record::RunFile& file) { return text(folder, "/", file.name); };
  core::write_file(path(files::simulated), simulations_csv(job, plan, outcome));
  core::write_file(path(files::cost), cost_csv(plan, outcome));
  if (!stragglers.empty())
    core::write_file(path(files::straggler), straggler_csv(stragglers, slowdown));
  std::string told = text(job.of<SimulateConfig>().platform, ", ", plan.floats(), " floats in ",
                          plan.step.tensors.size(), " tensors; ", outcome.compute.origin, "\n\n",
                          simulation_table(plan, outcome, exchanges));
  for (const std::string& more : {scaling_table(job, plan, outcome), centre_table(outcome)})
    if (!more.empty()) told += "\n" + more;
  if (!stragglers.empty()) told += "\n" + straggler_table(stragglers, slowdown);
  const std::string missing =
      missing_line(outcome, std::filesystem::path(folder).filename().string());
  core::write_file(path(files::tables), missing.empty() ? told : text(told, "\n", missing));
  write_numbers(job, folder, outcome, exchanges, plan, stragglers);
  const analysis::SimulatedTraining training{
      .exchanges = exchanges,
      .published = published(job, plan, exchanges),
      .epochs = static_cast<double>(job.settings.loop.epochs),
      .ranks_per_node = plan.platform.ranks_per_node,
      .conditions = text(job.of<SimulateConfig>().platform, "; ", outcome.compute.origin)};
  end.figures = draw(job, folder, training, stragglers, log);
  // a figure costs only itself, and half a one may look like a whole one: a full disk is told here
  if (job.settings.run.figures) require_room(folder);
  end.tables = text("\n", told, "\n");
}

}  // namespace sagips::study
