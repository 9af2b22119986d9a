#include <algorithm>

#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::report {
namespace {

constexpr std::size_t most_ranks_shown = 16;

using Column = std::vector<double>;

/// A column of exchange.csv as numbers; empty when there is none.
Column column(const RunContents& run, const std::string& name) {
  Column numbers;
  if (run.exchange.empty()) return numbers;
  const auto& header = run.exchange.front();
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return numbers;
  const auto place = static_cast<std::size_t>(found - header.begin());
  for (std::size_t row = 1; row < run.exchange.size(); ++row) {
    double number = 0;
    if (place < run.exchange[row].size()) core::parse_number(run.exchange[row][place], number);
    numbers.push_back(number);
  }
  return numbers;
}

std::string time_cell(double s) { return core::significant(s, 3) + " s"; }

/// A row a part, with a bar as long as its share.
std::string bars(const std::string& caption, const std::vector<record::NamedNumber>& parts) {
  double total = 0;
  for (const auto& part : parts) total += part.value;
  if (!(total > 0)) return {};
  std::string body;
  for (const auto& part : parts) {
    const std::string share = core::fixed(100 * part.value / total, 1);
    body +=
        element("tr", "",
                element("th", "scope=\"row\"", escape(part.name)) +
                    element("td", "", time_cell(part.value)) + element("td", "", share + " %") +
                    element("td", "class=\"bar\"", "<span style=\"width:" + share + "%\"></span>"));
  }
  return wide_table("class=\"bars\"", caption,
                    "<tr><th scope=\"col\">part</th><th scope=\"col\">time</th>"
                    "<th scope=\"col\">share</th><td></td></tr>",
                    body);
}

/// Training of a mean rank, or of rank 0 where the run has not ended.
std::vector<record::NamedNumber> training_parts(const RunContents& run) {
  std::optional<record::TimeSplit> split;
  if (const auto spent = events_of<record::TimeSpent>(run.metrics); !spent.empty())
    split = spent.back()->split;
  if (run.results && run.results->time_split) split = run.results->time_split;
  std::vector<record::NamedNumber> parts;
  if (!split) return parts;
  for (const record::TimePart& part : record::time_parts)
    if (part.seconds != &record::TimeSplit::total_s &&
        part.seconds != &record::TimeSplit::evaluation_s)
      parts.push_back({part.words, *split.*part.seconds});
  return parts;
}

/// monitor.csv, rounded.
std::string machine_table(const RunContents& run) {
  if (run.used.size() < 2) return {};
  Table table{.caption = "What each rank's process and its machine used",
              .header = {"rank", "processors", "memory [MB]", "most memory [MB]", "received [MB/s]",
                         "sent [MB/s]", "GPU [%]", "GPU memory [MB]"},
              .note =
                  "Means over the training since its last start. Network and GPUs are those of "
                  "the machine, which its ranks share."};
  for (std::size_t row = 1; row < std::min(run.used.size(), most_ranks_shown + 1); ++row) {
    std::vector<std::string> cells;
    for (const std::string& cell : run.used[row]) {
      double number = 0;
      cells.push_back(core::parse_number(cell, number) ? core::significant(number, 3) : cell);
    }
    table.rows.push_back(std::move(cells));
  }
  return html(table);
}

std::string exchange_table(const RunContents& run) {
  if (run.exchange.size() < 2) return {};
  const Column ranks = column(run, "rank"), epochs = column(run, "epochs"),
               time = column(run, "time_s"), rate = column(run, "events_per_second"),
               messages = column(run, "messages"), bytes = column(run, "bytes"),
               exposed = column(run, "exposed_s"), waiting = column(run, "waiting_s"),
               hidden = column(run, "hidden_s"), dropped = column(run, "dropped"),
               copying = column(run, "copying_s"), age = column(run, "age_mean"),
               oldest = column(run, "age_maximum");
  const std::size_t count = ranks.size();
  for (const Column* one : {&epochs, &time, &rate, &messages, &bytes, &exposed, &waiting, &hidden,
                            &dropped, &age, &oldest})
    if (one->size() != count) return paragraph("exchange.csv lacks a column.", "missing");
  Table table{
      .caption = "What the exchange cost each rank",
      .header = {"rank", "epochs", "training", run.unit() + " / s", "messages", "MB", "exposed",
                 "waiting", "hidden", "dropped", "age, mean and most"},
      .note =
          "Exposed: in the exchange's own calls. Waiting: for ranks that had not begun "
          "the same call. Hidden: under way while the rank computed. Age: of what was used, in "
          "epochs of the fastest rank; of shares for central weights (exchange served), in "
          "updates of these since the worker had them."};
  for (std::size_t i = 0; i < std::min(count, most_ranks_shown); ++i)
    table.rows.push_back({core::text(ranks[i]), core::text(epochs[i]), time_cell(time[i]),
                          core::significant(rate[i], 3), core::text(messages[i]),
                          core::significant(bytes[i] / 1e6, 3), time_cell(exposed[i]),
                          time_cell(waiting[i]), time_cell(hidden[i]), core::text(dropped[i]),
                          core::text(core::significant(age[i], 3), ", ", oldest[i])});
  // Runs of before it was measured have no such column.
  if (copying.size() == count && std::ranges::any_of(copying, [](double s) { return s > 0; })) {
    table.header.insert(table.header.end() - 2, "copying");
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      table.rows[i].insert(table.rows[i].end() - 2, time_cell(copying[i]));
    table.note += " Copying: from the GPU and back to it.";
  }
  if (count > most_ranks_shown)
    table.note +=
        core::text(" The first ", most_ranks_shown, " of ", count, " ranks; exchange.csv has all.");
  return html(table);
}

}  // namespace

Section timing_section(const RunContents& run) {
  std::string html = bars("Where the time of the whole command went", run.timing) +
                     bars("Where the training time of a mean rank went", training_parts(run)) +
                     exchange_table(run) + machine_table(run);
  if (const auto rate = number_of(run, "analysis_rate"); rate && *rate > 0)
    html += paragraph(
        run.is_learning()
            ? core::text("All ranks together learned from ", core::significant(*rate, 3), " ",
                         run.unit(), " per second of training.")
            : core::text("Analysis rate of all ranks together, eq. (9): ",
                         core::significant(*rate, 3), " synthetic events per second of training."));
  return {"timing", "Time", html};
}

}  // namespace sagips::analysis::report
