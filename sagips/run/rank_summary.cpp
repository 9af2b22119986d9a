#include "sagips/run/rank_summary.hpp"

#include <algorithm>
#include <array>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/train/gather.hpp"

namespace sagips::run {

namespace {

// A row as numbers, in the order of the columns of exchange.csv.
constexpr std::array columns{"rank",      "epochs",   "time_s",     "events_per_second",
                             "calls",     "messages", "bytes",      "exposed_s",
                             "waiting_s", "hidden_s", "used",       "dropped",
                             "missing",   "age_mean", "age_maximum"};
using Numbers = std::array<double, columns.size()>;

Numbers numbers_of(const RankRow& row) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const record::Exchanged& e = row.exchange;
  return {number(row.rank),  number(row.epochs), row.time_s,      row.events_per_second,
          number(e.calls),   number(e.messages), number(e.bytes), e.exposed_s,
          e.waiting_s,       e.hidden_s,         number(e.used),  number(e.dropped),
          number(e.missing), e.age_mean,         e.age_maximum};
}

RankRow row_of(const Numbers& numbers, const std::string& exchange) {
  const auto whole = [&](std::size_t i) { return static_cast<std::int64_t>(numbers[i]); };
  RankRow row{static_cast<int>(numbers[0]), whole(1), numbers[2], numbers[3], {}};
  record::Exchanged& e = row.exchange;
  e.exchange = exchange;
  e.calls = whole(4);
  e.messages = whole(5);
  e.bytes = whole(6);
  e.exposed_s = numbers[7];
  e.waiting_s = numbers[8];
  e.hidden_s = numbers[9];
  e.used = whole(10);
  e.dropped = whole(11);
  e.missing = whole(12);
  e.age_mean = numbers[13];
  e.age_maximum = numbers[14];
  return row;
}

}  // namespace

std::vector<RankRow> gather_rows(comm::Ranks& ranks, const RankRow& own) {
  Numbers mine = numbers_of(own);
  std::vector<Numbers> all(static_cast<std::size_t>(ranks.size()));
  ranks.communicator().all_gather(std::as_bytes(std::span(mine)),
                                  std::as_writable_bytes(std::span(all)));
  std::vector<RankRow> rows;
  if (ranks.is_first())
    for (const Numbers& numbers : all) rows.push_back(row_of(numbers, own.exchange.exchange));
  return rows;
}

void write_rank_rows(const std::string& path, const std::vector<RankRow>& rows) {
  std::string content;
  for (std::size_t i = 0; i < columns.size(); ++i)
    content += core::text(i > 0 ? "," : "", columns[i]);
  content += '\n';
  for (const RankRow& row : rows) {
    const Numbers numbers = numbers_of(row);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      content += core::text(i > 0 ? "," : "", core::round_trip(numbers[i]));
    content += '\n';
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

std::string exchange_line(const std::vector<RankRow>& rows) {
  record::Exchanged sum;
  for (const RankRow& row : rows) {
    sum.calls += row.exchange.calls;
    sum.messages += row.exchange.messages;
    sum.bytes += row.exchange.bytes;
    sum.exposed_s += row.exchange.exposed_s;
    sum.waiting_s += row.exchange.waiting_s;
    sum.hidden_s += row.exchange.hidden_s;
    sum.used += row.exchange.used;
    sum.dropped += row.exchange.dropped + row.exchange.missing;
  }
  const double calls = static_cast<double>(std::max<std::int64_t>(1, sum.calls));
  const auto micro = [&](double seconds) {
    return core::text(core::significant(seconds / calls * 1e6, 3), " us");
  };
  std::string line = core::text(
      "exchange ", rows.front().exchange.exchange, " over ", rows.size(),
      " ranks, a rank and epoch: ",
      core::significant(static_cast<double>(sum.bytes) / calls / 1e6, 3), " MB in ",
      core::significant(static_cast<double>(sum.messages) / calls, 3), " messages; exposed ",
      micro(sum.exposed_s), ", waiting ", micro(sum.waiting_s), ", hidden ", micro(sum.hidden_s));
  if (sum.used + sum.dropped > 0)
    line += core::text("; ", core::with_thousands(sum.dropped), " of ",
                       core::with_thousands(sum.used + sum.dropped),
                       " contributions dropped as too old or not yet there");
  return line;
}

}  // namespace sagips::run
