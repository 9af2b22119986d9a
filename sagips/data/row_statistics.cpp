#include "sagips/data/row_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "sagips/core/error.hpp"

namespace sagips::data {

namespace {

torch::Tensor in_double(const torch::Tensor& rows) { return rows.to(torch::kFloat64); }

std::vector<std::int64_t> standard_shape(const torch::Tensor& rows) {
  std::vector<std::int64_t> shape(rows.sizes().begin() + 1, rows.sizes().end());
  if (shape.size() >= 3) std::fill(shape.begin() + 1, shape.end(), 1);
  return shape;
}

/// Mean and variance of each number of a row, from pieces of the rows.
/// source: Chan, Golub and LeVeque, The American Statistician 37 (1983) 242
class RunningMoments {
 public:
  // shape: rows [n, ...], weights [n] float64
  void add(const torch::Tensor& rows, const torch::Tensor& weights) {
    const torch::Tensor values = in_double(rows).flatten(1), share = weights.unsqueeze(1);
    const double added = weights.sum().item<double>(), before = weight_;
    if (!(added > 0)) return;
    weight_ += added;
    const torch::Tensor mean = (values * share).sum(0) / added,
                        squares = ((values - mean).square() * share).sum(0);
    if (before == 0) {
      mean_ = mean, squares_ = squares;
      return;
    }
    const torch::Tensor shift = mean - mean_;
    mean_ = mean_ + shift * (added / weight_);
    squares_ = squares_ + squares + shift.square() * (before * added / weight_);
  }

  // shape: of a row, or one number for several neighbours of it
  Standard standard(const std::vector<std::int64_t>& shape) const {
    const torch::Tensor means = mean_.reshape({c10::multiply_integers(shape), -1}),
                        variances = (squares_ / weight_).reshape(means.sizes()),
                        mean = means.mean(1, true);
    const torch::Tensor variance = (variances + (means - mean).square()).mean(1, true);
    constexpr double rounding = 1e-10;  // of sums in double precision
    const torch::Tensor deviation = variance.sqrt(), changes = deviation > rounding * mean.abs();
    return {mean.where(changes, torch::zeros_like(mean)).reshape(shape),
            deviation.where(changes, torch::ones_like(mean)).reshape(shape)};
  }

 private:
  double weight_ = 0;
  torch::Tensor mean_, squares_;
};

// Who learns from them refuses numbers that no class has.
void add_counts(torch::Tensor& counts, const torch::Tensor& classes, const torch::Tensor& weights) {
  constexpr std::int64_t last_class = 1'000'000;
  torch::Tensor more =
      at::bincount(classes.clamp(0, last_class), weights, counts.defined() ? counts.size(0) : 0);
  if (counts.defined()) more.slice(0, 0, counts.size(0)) += counts;
  counts = more;
}

RowStatistics found_in(const ExampleRows& rows, bool of_inputs, bool of_targets) {
  constexpr std::int64_t most_rows = 4096, most_numbers = std::int64_t{1} << 22;
  const Examples one = rows.first(1);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(most_numbers / one.inputs.numel(), 1, most_rows);
  RunningMoments inputs, targets;
  RowStatistics found{.weight = 0};
  for_each_piece(rows.rows(), at_once, [&](const torch::Tensor& numbers) {
    const Examples examples = rows.read(numbers);
    const torch::Tensor weights = examples.weights.defined()
                                      ? in_double(examples.weights)
                                      : torch::ones({examples.rows()}, torch::kFloat64);
    found.weight += weights.sum().item<double>() / static_cast<double>(rows.rows());
    if (of_inputs) inputs.add(examples.inputs, weights);
    if (of_targets) targets.add(examples.targets, weights);
    if (!examples.targets.is_floating_point())
      add_counts(found.class_shares, examples.targets, weights);
  });
  if (!(found.weight > 0) || !std::isfinite(found.weight))
    throw core::DataError("data.weights",
                          found.weight > 0
                              ? "their sum is too large. Divide them by a number."
                              : "those of a training's rows, or of those kept aside, are all zero, "
                                "so that none counts. Correct them, or leave them out.");
  if (found.class_shares.defined()) found.class_shares /= found.class_shares.sum();
  if (of_inputs) found.inputs = inputs.standard(standard_shape(one.inputs));
  if (of_targets) found.targets = targets.standard(standard_shape(one.targets));
  return found;
}

}  // namespace

// What the first rank has found travels as the bytes of its numbers.
RowStatistics statistics_of(const ExampleRows& rows, bool of_inputs, bool of_targets,
                            const Reading& reading) {
  const std::string bytes = reading.once([&] {
    const RowStatistics found = found_in(rows, of_inputs, of_targets);
    std::vector<torch::Tensor> parts{torch::full({1}, found.weight, torch::kFloat64)};
    for (const torch::Tensor& part : {found.inputs.mean, found.inputs.deviation, found.targets.mean,
                                      found.targets.deviation, found.class_shares})
      if (part.defined()) parts.push_back(part.flatten());
    const torch::Tensor all = torch::cat(parts);
    return std::string(static_cast<const char*>(all.data_ptr()), all.nbytes());
  });
  torch::Tensor all =
      torch::empty({static_cast<std::int64_t>(bytes.size() / sizeof(double))}, torch::kFloat64);
  std::memcpy(all.data_ptr(), bytes.data(), bytes.size());
  const auto take = [&all](const std::vector<std::int64_t>& shape) {
    const std::int64_t count = c10::multiply_integers(shape);
    torch::Tensor part = all.slice(0, 0, count).reshape(shape);
    all = all.slice(0, count);
    return part;
  };
  RowStatistics found{.weight = take({1}).item<double>()};
  const Examples one = rows.first(1);
  if (of_inputs) found.inputs.mean = take(standard_shape(one.inputs));
  if (of_inputs) found.inputs.deviation = take(standard_shape(one.inputs));
  if (of_targets) found.targets.mean = take(standard_shape(one.targets));
  if (of_targets) found.targets.deviation = take(standard_shape(one.targets));
  if (all.numel() > 0) found.class_shares = all;
  return found;
}

}  // namespace sagips::data
