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
using core::text;
using Family = SimulatedExchange::Family;
using What = Simulation::What;

constexpr double bar = 0.2;  // beyond which a prediction is flagged

std::string row_of(const std::vector<std::string>& cells) { return core::join(cells, ",") + "\n"; }

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
  const optim::BatchConfig& batch = job.settings.gan.batch;
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
      "epoch_s,"
      "exposed_s,"
      "training_s,events_per_s,messages,bytes,sent_messages,sent_bytes,predicted_s,promises_exact,"
      "exact,largest_error,host_s,host_bytes\n";
  for (const Simulation& one : outcome.simulations) {
    if (!one.result) continue;
    const simulate::ReplayResult& result = *one.result;
    const bool trains = one.what != What::exchange, alone = one.job.alone;
    const auto epochs = static_cast<double>(job.settings.loop.epochs);
    const double rate = trains ? events_of_epoch(job, one.way.ranks) / result.epoch_s : 0;
    content +=
        row_of({word(one.what),
                core::csv_cell(one.way.exchange),
                one.way.fused ? "yes" : "no",
                text(one.way.ranks),
                text(plan.nodes(one.way.ranks)),
                text(plan.floats()),
                text(plan.tensors.size()),
                text(one.job.epochs),
                !trains                 ? ""
                : one.computation_s > 0 ? "sum"
                                        : "simulated",
                round_trip(one.computation_s > 0 ? one.computation_s : one.job.scenario.compute_s),
                alone ? round_trip(result.exchange_s) : "",
                trains ? round_trip(result.epoch_s) : "",
                trains ? round_trip(result.exposed_s) : "",
                trains ? round_trip(result.epoch_s * epochs) : "",
                trains ? round_trip(rate) : "",
                alone ? round_trip(result.messages) : "",
                alone ? round_trip(result.bytes) : "",
                alone ? round_trip(result.sent_messages) : "",
                alone ? round_trip(result.sent_bytes) : "",
                alone ? round_trip(result.predicted_s) : "",
                alone ? yes_or_no(result.promised) : "",
                alone ? yes_or_no(result.exact) : "",
                alone ? round_trip(result.largest_error) : "",
                round_trip(result.host_s),
                round_trip(result.host_bytes)});
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
    content += row_of({core::csv_cell(way.exchange), way.fused ? "yes" : "no", text(way.ranks),
                       round_trip(result->exchange_s), round_trip(result->predicted_s),
                       round_trip(ratio), std::abs(ratio - 1) > bar ? "yes" : "no"});
  }
  return content;
}

std::string straggler_csv(const std::vector<StragglerRow>& rows, double slowdown) {
  std::string content =
      "exchange,ranks,slowdown,slow,rate_of_slow,median_of_others,lowest_of_others\n";
  for (const StragglerRow& row : rows)
    content += row_of({core::csv_cell(row.exchange), text(row.ranks), round_trip(slowdown),
                       row.who == What::slow_leader ? "leader" : "follower", round_trip(row.slow),
                       round_trip(row.median), round_trip(row.lowest)});
  return content;
}

}  // namespace sagips::study
