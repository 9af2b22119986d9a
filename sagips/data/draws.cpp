#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/data/growing_rows.hpp"
#include "sagips/data/row_selection.hpp"

namespace sagips::data {
namespace {

using core::ConfigError;
using core::text;

// Every draw of this file is one dimension of sample 0: callers tell draws apart by purpose and
// step of the stream.
constexpr std::uint32_t sample = 0, dimension = 0;
constexpr std::int64_t rows_at_once = std::int64_t{1} << 20;
// More rows are not put in a random order, which would take 16 bytes for each.
constexpr std::int64_t most_in_order = std::int64_t{1} << 24;

// Rows that come piece by piece, so that they need not fit into memory.
Dataset chosen_events(
    const Dataset& dataset, std::int64_t count,
    const std::function<torch::Tensor(std::int64_t first, std::int64_t count)>& rows) {
  Dataset chosen = dataset;
  GrowingRows values(dataset.memory_bytes), weights(dataset.memory_bytes);
  std::int64_t first = 0;
  do {
    const std::int64_t piece = std::min(rows_at_once, count - first);
    const torch::Tensor numbers = rows(first, piece).to(dataset.values.device());
    values.add(dataset.values.index_select(0, numbers));
    if (dataset.weights) weights.add(dataset.weights->index_select(0, numbers));
    first += piece;
  } while (first < count);
  chosen.values = values.take();
  if (dataset.weights) chosen.weights = weights.take();
  return chosen;
}

Dataset chosen_events(const Dataset& dataset, const torch::Tensor& rows) {
  return chosen_events(dataset, rows.size(0), [&](std::int64_t first, std::int64_t count) {
    return rows.narrow(0, first, count);
  });
}

Dataset chosen_events(const Dataset& dataset, const RowSelection& rows) {
  return chosen_events(dataset, rows.count(), [&](std::int64_t first, std::int64_t count) {
    return rows.rows_of(torch::arange(first, first + count, torch::kInt64));
  });
}

void check_has_events(const Dataset& dataset) {
  if (dataset.size() == 0) throw core::DataError(dataset.origin, "holds no events to draw from.");
}

torch::Tensor any_rows(std::int64_t size, std::int64_t count, const core::RandomStream& stream,
                       std::int64_t first) {
  torch::Tensor rows = torch::empty({count}, torch::kInt64);
  stream.integers(sample, dimension, static_cast<std::uint64_t>(size),
                  std::span(rows.data_ptr<std::int64_t>(), static_cast<std::size_t>(count)),
                  static_cast<std::uint32_t>(first));
  return rows;
}

// Inverse of the summed weights: row i owns the stretch of [0, total) that is as long as its
// weight.
torch::Tensor weighted_rows(const Dataset& dataset, std::int64_t count,
                            const core::RandomStream& stream, std::int64_t draw) {
  const torch::Tensor weights = dataset.weights->to(torch::kCPU, torch::kFloat64).contiguous();
  const double* first = weights.data_ptr<double>();
  std::vector<double> summed(static_cast<std::size_t>(weights.size(0)));
  std::partial_sum(first, first + weights.size(0), summed.begin());
  if (weights.numel() > 0 && weights.min().item<double>() < 0)
    throw core::DataError(
        dataset.origin,
        "has negative weights, by which no event can be drawn. Take `sagips fit`, "
        "or `sagips solve` with moments or likelihood.");
  if (!(summed.back() > 0.0))
    throw core::DataError(dataset.origin, "all weights are zero, so no event can be drawn.");
  std::vector<double> uniform(static_cast<std::size_t>(count));
  stream.uniform(sample, dimension, std::span<double>(uniform), static_cast<std::uint32_t>(draw));
  // Rounding may reach the total itself; the last row with a weight owns that point.
  const auto last = std::lower_bound(summed.begin(), summed.end(), summed.back());
  torch::Tensor rows = torch::empty({count}, torch::kInt64);
  std::int64_t* row = rows.data_ptr<std::int64_t>();
  for (const double number : uniform) {
    const auto owner = std::upper_bound(summed.begin(), last, number * summed.back());
    *row++ = owner - summed.begin();
  }
  return rows;
}

Dataset in_file_order(const Dataset& dataset, std::span<std::int64_t> rows) {
  std::sort(rows.begin(), rows.end());
  torch::Tensor index = torch::empty({static_cast<std::int64_t>(rows.size())}, torch::kInt64);
  std::copy(rows.begin(), rows.end(), index.data_ptr<std::int64_t>());
  return chosen_events(dataset, index);
}

// The first `aside` of these rows, behind all others.
std::pair<Dataset, Dataset> set_aside(const Dataset& dataset, std::span<std::int64_t> rows,
                                      std::size_t aside) {
  return {in_file_order(dataset, rows.subspan(aside)), in_file_order(dataset, rows.first(aside))};
}

// The rows of one of these parts, behind all others.
std::pair<Dataset, Dataset> set_aside(const Dataset& dataset,
                                      const std::vector<std::int64_t>& sizes, std::size_t part,
                                      const core::RandomStream& stream) {
  const RowSelection aside = drawn_part(sizes, part, stream);
  return {chosen_events(dataset, aside.others()), chosen_events(dataset, aside)};
}

}  // namespace

// The rows sorted by a random number each.
std::vector<std::int64_t> shuffled_rows(std::int64_t size, const core::RandomStream& stream,
                                        std::uint32_t order) {
  std::vector<double> keys(static_cast<std::size_t>(size));
  stream.uniform(order, dimension, std::span<double>(keys));
  std::vector<std::int64_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  std::sort(rows.begin(), rows.end(), [&](std::int64_t left, std::int64_t right) {
    const auto key = [&](std::int64_t row) { return keys[static_cast<std::size_t>(row)]; };
    return key(left) != key(right) ? key(left) < key(right) : left < right;
  });
  return rows;
}

torch::Tensor draw_events(const Dataset& dataset, std::int64_t count,
                          const core::RandomStream& stream, std::int64_t first) {
  check_has_events(dataset);
  if (first + count > std::int64_t{1} << 32)
    throw core::Error(
        "the ranks together draw more than 2^32 events an epoch. Lower batch.samples "
        "or batch.events.");
  const torch::Tensor rows = dataset.weights ? weighted_rows(dataset, count, stream, first)
                                             : any_rows(dataset.size(), count, stream, first);
  return dataset.values.index_select(0, rows.to(dataset.values.device()));
}

Dataset bootstrap(const Dataset& dataset, const core::RandomStream& stream) {
  check_has_events(dataset);
  return chosen_events(dataset, dataset.size(), [&](std::int64_t first, std::int64_t count) {
    return any_rows(dataset.size(), count, stream, first);
  });
}

Dataset subsample(const Dataset& dataset, double fraction, const core::RandomStream& stream) {
  if (!(fraction > 0.0 && fraction <= 1.0))
    throw ConfigError("", text("fraction = ", fraction, " is out of range (> 0, <= 1)"));
  const auto kept = std::llround(fraction * static_cast<double>(dataset.size()));
  if (kept == 0)
    throw ConfigError("", text("fraction = ", fraction, " leaves none of ", dataset.size(),
                               " events. Raise it."));
  if (kept == dataset.size()) return dataset;
  if (dataset.size() > most_in_order)
    return chosen_events(dataset, drawn_part({kept, dataset.size() - kept}, 0, stream));
  std::vector<std::int64_t> rows = shuffled_rows(dataset.size(), stream);
  return in_file_order(dataset, std::span(rows).first(static_cast<std::size_t>(kept)));
}

std::pair<Dataset, Dataset> hold_out(const Dataset& dataset, double held_out,
                                     const core::RandomStream& stream) {
  if (!(held_out >= 0.0 && held_out <= 0.9))
    throw ConfigError("", text("held_out = ", held_out, " is out of range (0 .. 0.9)"));
  if (held_out > 0.0 && dataset.size() < 2)
    throw ConfigError("", text("held_out = ", held_out, " cannot part ", dataset.size(),
                               " event. Set it to 0 or give more events."));
  auto aside = std::llround(held_out * static_cast<double>(dataset.size()));
  if (held_out > 0.0) aside = std::clamp<long long>(aside, 1, dataset.size() - 1);
  if (dataset.size() > most_in_order)
    return set_aside(dataset, {aside, dataset.size() - aside}, 0, stream);
  std::vector<std::int64_t> rows = shuffled_rows(dataset.size(), stream);
  return set_aside(dataset, rows, static_cast<std::size_t>(aside));
}

std::pair<Dataset, Dataset> fold(const Dataset& dataset, std::int64_t number, std::int64_t count,
                                 const core::RandomStream& stream) {
  if (count < 2 || number < 0 || number >= count || dataset.size() < count)
    throw ConfigError("", text("there is no fold ", number, " of ", count, " of ", dataset.size(),
                               " events. Ask for 2 folds or more, at most one an event."));
  const auto folds = static_cast<std::size_t>(count);
  if (dataset.size() > most_in_order) {
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < folds; ++i)
      sizes.push_back(static_cast<std::int64_t>(
          core::RowShare{i, folds}.size(static_cast<std::size_t>(dataset.size()))));
    return set_aside(dataset, sizes, static_cast<std::size_t>(number), stream);
  }
  std::vector<std::int64_t> rows = shuffled_rows(dataset.size(), stream);
  const core::RowShare part{static_cast<std::size_t>(number), folds};
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(part.first(rows.size()));
  std::rotate(rows.begin(), first, rows.end());
  return set_aside(dataset, rows, part.size(rows.size()));
}

}  // namespace sagips::data
