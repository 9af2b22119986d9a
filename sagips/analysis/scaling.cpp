#include "sagips/analysis/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using core::significant;
using core::text;
using Number = std::optional<double>;

/// Every column of scaling.csv, in their order.
void each_column(auto& row, const auto& use) {
  use("study", row.study);
  use("variant", row.variant);
  use("series", row.series);
  use("simulated", row.simulated);
  use("ranks", row.ranks);
  use("batch_of_rank", row.batch);
  use("rates", row.rates);
  use("members", row.members);
  use("time_s", row.time_s);
  use("time_s_deviation", row.time_s_deviation);
  use("events_per_second", row.events_per_second);
  use("events_per_second_deviation", row.events_per_second_deviation);
  use("epoch_s", row.epoch_s);
  use("epoch_s_deviation", row.epoch_s_deviation);
  use("first_epoch_s", row.first_epoch_s);
  use("rows_per_epoch", row.rows);
  use("rows_per_second", row.rows_per_second);
  use("speed_up", row.speed_up);
  use("speed_up_deviation", row.speed_up_deviation);
  use("efficiency", row.efficiency);
  use("step_s", row.step_s);
  use("step_s_spread", row.step_s_spread);
  use("step_s_maximum", row.step_s_maximum);
  for (std::size_t i = 0; i < time_part_names.size(); ++i) {
    Number part = row.parts_s ? Number((*row.parts_s)[i]) : std::nullopt;
    use(text(time_part_names[i], "_s"), part);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(row)>>)
      if (part) {
        if (!row.parts_s) row.parts_s.emplace();
        (*row.parts_s)[i] = *part;
      }
  }
  use("memory_MB", row.memory_MB);
  use("memory_MB_maximum", row.memory_MB_maximum);
  use("messages_per_epoch", row.messages);
  use("MB_per_epoch", row.megabytes);
  use("metric", row.metric);
  use("metric_deviation", row.metric_deviation);
  use("target_s", row.target_s);
  use("target_epochs", row.target_epochs);
  use("at_target", row.at_target);
  use("distance", row.distance);
  use("spread", row.spread);
  use("cost", row.cost);
  use("energy_Wh", row.energy_Wh);
}

const ScalingRow* one_rank_of(const std::vector<ScalingRow>& rows, const std::string& study) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ScalingRow& row) {
    return row.is_one_rank() && row.study == study;
  });
  return found == rows.end() ? nullptr : &*found;
}

