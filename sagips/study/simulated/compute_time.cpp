#include "sagips/study/simulated/compute_time.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/statistics.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::study {

namespace {

using analysis::mean;
using core::ConfigError;
using core::text;

constexpr double paper_low = 4, paper_high = 400;  // ranks of the paper's figs. 11 and 12
constexpr std::size_t most_times = 1000;           // they stand in every job

// What the exchanges of a run took of an epoch, on its first rank.
double exchange_of_epoch(const std::vector<record::Event>& metrics) {
  double seconds = 0;
  for (const record::Event& event : metrics)
    if (const auto* done = std::get_if<record::Exchanged>(&event); done && done->epoch > 0)
      seconds = (done->exposed_s + done->waiting_s) / static_cast<double>(done->epoch);
  return seconds;
}

// Lines of epochs are thinned: between two of them, the mean of theirs.
std::vector<double> measured_epochs(const std::string& folder) {
  const auto metrics = record::read_metrics(text(folder, "/", record::run_files::metrics.name));
  const double exchange = exchange_of_epoch(metrics);
  std::vector<double> times;
  record::EpochDone before;
  for (const record::Event& event : metrics) {
    const auto* done = std::get_if<record::EpochDone>(&event);
    if (!done || done->epoch <= before.epoch) continue;
    const double each =
        (done->time_s - before.time_s) / static_cast<double>(done->epoch - before.epoch);
    if (before.epoch > 0 && each > exchange) times.push_back(each - exchange);
    before = *done;
  }
  return times;
}

std::vector<double> thinned(const std::vector<double>& times) {
  if (times.size() <= most_times) return times;
  std::vector<double> some;
  for (std::size_t i = 0; i < most_times; ++i) some.push_back(times[i * times.size() / most_times]);
  return some;
}

// "40", "7.88"
std::string rounded(double gain) { return text(std::round(100 * gain) / 100); }

struct Ends {
  const SimulatedWay* way = nullptr;
  const simulate::ReplayResult* low = nullptr;
  const simulate::ReplayResult* high = nullptr;
};

Ends ends_of_the_ring(const std::vector<Simulation>& exchanges) {
  Ends ends;
  for (const Simulation& one : exchanges) {
    if (!calibrates(one) || !one.result) continue;
    ends.way = &one.way;
    if (!ends.low || one.result->ranks < ends.low->ranks) ends.low = &*one.result;
    if (!ends.high || one.result->ranks > ends.high->ranks) ends.high = &*one.result;
  }
  return ends;
}

}  // namespace

double straight_line(double ranks, double gain) {
  const double ideal = paper_high / paper_low;
  return 1 + (ideal / gain - 1) * (ranks - paper_low) / (paper_high - paper_low);
}

double gain_between(double low, double high, double gain) {
  return high / low * straight_line(low, gain) / straight_line(high, gain);
}

std::optional<ComputeTime> given_compute_time(const run::Job& job) {
  const SimulateConfig& config = job.of<SimulateConfig>();
  const auto seconds = [](double s) { return core::significant(1e3 * s, 4) + " ms"; };
  if (!config.compute_from.empty()) {
    if (config.scenario.compute_s > 0 || !config.scenario.sample.empty())
      throw ConfigError("simulate.compute_from",
                        "stands beside simulate.scenario.compute_s or sample (two sources of one "
                        "number). Take one of them.");
    const std::vector<double> times = thinned(measured_epochs(config.compute_from));
    if (times.empty())
      throw ConfigError(config.compute_from,
                        "holds no two epochs to take times from. Name a longer run.");
    return ComputeTime{
        mean(times), times,
        text("computation ", seconds(mean(times)), " an epoch on average, drawn from ",
             times.size(), " measured times of ", config.compute_from)};
  }
  if (!config.scenario.sample.empty()) {
    const double average = mean(config.scenario.sample);
    return ComputeTime{average, config.scenario.sample,
                       text("computation ", seconds(average),
                            " an epoch on average, drawn from simulate.scenario.sample")};
  }
  if (config.scenario.compute_s > 0)
    return ComputeTime{
        config.scenario.compute_s,
        {},
        text("computation ", seconds(config.scenario.compute_s), " an epoch, as the config says")};
  return std::nullopt;
}

ComputeTime calibrated_compute_time(const run::Job& job, const SimulatePlan& plan,
                                    const std::vector<Simulation>& exchanges) {
  const std::string remedy =
      ": only exchanges are simulated. Name simulate.scenario.compute_s for whole trainings";
  const Ends ends = ends_of_the_ring(exchanges);
  if (!ends.low || ends.low->ranks == ends.high->ranks)
    return {
        0, {}, "the ring, tensor by tensor, was not simulated at two numbers of ranks" + remedy};
  const double low = static_cast<double>(ends.low->ranks),
               high = static_cast<double>(ends.high->ranks);
  const double asked = job.of<SimulateConfig>().paper_gain, gain = gain_between(low, high, asked);
  const double ratio = high / low;
  const double mean_s =
      (gain * ends.high->exchange_s - ratio * ends.low->exchange_s) / (ratio - gain);
  if (!(mean_s > 0))
    return {0,
            {},
            text("with any computation the ring, tensor by tensor, gains more than ", rounded(gain),
                 " from ", low, " to ", high, " ranks here", remedy)};
  // what else the scenario and the platform let happen comes on top of c + t
  const bool is_all = is_a_sum(plan, *ends.way, job.of<SimulateConfig>().scenario);
  std::string origin = text("computation ", core::significant(1e3 * mean_s, 4), " ms an epoch, ",
                            is_all ? "set so that the ring, tensor by tensor, gains "
                                   : "with which the ring, tensor by tensor, would gain ",
                            rounded(gain), " of ", rounded(ratio), " from ", low, " to ", high,
                            " ranks", is_all ? "" : " by its exchange alone");
  if (low != paper_low || high != paper_high)
    origin +=
        text(" (as a straight line does that gains ", rounded(asked), " of 100 from 4 to 400)");
  return {mean_s, {}, origin};
}

}  // namespace sagips::study
