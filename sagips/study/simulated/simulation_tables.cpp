#include "sagips/study/simulated/simulation_tables.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::study {

namespace {

using analysis::SimulatedExchange;
using core::round_trip;
using Family = SimulatedExchange::Family;
using What = Simulation::What;

constexpr double bar = 0.2;  // beyond which a prediction is flagged

double median_of(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(numbers.begin(), middle)) / 2;
}

// Each rank's rate relative to its undisturbed one.
std::optional<StragglerRow> straggler_row(const SimulatedWay& way, What who,
                                          const SimulationOutcome& outcome) {
  const auto* before = outcome.result(way, What::undisturbed);
  const auto* now = outcome.result(way, who);
  if (!before || !now || before->epochs_per_s.size() != now->epochs_per_s.size())
    return std::nullopt;
  const std::size_t slow_rank = who == What::slow_leader ? 0 : 1;
  StragglerRow row{.exchange = way.exchange, .ranks = way.ranks, .who = who};
  std::vector<double> others;
  for (std::size_t rank = 0; rank < now->epochs_per_s.size(); ++rank) {
    const double rate = now->epochs_per_s[rank] / before->epochs_per_s[rank];
    if (rank == slow_rank)
      row.slow = rate;
    else
      others.push_back(rate);
  }
  if (others.empty()) return std::nullopt;
  row.lowest = *std::min_element(others.begin(), others.end());
  row.median = median_of(std::move(others));
  return row;
}

// Nothing: it was not simulated.
std::optional<SimulatedExchange::Point> point_of(const run::Job& job, const SimulatedWay& way,
                                                 What what, const SimulationOutcome& outcome) {
  const auto* alone = what == What::training ? outcome.alone(way) : nullptr;
  const auto* training = outcome.result(way, what);
  if (!alone && !training) return std::nullopt;
  SimulatedExchange::Point point{.ranks = static_cast<double>(way.ranks),
                                 .events = events_of_epoch(job, way.ranks)};
  if (alone) {
    point.exchange_s = alone->exchange_s;
    point.predicted_s = alone->predicted_s;
  }
  if (training) point.epoch_s = training->epoch_s;
  return point;
}

Family family_of(const SimulatedWay& way, What what) {
  if (what == What::late) return Family::late;
  if (!way.fused) return Family::tensor_by_tensor;
  return way.facts.exact ? Family::exact : Family::loose;
}

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

}  // namespace

const simulate::ReplayResult* SimulationOutcome::result(const SimulatedWay& way, What what) const {
  for (const Simulation& one : simulations)
    if (one.what == what && one.result && one.way.exchange == way.exchange &&
        one.way.fused == way.fused && one.way.ranks == way.ranks)
      return &*one.result;
  return nullptr;
}

const simulate::ReplayResult* SimulationOutcome::alone(const SimulatedWay& way) const {
  const simulate::ReplayResult* found = result(way, What::training);
  return found ? found : result(way, What::exchange);
}

bool SimulationOutcome::complete() const {
  return finished && missing == 0 &&
         std::all_of(simulations.begin(), simulations.end(),
                     [](const Simulation& one) { return one.failure.empty(); });
}

std::vector<StragglerRow> straggler_rows(const SimulatePlan& plan,
                                         const SimulationOutcome& outcome) {
  std::vector<StragglerRow> rows;
  for (const SimulatedWay& way : plan.with_stragglers)
    for (const What who : {What::slow_leader, What::slow_follower})
      if (const auto row = straggler_row(way, who, outcome)) rows.push_back(*row);
  return rows;
}

double events_of_epoch(const run::Job& job, std::int64_t ranks) {
  const optim::BatchConfig& batch = job.inverse().gan.batch;
  return static_cast<double>(ranks * batch.samples_of_rank({0, ranks}) * batch.events);
}

std::vector<SimulatedExchange> simulated_exchanges(const run::Job& job, const SimulatePlan& plan,
                                                   const SimulationOutcome& outcome) {
  std::vector<SimulatedExchange> all;
  for (const What what : {What::training, What::late})
    for (const SimulatedWay& way : plan.ways) {
      const auto point = point_of(job, way, what, outcome);
      if (!point) continue;
      const Family family = family_of(way, what);
      if (all.empty() || all.back().label != way.exchange || all.back().family != family)
        all.push_back({.label = way.exchange, .family = family, .points = {}});
      all.back().points.push_back(*point);
    }
  return all;
}

