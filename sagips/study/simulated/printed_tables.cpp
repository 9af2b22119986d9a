#include "sagips/study/simulated/printed_tables.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/table.hpp"
#include "sagips/core/text.hpp"

namespace sagips::study {

namespace {

using analysis::SimulatedExchange;
using core::text;
using Family = SimulatedExchange::Family;
using What = Simulation::What;

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
    lines.push_back({row.exchange, row.who == What::slow_leader ? "leader" : "follower",
                     percent(row.slow), percent(row.median), percent(row.lowest)});
  return analysis::plain_table({"rates of " + straggler_conditions(rows, slowdown), "slow",
                                "its own", "others, median", "lowest"},
                               lines);
}

std::string missing_line(const SimulationOutcome& outcome, const std::string& run) {
  const std::string missing =
      text(outcome.missing, " of ", outcome.planned, " simulations are missing; the same command ");
  if (!outcome.finished) return "stopped: " + missing + "goes on";
  // what failed goes on only when it is named
  if (outcome.missing > 0) return text(missing, "with run.name=", run, " tries them again");
  return {};
}

}  // namespace sagips::study
