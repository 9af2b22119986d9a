#include "sagips/study/simulated/simulation_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

namespace {

using analysis::SimulatedExchange;
using core::text;
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
  StragglerRow row{
      .exchange = way.exchange, .ranks = way.ranks, .is_leader = who == What::slow_leader};
  const std::size_t slow_rank = row.is_leader ? 0 : 1;
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
std::optional<SimulatedExchange::Point> point_of(const SimulatePlan& plan, const SimulatedWay& way,
                                                 What what, const SimulationOutcome& outcome) {
  const auto* alone = what == What::training ? outcome.alone(way) : nullptr;
  const auto* training = outcome.result(way, what);
  if (!alone && !training) return std::nullopt;
  SimulatedExchange::Point point{.ranks = static_cast<double>(way.ranks),
                                 .events = plan.step.events(way.ranks)};
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

const char* who_is_slow(const StragglerRow& row) { return row.is_leader ? "leader" : "follower"; }

// Of all rows, or of an epoch of events: one step.
double cost_of_epoch(const run::Job& job, const SimulatePlan& plan, std::int64_t ranks,
                     double step_s) {
  constexpr double seconds_per_hour = 3600;
  return job.of<SimulateConfig>().price_per_hour * static_cast<double>(ranks) * step_s *
         static_cast<double>(plan.step.steps(ranks)) / seconds_per_hour;
}

constexpr std::size_t places = 110;  // of a line
constexpr const char* nothing = "-";

std::string microseconds(double seconds) {
  return seconds > 0 ? core::significant(1e6 * seconds, seconds < 1e-4 ? 3 : 4) : "0";
}

std::string printed_gain(double gain) { return gain > 0 ? core::significant(gain, 3) : nothing; }

// The first, the last, and others between them at even distances.
std::vector<std::int64_t> some_of(const std::vector<std::int64_t>& ranks, std::size_t count) {
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(ranks[count == 1 ? 0 : i * (ranks.size() - 1) / (count - 1)]);
  return some;
}

std::vector<std::string> row_at(const std::vector<std::int64_t>& ranks, const SimulatePlan& plan,
                                const SimulationOutcome& outcome, const SimulatedExchange& one,
                                const std::vector<SimulatedExchange>& exchanges) {
  SimulatedWay way{
      .exchange = one.label, .fused = one.family != Family::tensor_by_tensor, .facts = {}};
  std::vector<std::string> row{way.label()};
  for (const std::int64_t count : ranks) {
    way.ranks = count;
    const auto* alone = outcome.alone(way);
    row.push_back(alone ? microseconds(alone->exchange_s) : nothing);
  }
  if (outcome.compute.mean_s <= 0) return row;
  double late = 0;
  for (const SimulatedExchange& other : exchanges)
    if (way.fused && other.family == Family::late && other.label == one.label)
      late = gain_of(other, plan);
  row.push_back(printed_gain(gain_of(one, plan)));
  row.push_back(printed_gain(late));
  return row;
}

std::string table_at(const std::vector<std::int64_t>& ranks, const SimulatePlan& plan,
                     const SimulationOutcome& outcome,
                     const std::vector<SimulatedExchange>& exchanges) {
  std::vector<std::string> header{"exchange of an epoch [µs], ranks:"};
  for (const std::int64_t count : ranks) header.push_back(text(count));
  if (outcome.compute.mean_s > 0)
    for (const char* name : {"gain", "one update late"}) header.emplace_back(name);
  std::vector<std::vector<std::string>> rows;
  for (const SimulatedExchange& one : exchanges)
    if (one.family != Family::late) rows.push_back(row_at(ranks, plan, outcome, one, exchanges));
  return analysis::plain_table(header, rows);
}

std::size_t width_of(const std::string& table) {
  std::size_t width = 0;
  for (const std::string& line : core::split(table, '\n'))
    width = std::max(width, analysis::display_width(line));
  return width;
}

// What costs nothing here and does elsewhere.
std::string note_on_costs(const SimulatePlan& plan, const SimulationOutcome& outcome) {
  const bool memory =
      plan.platform.memory_bandwidth <= 0 &&
      std::any_of(outcome.simulations.begin(), outcome.simulations.end(),
                  [](const auto& one) { return one.result && one.way.facts.through_memory; });
  if (!memory) return {};
  if (plan.platform.gpu_copy.bandwidth > 0)
    return "memory costs nothing on this platform: set memory_bandwidth\n";
  return "memory and GPU copies cost nothing on this platform: set memory_bandwidth, gpu_copy\n";
}

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

std::vector<SimulatedExchange> simulated_exchanges(const SimulatePlan& plan,
                                                   const SimulationOutcome& outcome) {
  std::vector<SimulatedExchange> all;
  for (const What what : {What::training, What::late})
    for (const SimulatedWay& way : plan.ways) {
      const auto point = point_of(plan, way, what, outcome);
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
      "age_maximum,busiest_bytes,host_s,host_bytes,steps,epoch_cost\n";
  for (const Simulation& one : outcome.simulations) {
    if (!one.result) continue;
    const simulate::ReplayResult& result = *one.result;
    const bool trains = one.what != What::exchange, is_sum = one.computation_s > 0;
    // what was not simulated leaves its cell empty
    const auto only_if = [](bool known, auto value) {
      return known ? std::optional(value) : std::nullopt;
    };
    const bool alone = one.job.alone, centre = result.updates_per_s > 0;
    const auto epochs = static_cast<double>(job.settings.loop.epochs);
    const std::int64_t steps = plan.step.steps(one.way.ranks);
    const double cost = cost_of_epoch(job, plan, one.way.ranks, result.epoch_s);
    const double rate = trains ? plan.step.events(one.way.ranks) / result.epoch_s : 0;
    content += core::csv_line(
        word(one.what), one.way.exchange, one.way.fused, one.way.ranks, plan.nodes(one.way.ranks),
        plan.floats(), plan.step.tensors.size(), one.job.epochs,
        !trains  ? ""
        : is_sum ? "sum"
                 : "simulated",
        is_sum ? one.computation_s : one.job.scenario.compute_s, only_if(alone, result.exchange_s),
        only_if(trains, result.epoch_s), only_if(trains, result.exposed_s),
        only_if(trains, result.epoch_s * epochs * static_cast<double>(steps)),
        only_if(trains, rate), only_if(alone, result.messages), only_if(alone, result.bytes),
        only_if(alone, result.sent_messages), only_if(alone, result.sent_bytes),
        only_if(alone, result.predicted_s), only_if(alone, result.promised),
        only_if(alone, result.exact), only_if(alone, result.largest_error),
        only_if(centre, result.steps_per_s), only_if(centre, result.updates_per_s),
        only_if(centre, result.age_mean), only_if(centre, result.age_maximum),
        only_if(centre, result.busiest_bytes), result.host_s, result.host_bytes, steps,
        only_if(trains && cost > 0, cost));
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
    content += core::csv_line(way.exchange, way.fused, way.ranks, result->exchange_s,
                              result->predicted_s, ratio, std::abs(ratio - 1) > bar);
  }
  return content;
}

std::string straggler_csv(const std::vector<StragglerRow>& rows, double slowdown) {
  std::string content =
      "exchange,ranks,slowdown,slow,rate_of_slow,median_of_others,lowest_of_others\n";
  for (const StragglerRow& row : rows)
    content += core::csv_line(row.exchange, row.ranks, slowdown, who_is_slow(row), row.slow,
                              row.median, row.lowest);
  return content;
}

std::string simulation_table(const SimulatePlan& plan, const SimulationOutcome& outcome,
                             const std::vector<SimulatedExchange>& exchanges) {
  std::size_t shown = plan.ranks.size();
  std::string told = table_at(plan.ranks, plan, outcome, exchanges);
  while (shown > 2 && width_of(told) > places)
    told = table_at(some_of(plan.ranks, --shown), plan, outcome, exchanges);
  if (shown < plan.ranks.size()) told += "other numbers of ranks: in simulate.csv\n";
  for (const SimulatedExchange& one : exchanges)
    if (one.label == "none" || one.label == "ensemble") told += one.label + " sends nothing\n";
  return told + note_on_costs(plan, outcome);
}

std::string scaling_table(const run::Job& job, const SimulatePlan& plan,
                          const SimulationOutcome& outcome) {
  const bool has_price = job.of<SimulateConfig>().price_per_hour > 0;
  if (outcome.compute.mean_s <= 0 || (!has_price && !plan.step.of_rows)) return {};
  std::vector<std::string> header{"weak scaling", "ranks",      "steps",
                                  "s a step",     "s an epoch", "efficiency"};
  if (has_price) header.emplace_back("cost of an epoch");
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, double> first_s;
  for (const SimulatedWay& way : plan.ways) {
    const auto* result = outcome.result(way, What::training);
    if (!result) continue;
    const double first = first_s.try_emplace(way.label(), result->epoch_s).first->second;
    const std::int64_t steps = plan.step.steps(way.ranks);
    rows.push_back({way.label(), text(way.ranks), text(steps),
                    core::significant(result->epoch_s, 4),
                    core::significant(result->epoch_s * static_cast<double>(steps), 4),
                    text(core::significant(100 * first / result->epoch_s, 3), " %")});
    if (has_price)
      rows.back().push_back(
          core::significant(cost_of_epoch(job, plan, way.ranks, result->epoch_s), 3));
  }
  return rows.empty() ? std::string() : analysis::plain_table(header, rows);
}

std::string centre_table(const SimulationOutcome& outcome) {
  std::vector<std::vector<std::string>> rows;
  for (const Simulation& one : outcome.simulations) {
    if (!one.shows_centre()) continue;
    const simulate::ReplayResult& result = *one.result;
    rows.push_back({one.way.label(), text(one.way.ranks), core::significant(result.steps_per_s, 3),
                    core::significant(result.updates_per_s, 3),
                    core::significant(result.age_mean, 3), core::significant(result.age_maximum, 3),
                    core::significant(result.busiest_bytes / 1e6, 3)});
  }
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::pair(a[0], std::stoll(a[1])) < std::pair(b[0], std::stoll(b[1]));
  });
  return analysis::plain_table(
      {"central weights", "ranks", "steps/s of all that compute", "updates/s of an owner",
       "age of a share [updates]", "oldest", "MB an epoch, busiest rank"},
      rows);
}

std::string straggler_conditions(const std::vector<StragglerRow>& rows, double slowdown) {
  return text(rows.front().ranks, " ranks, one of them ", slowdown, " times slower");
}

std::string straggler_table(const std::vector<StragglerRow>& rows, double slowdown) {
  if (rows.empty()) return {};
  const auto percent = [](double share) { return text(std::lround(100 * share), " %"); };
  std::vector<std::vector<std::string>> lines;
  for (const StragglerRow& row : rows)
    lines.push_back({row.exchange, who_is_slow(row), percent(row.slow), percent(row.median),
                     percent(row.lowest)});
  return analysis::plain_table({"rates of " + straggler_conditions(rows, slowdown), "slow",
                                "its own", "others, median", "lowest"},
                               lines);
}

std::string missing_line(const SimulationOutcome& outcome, const std::string& run) {
  if (!outcome.finished) return stopped_line(outcome.missing, outcome.planned, "simulations");
  // what failed goes on only when it is named
  if (outcome.missing > 0)
    return text(outcome.missing, " of ", outcome.planned,
                " simulations are missing; the same command with run.name=", run,
                " tries them again\n");
  return {};
}

}  // namespace sagips::study