double gain_of(const SimulatedExchange& exchange, const SimulatePlan& plan) {
  const auto& first = exchange.points.front();
  const auto& last = exchange.points.back();
  if (first.ranks == last.ranks || first.epoch_s <= 0 || last.epoch_s <= 0) return 0;
  // gains over other ranges of ranks do not compare
  if (first.ranks != static_cast<double>(plan.ranks.front()) ||
      last.ranks != static_cast<double>(plan.ranks.back()))
    return 0;
  return last.events / last.epoch_s / (first.events / first.epoch_s);
}

std::string simulations_csv(const run::Job& job, const SimulatePlan& plan,
                            const SimulationOutcome& outcome) {
  std::string content =
      "simulation,exchange,fused,ranks,nodes,floats,tensors,epochs,epoch,compute_s,exchange_s,"
      "epoch_s,exposed_s,training_s,events_per_s,messages,bytes,sent_messages,sent_bytes,"
      "predicted_s,promises_exact,exact,largest_error,steps_per_s,updates_per_s,age_mean,"
      "age_maximum,busiest_bytes,host_s,host_bytes\n";
  for (const Simulation& one : outcome.simulations) {
    if (!one.result) continue;
    const simulate::ReplayResult& result = *one.result;
    const bool trains = one.what != What::exchange, is_sum = one.computation_s > 0;
    const auto of_training = [&](double number) { return trains ? round_trip(number) : ""; };
    const auto of_exchange = [&](double number) { return one.job.alone ? round_trip(number) : ""; };
    const auto of_centre = [&](double number) {
      return result.updates_per_s > 0 ? round_trip(number) : "";
    };
    const auto said = [&](bool value) { return one.job.alone ? yes_or_no(value) : ""; };
    const auto epochs = static_cast<double>(job.settings.loop.epochs);
    const double rate = trains ? events_of_epoch(job, one.way.ranks) / result.epoch_s : 0;
    content += core::csv_line(
        word(one.what), one.way.exchange, yes_or_no(one.way.fused), one.way.ranks,
        plan.nodes(one.way.ranks), plan.floats(), plan.tensors.size(), one.job.epochs,
        !trains  ? ""
        : is_sum ? "sum"
                 : "simulated",
        is_sum ? one.computation_s : one.job.scenario.compute_s, of_exchange(result.exchange_s),
        of_training(result.epoch_s), of_training(result.exposed_s),
        of_training(result.epoch_s * epochs), of_training(rate), of_exchange(result.messages),
        of_exchange(result.bytes), of_exchange(result.sent_messages),
        of_exchange(result.sent_bytes), of_exchange(result.predicted_s), said(result.promised),
        said(result.exact), of_exchange(result.largest_error), of_centre(result.steps_per_s),
        of_centre(result.updates_per_s), of_centre(result.age_mean), of_centre(result.age_maximum),
        of_centre(result.busiest_bytes), result.host_s, result.host_bytes);
  }
  return content;
}

std::string cost_csv(const SimulatePlan& plan, const SimulationOutcome& outcome) {
  std::string content =
      "exchange,fused,ranks,simulated_s,predicted_s,simulated_over_predicted,beyond_20_percent\n";
  for (const SimulatedWay& way : plan.ways) {
    const auto* result = outcome.alone(way);
    if (!result || result->predicted_s <= 0) continue;
    const double ratio = result->exchange_s / result->predicted_s;
    content += core::csv_line(way.exchange, yes_or_no(way.fused), way.ranks, result->exchange_s,
                              result->predicted_s, ratio, yes_or_no(std::abs(ratio - 1) > bar));
  }
  return content;
}

std::string straggler_csv(const std::vector<StragglerRow>& rows, double slowdown) {
  std::string content =
      "exchange,ranks,slowdown,slow,rate_of_slow,median_of_others,lowest_of_others\n";
  for (const StragglerRow& row : rows)
    content += core::csv_line(row.exchange, row.ranks, slowdown,
                              row.who == What::slow_leader ? "leader" : "follower", row.slow,
                              row.median, row.lowest);
  return content;
}

}  // namespace sagips::study
