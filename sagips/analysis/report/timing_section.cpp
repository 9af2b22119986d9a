#include <algorithm>

#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/analysis/statistics.hpp"
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

double mean_of(const RunContents& run, const std::string& name) {
  const Column numbers = column(run, name);
  return numbers.empty() ? 0 : mean(numbers);
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

/// Training of a mean rank: computing, and what of the exchange is not hidden behind it.
std::vector<record::NamedNumber> training_parts(const RunContents& run) {
  const double training = mean_of(run, "time_s"), exposed = mean_of(run, "exposed_s"),
               waiting = mean_of(run, "waiting_s");
  if (!(training > 0)) return {};
  return {{"computing", std::max(0.0, training - exposed - waiting)},
          {"exchange, exposed", exposed},
          {"exchange, waiting for others", waiting}};
}

std::string exchange_table(const RunContents& run) {
  if (run.exchange.size() < 2) return {};
  const Column ranks = column(run, "rank"), epochs = column(run, "epochs"),
               time = column(run, "time_s"), rate = column(run, "events_per_second"),
               messages = column(run, "messages"), bytes = column(run, "bytes"),
               exposed = column(run, "exposed_s"), waiting = column(run, "waiting_s"),
               hidden = column(run, "hidden_s"), dropped = column(run, "dropped"),
               age = column(run, "age_mean"), oldest = column(run, "age_maximum");
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
  if (count > most_ranks_shown)
    table.note +=
        core::text(" The first ", most_ranks_shown, " of ", count, " ranks; exchange.csv has all.");
  return html(table);
}

}  // namespace

Section timing_section(const RunContents& run) {
  std::string html = bars("Where the time of the whole command went", run.timing) +
                     bars("Where the training time of a mean rank went", training_parts(run)) +
                     exchange_table(run);
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