double total(const TimeParts& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

/// Rank-seconds that an event takes in each part.
TimeParts of_event(const ScalingRow& row, const TimeParts& parts) {
  TimeParts each = parts;
  for (double& part : each) part *= static_cast<double>(row.ranks) / *row.rows;
  return each;
}

std::string number(const Number& value, int digits = 3) {
  return value ? significant(*value, digits) : "";
}

std::string with_deviation(const Number& value, const Number& deviation) {
  if (!value) return "";
  return deviation ? text(significant(*value, 3), " ± ", significant(*deviation, 2))
                   : significant(*value, 3);
}

std::string in_percent(double share) { return core::fixed(100 * share, 0); }

std::string name_of(const ScalingRow& row) {
  return text(row.study.empty() ? "" : row.study + ": ", row.variant,
              row.simulated ? " (simulated)" : "");
}

using Table = std::vector<std::vector<std::string>>;

/// Rows that fill the table, without columns that nobody fills.
std::string told(std::vector<std::string> header, Table table) {
  for (std::size_t column = header.size(); column-- > 1;) {
    const bool is_empty = std::all_of(table.begin(), table.end(),
                                      [&](const auto& row) { return row[column].empty(); });
    if (!is_empty) continue;
    const auto place = static_cast<std::ptrdiff_t>(column);
    header.erase(header.begin() + place);
    for (auto& row : table) row.erase(row.begin() + place);
  }
  return header.size() < 2 || table.empty() ? std::string() : plain_table(header, table);
}

std::string speed_table(const std::vector<ScalingRow>& rows, const std::string& unit) {
  Table table;
  for (const ScalingRow& row : rows)
    if (!row.series.empty())
      table.push_back(
          {name_of(row), row.batch > 0 ? text(row.batch) : "",
           with_deviation(row.epoch_s, row.epoch_s_deviation), number(row.first_epoch_s),
           number(row.rows_per_second), with_deviation(row.speed_up, row.speed_up_deviation),
           row.speed_up ? text(row.ranks) : "", row.efficiency ? in_percent(*row.efficiency) : "",
           number(row.messages), number(row.megabytes)});
  return told({"", "batch", "epoch [s]", "first [s]", unit + "/s", "speed-up", "ideal",
               "efficiency [%]", "messages", "MB an epoch"},
              table);
}

std::string step_table(const std::vector<ScalingRow>& rows) {
  const auto milliseconds = [](const Number& seconds) {
    return seconds ? significant(1e3 * *seconds, 3) : "";
  };
  Table table;
  for (const ScalingRow& row : rows) {
    if (row.series.empty() || row.simulated) continue;
    table.push_back({name_of(row), row.step_s ? significant(1 / *row.step_s, 3) : "",
                     milliseconds(row.step_s), milliseconds(row.step_s_spread),
                     milliseconds(row.step_s_maximum), number(row.memory_MB),
                     number(row.memory_MB_maximum)});
  }
  return told({"", "steps/s", "step [ms]", "spread", "longest", "memory [MB]", "of the largest"},
              table);
}

std::string split_table(const std::vector<ScalingRow>& rows) {
  std::vector<std::string> header{"share of an epoch [%]"};
  for (const char* name : time_part_names) header.emplace_back(name);
  Table table;
  for (const ScalingRow& row : rows) {
    if (row.series.empty() || !row.parts_s || !(total(*row.parts_s) > 0)) continue;
    table.push_back({name_of(row)});
    for (const double part : *row.parts_s)
      table.back().push_back(core::fixed(100 * part / total(*row.parts_s), 1));
  }
  return table.empty() ? std::string() : plain_table(header, table);
}

// Whether another study had this target is not known.
std::string at_target(const ScalingRow& row) {
  return row.target_s || (row.members > 0 && row.study.empty())
             ? text(row.target_s ? significant(*row.target_s, 3) + " " : "", "(", row.at_target,
                    " of ", row.members, ")")
             : "";
}

std::string accuracy_table(const std::vector<ScalingRow>& rows, const ScalingWords& words,
                           bool of_batches) {
  Table table;
  for (const ScalingRow& row : rows) {
    if (row.series.empty() != of_batches && !(of_batches && row.is_one_rank())) continue;
    if (row.simulated || (of_batches && !row.study.empty())) continue;
    table.push_back({name_of(row), of_batches ? number(row.epoch_s) : "",
                     of_batches ? number(row.speed_up) : "",
                     with_deviation(row.metric, row.metric_deviation),
                     words.target ? at_target(row) : "", number(row.cost), number(row.energy_Wh)});
  }
  if (of_batches && table.size() < 2) return {};
  return told({of_batches ? "batches of one rank" : "", "epoch [s]", "times as fast", words.metric,
               words.target ? text("s to ", *words.target) : "", "cost", "energy [Wh]"},
              table);
}

/// The way that comes to the target first, of those all of whose trainings do.
std::string best_text(const std::vector<ScalingRow>& rows, const ScalingWords& words) {
  if (!words.target) return {};
  const ScalingRow* best = nullptr;
  for (const ScalingRow& row : rows)
    if (row.target_s && row.at_target == row.members && (!best || *row.target_s < *best->target_s))
      best = &row;
  const std::string goal = text(words.metric, " ", *words.target);
  return best ? text("first at ", goal, ": ", name_of(*best), ", after ",
                     significant(*best->target_s, 3), " s\n")
              : text("none comes to ", goal, " with all its trainings\n");
}

/// "31 exchange, 9 idle, 3 loading", largest first.
std::string parts_text(const TimeParts& shares) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(shares[a]) > std::abs(shares[b]);
  });
  std::vector<std::string> words;
  for (const std::size_t i : order)
    if (std::abs(shares[i]) >= 0.005)
      words.push_back(text(in_percent(shares[i]), " ", time_part_names[i]));
  return words.empty() ? "nothing above 0.5" : core::join(words, ", ");
}

/// Of each series and study, measured before simulated, the row with most ranks.
std::vector<const ScalingRow*> largest_rows(const std::vector<ScalingRow>& rows) {
  std::vector<const ScalingRow*> largest;
  for (const ScalingRow& row : rows) {
    if (row.series.empty() || row.ranks == 1 || !row.efficiency) continue;
    const auto same = std::find_if(largest.begin(), largest.end(), [&](const ScalingRow* other) {
      return other->study == row.study && other->series == row.series &&
             other->simulated == row.simulated;
    });
    if (same == largest.end())
      largest.push_back(&row);
    else if (row.ranks > (*same)->ranks)
      *same = &row;
  }
  return largest;
}

