#include "sagips/run/rank_summary.hpp"

#include <algorithm>
#include <span>
#include <type_traits>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::run {

namespace {

// The columns of exchange.csv in their order.
// use: name, member
template <class Row, class Use>
void each_column(Row& row, const Use& use) {
  auto& exchange = row.exchange;
  use("rank", row.rank);
  use("epochs", row.epochs);
  use("time_s", row.time_s);
  use("events_per_second", row.events_per_second);
  use("calls", exchange.calls);
  use("messages", exchange.messages);
  use("bytes", exchange.bytes);
  use("exposed_s", exchange.exposed_s);
  use("waiting_s", exchange.waiting_s);
  use("hidden_s", exchange.hidden_s);
  use("used", exchange.used);
  use("dropped", exchange.dropped);
  use("missing", exchange.missing);
  use("age_mean", exchange.age_mean);
  use("age_maximum", exchange.age_maximum);
}

std::vector<double> numbers_of(const RankRow& row) {
  std::vector<double> numbers;
  each_column(row, [&](const char*, auto value) { numbers.push_back(static_cast<double>(value)); });
  return numbers;
}

}  // namespace

std::vector<RankRow> gather_rows(comm::Ranks& ranks, const RankRow& own) {
  const std::vector<double> mine = numbers_of(own);
  std::vector<double> all(mine.size() * static_cast<std::size_t>(ranks.size()));
  ranks.communicator().all_gather(std::as_bytes(std::span(mine)),
                                  std::as_writable_bytes(std::span(all)));
  std::vector<RankRow> rows;
  if (!ranks.is_first()) return rows;
  for (auto number = all.begin(); number != all.end();) {
    RankRow& row = rows.emplace_back();
    row.exchange.exchange = own.exchange.exchange;
    each_column(row, [&](const char*, auto& value) {
      value = static_cast<std::remove_reference_t<decltype(value)>>(*number++);
    });
  }
  return rows;
}

void write_rank_rows(const std::string& path, const std::vector<RankRow>& rows) {
  std::vector<std::string> names;
  const RankRow any;
  each_column(any, [&](const char* name, auto) { names.push_back(name); });
  std::string content = core::join(names, ",") + "\n";
  for (const RankRow& row : rows) {
    std::vector<std::string> cells;
    for (const double number : numbers_of(row)) cells.push_back(core::round_trip(number));
    content += core::join(cells, ",") + "\n";
  }
  core::write_file(path, content);
}

double analysis_rate(const std::vector<RankRow>& rows) {
  double events = 0, time_s = 0;
  for (const RankRow& row : rows) {
    events += row.events_per_second * row.time_s;
    time_s = std::max(time_s, row.time_s);
  }
  return time_s > 0 ? events / time_s : 0;
}

namespace {

record::Exchanged sum_of(const std::vector<RankRow>& rows) {
  record::Exchanged sum;
  for (const RankRow& row : rows) {
    sum.calls += row.exchange.calls;
    sum.messages += row.exchange.messages;
    sum.bytes += row.exchange.bytes;
    sum.exposed_s += row.exchange.exposed_s;
    sum.waiting_s += row.exchange.waiting_s;
    sum.hidden_s += row.exchange.hidden_s;
    sum.used += row.exchange.used;
    sum.dropped += row.exchange.dropped;
    sum.missing += row.exchange.missing;
    sum.age_mean += row.exchange.age_mean * static_cast<double>(row.exchange.used);
    sum.age_maximum = std::max(sum.age_maximum, row.exchange.age_maximum);
  }
  if (sum.used > 0) sum.age_mean /= static_cast<double>(sum.used);
  return sum;
}

}  // namespace

std::string age_warning(const std::vector<RankRow>& rows, std::int64_t workers) {
  const double age = sum_of(rows).age_mean;
  if (rows.empty() || rows.front().exchange.exchange != "served" ||
      age <= static_cast<double>(workers))
    return "";
  return core::text(
      "gradients were ", core::significant(age, 2), " updates old in the mean, and there are ",
      workers, workers == 1 ? " worker" : " workers",
      " (owners answered late: ranks share cores, or steps are too short). The result "
      "may be worse than one rank's. Give each rank a core, or set "
      "exchanges.served.owners=master or exchanges.served.synchronous=true.");
}

std::string exchange_line(const std::vector<RankRow>& rows) {
  const record::Exchanged sum = sum_of(rows);
  const double calls = static_cast<double>(std::max<std::int64_t>(1, sum.calls));
  const auto micro = [&](double seconds) {
    return core::text(core::significant(seconds / calls * 1e6, 3), " us");
  };
  std::string line = core::text(
      "exchange ", rows.front().exchange.exchange, " over ", rows.size(),
      " ranks, a rank and update: ",
      core::significant(static_cast<double>(sum.bytes) / calls / 1e6, 3), " MB in ",
      core::significant(static_cast<double>(sum.messages) / calls, 3), " messages; exposed ",
      micro(sum.exposed_s), ", waiting ", micro(sum.waiting_s), ", hidden ", micro(sum.hidden_s));
  const std::int64_t left_out = sum.dropped + sum.missing;
  if (rows.front().exchange.exchange == "served")
    line += core::text("; ", core::with_thousands(sum.used), " shares of weights that were ",
                       core::significant(sum.age_mean, 2), " updates old (",
                       core::significant(sum.age_maximum, 3), " at most), ",
                       core::with_thousands(sum.missing),
                       " times with the next one because the owner had not answered");
  else if (sum.used + left_out > 0)
    line += core::text("; ", core::with_thousands(left_out), " of ",
                       core::with_thousands(sum.used + left_out),
                       " contributions dropped as too old or not yet there");
  return line;
}

}  // namespace sagips::run
