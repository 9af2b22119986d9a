#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/csv.hpp"
#include "sagips/data/cuts.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/data/growing_rows.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/table.hpp"

namespace sagips::data {
namespace {

using core::ConfigError;
using core::DataError;
using core::text;
using Names = std::vector<std::string>;

NeededColumn observable(const std::string& name) { return {name, "columns"}; }
NeededColumn weight(const DatasetConfig& config) { return {config.weight_column, "weight_column"}; }

// Rows that are read at once: enough that opening the file again costs nothing, and few beside the
// memory that a program with LibTorch takes.
constexpr std::size_t rows_at_once = std::size_t{1} << 19;

/// Columns of the table that become observables, and what the data set calls them.
struct Observables {
  Names columns;
  Names labels;
};

std::vector<NeededColumn> needed_columns(const DatasetConfig& config, const Names& observables,
                                         const std::vector<Cut>& cuts) {
  std::vector<NeededColumn> needed;
  for (const std::string& name : observables) needed.push_back(observable(name));
  for (const Cut& cut : cuts) needed.push_back(cut.column());
  if (!config.weight_column.empty()) needed.push_back(weight(config));
  return needed;
}

bool is_column_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

Table read_hdf5(const DatasetConfig& config, const std::vector<Cut>& cuts) {
  if (std::all_of(config.columns.begin(), config.columns.end(), is_column_number))
    return read_hdf5_array(config.file, config.hdf5_dataset, config.rows);
  return read_hdf5_columns(config.file, config.hdf5_dataset,
                           needed_columns(config, config.columns, cuts), config.rows);
}

Table read_table(const DatasetConfig& config, const Names& default_columns,
                 const std::vector<Cut>& cuts) {
  const std::string extension =
      core::in_small_letters(std::filesystem::path(config.file).extension().string());
  if (extension == ".csv" && config.rows.count > 1)
    throw ConfigError("ranks.data", text("'", config.file,
                                         "' is text, of which ranks cannot read "
                                         "shares. Save it as .npy or HDF5, or use distributed."));
  if (extension == ".csv") {
    const Names& columns = config.columns.empty() ? default_columns : config.columns;
    if (columns.empty())
      throw ConfigError("", text("no column of '", config.file, "' is chosen. Set 'columns'."));
    return read_csv(config.file, needed_columns(config, columns, cuts));
  }
  const bool is_array = extension == ".npy";
  // what is no file, such as a pipe, cannot be opened twice
  if (is_array && config.rows.count == 1 && !std::filesystem::is_regular_file(config.file))
    return table_of(core::read_npy(config.file), config.file);
  if (!is_array && extension != ".hdf5" && extension != ".h5")
    throw DataError(config.file, text("has the unknown extension '", extension,
                                      "'. Give a .npy, .csv, .hdf5 or .h5 file."));
  Table table = is_array ? table_of(core::read_npy(config.file, config.rows), config.file)
                         : read_hdf5(config, cuts);
  table.is_last = table.events() < config.rows.most;
  return table;
}

// Numbered columns say nothing to a reader: the workload's own names label them when they fit.
Observables observables_of(const DatasetConfig& config, const Names& default_columns,
                           const Table& table) {
  Names columns = config.columns;
  if (columns.empty() && !table.numbered) columns = default_columns;
  if (columns.empty())
    std::copy_if(table.names.begin(), table.names.end(), std::back_inserter(columns),
                 [&](const std::string& name) { return name != config.weight_column; });
  const bool labels_fit = table.numbered && columns.size() == default_columns.size();
  return {columns, labels_fit ? default_columns : columns};
}

void widen(std::vector<std::pair<double, double>>& ranges, const Table& table,
           const Names& columns) {
  ranges.resize(columns.size(), {HUGE_VAL, -HUGE_VAL});
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (const double number : table.columns[find_column(table, observable(columns[i]))])
      ranges[i] = {std::min(ranges[i].first, number), std::max(ranges[i].second, number)};
}

float single_precision(double number, const Table& table, std::size_t event,
                       const std::string& column) {
  if (std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max()))
    return static_cast<float>(number);
  throw DataError(table.file, table.rows[event],
                  text("column '", column, "' holds ", core::round_trip(number),
                       ", too large for single precision. Save it in a larger unit."));
}

// scatters: of the columns, which grow
torch::Tensor values_of(const Table& table, const Names& columns,
                        const std::vector<std::size_t>& events, std::vector<Scatter>& scatters) {
  const auto rows = static_cast<std::int64_t>(events.size());
  const auto width = static_cast<std::int64_t>(columns.size());
  torch::Tensor values = torch::empty({rows, width});
  float* place = values.data_ptr<float>();
  std::vector<const std::vector<double>*> sources;
  for (const std::string& name : columns)
    sources.push_back(&table.columns[find_column(table, observable(name))]);
  scatters.resize(columns.size());
  for (const std::size_t event : events)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double number = (*sources[i])[event];
      scatters[i].add(number);
      *place++ = single_precision(number, table, event, columns[i]);
    }
  return values;
}