/// By how much and in which parts this study's row scales better than another's, or the other way round.
std::string apart_text(const ScalingRow& row, const ScalingRow& other,
                       const std::vector<ScalingRow>& rows) {
  const auto here = lost_parts(row, rows), there = lost_parts(other, rows);
  if (!here || !there) return {};
  const bool is_better = *row.efficiency >= *other.efficiency;
  TimeParts apart{};
  for (std::size_t i = 0; i < apart.size(); ++i)
    apart[i] = is_better ? (*there)[i] - (*here)[i] : (*here)[i] - (*there)[i];
  const std::string in_other = "in " + other.study;
  return text("at ", row.ranks, " ranks, ", row.series, " scales better ",
              is_better ? "here" : in_other, " than ", is_better ? in_other : "here", ", by ",
              in_percent(std::abs(*row.efficiency - *other.efficiency)),
              " points: ", parts_text(apart), "\n");
}

std::string one_below_the_other(const std::vector<std::string>& tables) {
  std::string all;
  for (const std::string& table : tables)
    if (!table.empty()) all += (all.empty() ? "" : "\n") + table;
  return all;
}

}  // namespace

void compare_with_one_rank(std::vector<ScalingRow>& rows, double compute_s) {
  for (ScalingRow& row : rows)
    if (row.epoch_s && row.rows && *row.epoch_s > 0) row.rows_per_second = *row.rows / *row.epoch_s;
  const ScalingRow* one = one_rank_of(rows, "");
  if (one == nullptr || !one->rows_per_second) return;
  const auto relative = [](const ScalingRow& row) {
    return row.epoch_s_deviation ? *row.epoch_s_deviation / *row.epoch_s : 0;
  };
  const double spread = relative(*one), rate = *one->rows_per_second,
               simulated_rate = compute_s > 0 ? *one->rows / compute_s : rate;
  const bool has_spread = one->epoch_s_deviation.has_value();
  for (ScalingRow& row : rows) {
    if (!row.study.empty() || !row.rows_per_second) continue;
    row.speed_up = *row.rows_per_second / (row.simulated ? simulated_rate : rate);
    row.efficiency = *row.speed_up / static_cast<double>(row.ranks);
    if (has_spread && row.epoch_s_deviation && !row.is_one_rank())
      row.speed_up_deviation = *row.speed_up * std::hypot(spread, relative(row));
  }
}

std::optional<TimeParts> lost_parts(const ScalingRow& row, const std::vector<ScalingRow>& rows) {
  const ScalingRow* one = one_rank_of(rows, row.study);
  if (one == nullptr || !one->parts_s || !row.parts_s || !one->rows || !row.rows || !row.efficiency)
    return std::nullopt;
  TimeParts before = of_event(*one, *one->parts_s);
  const TimeParts now = of_event(row, *row.parts_s);
  // simulated ranks take for computing all that one rank takes
  if (row.simulated) before = {*row.efficiency * total(now)};
  TimeParts lost{};
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i] = (now[i] - before[i]) / total(now);
  return lost;
}

std::string losses_text(const std::vector<ScalingRow>& rows) {
  std::string lines;
  for (const ScalingRow* row : largest_rows(rows)) {
    const auto lost = lost_parts(*row, rows);
    lines += text(name_of(*row), ": speed-up ", significant(*row->speed_up, 3), " of ", row->ranks);
    const double share = 1 - *row->efficiency;
    if (lost && share > 0)
      lines += text("; of the ", in_percent(share), " % lost: ", parts_text(*lost));
    else if (lost)
      lines += text("; ", in_percent(-share), " % above ideal: ", parts_text(*lost));
    lines += "\n";
  }
  for (const ScalingRow& row : rows)
    for (const ScalingRow& other : rows)
      if (row.study.empty() && !other.study.empty() && !row.simulated && !other.simulated &&
          row.ranks > 1 && row.ranks == other.ranks && row.series == other.series)
        lines += apart_text(row, other, rows);
  return lines.empty() ? lines
                       : lines +
                             "lost: rank-seconds an event takes more than on one rank, by "
                             "part; negative: less\n";
}

std::string speed_tables(const std::vector<ScalingRow>& rows, const std::string& unit) {
  return one_below_the_other(
      {speed_table(rows, unit), step_table(rows), split_table(rows), losses_text(rows)});
}

std::string scaling_tables(const std::vector<ScalingRow>& rows, const ScalingWords& words) {
  return one_below_the_other({accuracy_table(rows, words, false), accuracy_table(rows, words, true),
                              best_text(rows, words), speed_tables(rows, words.unit)});
}

