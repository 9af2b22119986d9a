#include "sagips/run/rank_summary.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sagips/comm/exchanges.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::run {

namespace {

using Column = std::pair<const char*, double>;

// The columns of exchange.csv in their order.
std::vector<Column> columns_of(const RankRow& row) {
  const comm::ExchangeTotals& totals = row.totals;
  const auto number = [](auto count) { return static_cast<double>(count); };
  return {{"rank", number(row.rank)},
          {"epochs", number(row.epochs)},
          {"time_s", row.time_s},
          {"events_per_second", row.events_per_second},
          {"calls", number(totals.calls)},
          {"messages", number(totals.traffic.messages)},
          {"bytes", number(totals.traffic.bytes)},
          {"exposed_s", totals.exposed_s},
          {"waiting_s", totals.waiting_s},
          {"hidden_s", totals.hidden_s},
          {"copying_s", totals.copying_s},
          {"used", number(totals.freshness.used)},
          {"dropped", number(totals.freshness.dropped)},
          {"missing", number(totals.freshness.missing)},
          {"age_mean", totals.age_mean()},
          {"age_maximum", totals.freshness.age_maximum}};
}

comm::ExchangeTotals sum_of(const std::vector<RankRow>& rows) {
  comm::ExchangeTotals sum;
  for (const RankRow& row : rows) sum += row.totals;
  return sum;
}

}  // namespace

std::vector<RankRow> gather_rows(comm::Ranks& ranks, const RankRow& own) {
  std::vector<RankRow> rows(static_cast<std::size_t>(ranks.size()));
  ranks.communicator().all_gather(std::as_bytes(std::span(&own, 1)),
                                  std::as_writable_bytes(std::span(rows)));
  if (!ranks.is_first()) rows.clear();
  return rows;
}

void write_rank_rows(const std::string& path, const std::vector<RankRow>& rows) {
  std::vector<std::string> names;
  for (const Column& column : columns_of({})) names.emplace_back(column.first);
  std::string content = core::csv_line(names);
  for (const RankRow& row : rows) {
    std::vector<double> numbers;
    for (const Column& column : columns_of(row)) numbers.push_back(column.second);
    content += core::csv_line(numbers);
  }
  core::write_file(path, content);
}

void write_machine_use(const std::string& path, const std::vector<RankRow>& rows) {
  std::string content =
      "rank,cores,memory_mb,peak_memory_mb,received_mb_per_s,sent_mb_per_s,gpu_percent,"
      "gpu_memory_mb\n";
  for (const RankRow& row : rows)
    content += core::csv_line(row.rank, row.used.cores, row.used.memory_mb, row.peak_memory_mb,
                              row.used.received_mb_per_s, row.used.sent_mb_per_s,
                              row.used.gpu_percent, row.used.gpu_memory_mb);
  core::write_file(path, content);
}

void add_time_and_memory(record::Results& results, const std::vector<RankRow>& rows) {
  record::TimeSplit mean, maximum;
  record::PeakMemory memory;
  const auto ranks = static_cast<double>(rows.size());
  const auto computing = static_cast<double>(
      std::count_if(rows.begin(), rows.end(), [](const RankRow& row) { return row.computes; }));
  for (const RankRow& row : rows) {
    memory.mean += row.peak_memory_mb / ranks;
    memory.maximum = std::max(memory.maximum, row.peak_memory_mb);
    if (!row.computes) continue;
    if (!results.steps) results.steps = row.steps;
    for (const record::TimePart& part : record::time_parts) {
      const double seconds = row.split.*part.seconds;
      mean.*part.seconds += seconds / computing;
      maximum.*part.seconds = std::max(maximum.*part.seconds, seconds);
    }
  }
  results.time_split = mean;
  results.time_split_maximum = maximum;
  results.memory_mb = memory;
}

double analysis_rate(const std::vector<RankRow>& rows) {
  double events = 0, time_s = 0;
  for (const RankRow& row : rows) {
    events += row.events_per_second * row.time_s;
    time_s = std::max(time_s, row.time_s);
  }
  return time_s > 0 ? events / time_s : 0;
}

std::string age_warning(const std::string& exchange, const std::vector<RankRow>& rows,
                        std::int64_t workers) {
  const double age = sum_of(rows).age_mean();
  if (!comm::keeps_central_weights(exchange) || age <= static_cast<double>(workers)) return "";
  return core::text(
      "gradients were ", core::significant(age, 2), " updates old in the mean, and there are ",
      workers, workers == 1 ? " worker" : " workers",
      " (owners answered late: ranks share cores, or steps are too short). The result "
      "may be worse than one rank's. Give each rank a core, or set "
      "exchanges.served.owners=master or exchanges.served.synchronous=true.");
}

std::string exchange_line(const std::string& exchange, const std::vector<RankRow>& rows) {
  const comm::ExchangeTotals sum = sum_of(rows);
  const double calls = static_cast<double>(std::max<std::uint64_t>(1, sum.calls));
  const auto micro = [&](double seconds) {
    return core::text(core::significant(seconds / calls * 1e6, 3), " us");
  };
  std::string line =
      core::text("exchange ", exchange, " over ", rows.size(), " ranks, a rank and update: ",
                 core::significant(static_cast<double>(sum.traffic.bytes) / calls / 1e6, 3),
                 " MB in ", core::significant(static_cast<double>(sum.traffic.messages) / calls, 3),
                 " messages; exposed ", micro(sum.exposed_s), ", waiting ", micro(sum.waiting_s),
                 ", hidden ", micro(sum.hidden_s));
  const comm::Freshness& fresh = sum.freshness;
  const std::uint64_t left_out = fresh.dropped + fresh.missing;
  const auto count = [](std::uint64_t number) {
    return core::with_thousands(static_cast<std::int64_t>(number));
  };
  if (comm::keeps_central_weights(exchange))
    line += core::text("; ", count(fresh.used), " shares of weights that were ",
                       core::significant(sum.age_mean(), 2), " updates old (",
                       core::significant(fresh.age_maximum, 3), " at most), ", count(fresh.missing),
                       " times with the next one because the owner had not answered");
  else if (fresh.used + left_out > 0)
    line += core::text("; ", count(left_out), " of ", count(fresh.used + left_out),
                       " contributions dropped as too old or not yet there");
  return line;
}

}  // namespace sagips::run
