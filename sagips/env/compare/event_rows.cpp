#include "sagips/env/compare/event_rows.hpp"

#include "sagips/env/noise/shuffle.hpp"

namespace sagips::env {

EventRows EventRows::of(const data::Dataset& dataset) {
  return {dataset.values, dataset.weights.value_or(torch::Tensor())};
}

EventRows EventRows::of(const Events& events) {
  auto [values, weights] = events.rows();
  return {std::move(values), std::move(weights)};
}

torch::Tensor EventRows::shares() const {
  if (!weights.defined())
    return torch::full({size()}, 1.0 / static_cast<double>(size()), torch::kFloat64);
  const torch::Tensor precise = weights.to(torch::kFloat64);
  return precise / precise.sum();
}

double EventRows::effective_size() const {
  if (!weights.defined()) return static_cast<double>(size());
  return 1 / shares().square().sum().item<double>();
}

EventRows EventRows::select(const torch::Tensor& rows) const {
  return {values.index_select(0, rows),
          weights.defined() ? weights.index_select(0, rows) : weights};
}

EventRows EventRows::at_most(std::int64_t count, const core::RandomStream& stream) const {
  if (size() <= count) return *this;
  return select(first_shuffled(size(), count, stream));
}

}  // namespace sagips::env