void write_scaling_rows(const std::string& path, const std::vector<ScalingRow>& rows) {
  std::vector<std::string> names;
  each_column(std::as_const(rows.front()),
              [&](const std::string& name, const auto&) { names.push_back(name); });
  std::string content = core::csv_line(names);
  for (const ScalingRow& row : rows) {
    std::vector<std::string> cells;
    each_column(row, [&](const std::string&, const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
        cells.push_back(value);
      else
        cells.push_back(core::csv_cell(value));
    });
    content += core::csv_line(cells);
  }
  core::write_file(path, content);
}

std::vector<ScalingRow> read_scaling_rows(const std::string& path) {
  const auto table = core::read_csv_rows(path);
  const auto refuse = [&](const std::string& problem) {
    throw core::DataError(path, problem + ". Name the folder of a study by `sagips scaling`.");
  };
  if (table.empty()) refuse("is empty");
  std::vector<ScalingRow> rows(table.size() - 1);
  for (std::size_t r = 0; r < rows.size(); ++r)
    each_column(rows[r], [&](const std::string& name, auto& value) {
      const auto found = std::find(table[0].begin(), table[0].end(), name);
      const auto column = static_cast<std::size_t>(found - table[0].begin());
      if (column >= table[r + 1].size()) refuse(text("has no column ", name));
      const std::string& cell = table[r + 1][column];
      using Value = std::decay_t<decltype(value)>;
      double number = 0;
      const bool is_number = core::parse_number(cell, number);
      if constexpr (std::is_same_v<Value, std::string>)
        value = cell;
      else if constexpr (std::is_same_v<Value, bool>)
        value = cell == "yes";
      else if (is_number)
        value = static_cast<
            std::conditional_t<std::is_same_v<Value, std::int64_t>, std::int64_t, double>>(number);
    });
  return rows;
}

namespace {

struct PublishedSet {
  const char* name;
  std::vector<PublishedScaling> curves;
};

/// source: `horovod`: README of github.com/horovod/horovod (512 Pascal GPUs, 25 Gbit/s RoCE);
/// `calorimeter`: github.com/recardoso/ISC_HPC_3DGAN, V100 GPUs with prefetch, first epoch left out;
/// `taurus`: J. Orlob, TU Dresden (2021), stress-strain curves with Horovod and NCCL, of whose speed-up the slope
/// is stated, from one GPU to two nodes
const std::vector<PublishedSet>& published_sets() {
  static const std::vector<PublishedSet> sets{
      {"horovod",
       {{"Horovod, Inception V3 and ResNet-101", {512}, {0.90}},
        {"Horovod, VGG-16", {512}, {0.68}}}},
      {"calorimeter",
       {{"calorimeter GAN, V100, against 2",
         {2, 4, 8, 16, 32, 64, 128},
         {1, 0.991, 0.977, 0.971, 0.970, 0.940, 0.799}}}},
      {"taurus",
       {{"Taurus GPU2, slope", {2, 4, 8}, {0.74, 0.74, 0.74}},
        {"Taurus HPDLF, slope", {2, 4, 6}, {0.57, 0.57, 0.57}},
        {"Taurus Alpha, slope", {2, 4, 8}, {0.53, 0.53, 0.53}}}}};
  return sets;
}

}  // namespace

std::vector<std::string> known_published() {
  std::vector<std::string> names;
  for (const PublishedSet& set : published_sets()) names.emplace_back(set.name);
  return names;
}

std::vector<PublishedScaling> published_scaling(const std::string& name_or_file) {
  for (const PublishedSet& set : published_sets())
    if (name_or_file == set.name) return set.curves;
  if (!name_or_file.ends_with(".csv"))
    throw core::ConfigError("scaling.published",
                            text("'", name_or_file, "' is no .csv file",
                                 core::suggestion(name_or_file, known_published()), "."));
  std::vector<PublishedScaling> curves;
  core::for_each_csv_row(name_or_file, [&](const auto& cells, std::size_t line) {
    double ranks = 0, efficiency = 0;
    if (line == 1) return;
    if (cells.size() != 3 || !core::parse_number(cells[1], ranks) ||
        !core::parse_number(cells[2], efficiency) || ranks < 1 || efficiency <= 0)
      throw core::DataError(text(name_or_file, ":", line),
                            "is no row of label, ranks and efficiency (a share, 0.9). Mend it.");
    if (curves.empty() || curves.back().label != cells[0]) curves.push_back({cells[0], {}, {}});
    curves.back().ranks.push_back(ranks);
    curves.back().efficiency.push_back(efficiency);
  });
  return curves;
}

}  // namespace sagips::analysis