torch::Tensor weights_of(const Table& table, const NeededColumn& column,
                         const std::vector<std::size_t>& events) {
  const std::vector<double>& source = table.columns[find_column(table, column)];
  torch::Tensor weights = torch::empty({static_cast<std::int64_t>(events.size())});
  float* place = weights.data_ptr<float>();
  for (const std::size_t event : events)
    *place++ = single_precision(source[event], table, event, column.name);
  return weights;
}

void check_no_column_twice(const Names& columns) {
  for (auto name = columns.begin(); name != columns.end(); ++name)
    if (std::find(columns.begin(), name, *name) != name)
      throw ConfigError("", text("'columns' names '", *name, "' twice. Remove one."));
}

void check_weight_is_no_observable(const DatasetConfig& config, const Observables& chosen) {
  for (const Names* names : {&chosen.columns, &chosen.labels})
    if (!config.weight_column.empty() &&
        std::find(names->begin(), names->end(), config.weight_column) != names->end())
      throw ConfigError("weight_column", text("'", config.weight_column,
                                              "' is an observable (events would be weighed by what "
                                              "is measured). Name another column."));
}

void check_sum(const torch::Tensor& weights, const DatasetConfig& config) {
  const double sum = weights.sum(torch::kFloat64).item<double>();
  if (!(sum > 0))
    throw DataError(config.file, text("the weights in column '", config.weight_column, "' sum to ",
                                      core::significant(sum, 3),
                                      ", so no events are left. Choose another 'weight_column'."));
}

void check_scatters(const std::vector<Scatter>& scatters, const Dataset& dataset) {
  for (std::size_t i = 0; i < scatters.size(); ++i)
    if (const std::string problem = scatters[i].problem(dataset.observables[i]); !problem.empty())
      throw DataError(dataset.origin, text(problem, " and from what the pipeline gives."));
}

// So that a workload's own cuts ("70 < M < 110") work on files without names.
void add_labels(Table& table, const Observables& chosen) {
  if (chosen.labels == chosen.columns) return;
  for (std::size_t i = 0; i < chosen.labels.size(); ++i)
    table.labels[chosen.labels[i]] = chosen.columns[i];
}

}  // namespace

Dataset load_dataset(const DatasetConfig& config, const Names& default_columns) {
  if (config.file.empty()) throw ConfigError("", "no data file is named. Set 'file'.");
  check_no_column_twice(config.columns);
  std::vector<Cut> cuts;
  for (const std::string& condition : config.cuts) cuts.emplace_back(condition);
  DatasetConfig piece = config;
  piece.rows.most = rows_at_once;
  Dataset dataset{{},          std::nullopt,
                  {},          config.reference,
                  config.file, static_cast<std::uint64_t>(config.memory_GB * 1e9)};
  GrowingRows values(dataset.memory_bytes), weights(dataset.memory_bytes);
  std::int64_t kept = 0;
  std::vector<std::size_t> left;
  std::vector<Scatter> scatters;
  for (bool more = true; more; piece.rows.skip += rows_at_once) {
    Table table = read_table(piece, default_columns, cuts);
    more = !table.is_last;
    const Observables chosen = observables_of(config, default_columns, table);
    if (chosen.columns.empty()) throw DataError(config.file, "holds no column of observables.");
    check_weight_is_no_observable(config, chosen);
    dataset.observables = chosen.labels;
    add_labels(table, chosen);
    for (const NeededColumn& column : needed_columns(config, chosen.columns, cuts))
      check_finite(table, column);
    widen(dataset.ranges, table, chosen.columns);
    std::vector<std::size_t> events = passing_events(table, cuts, left);
    const auto room = static_cast<std::size_t>(config.maximum_events - kept);
    if (config.maximum_events > 0 && events.size() > room) events.resize(room);
    kept += static_cast<std::int64_t>(events.size());
    values.add(values_of(table, chosen.columns, events, scatters));
    if (!config.weight_column.empty()) weights.add(weights_of(table, weight(config), events));
  }
  check_events_left(config.file, cuts, left);
  if (kept > 0) check_scatters(scatters, dataset);
  dataset.values = values.take();
  if (config.weight_column.empty()) return dataset;
  dataset.weights = weights.take();
  check_sum(*dataset.weights, config);
  return dataset;
}

}  // namespace sagips::data
