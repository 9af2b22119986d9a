#include "sagips/optim/adversarial/collapse.hpp"

#include <algorithm>

#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

constexpr std::int64_t patience = 10;  // steps

}  // namespace

Spread spread_of(const torch::Tensor& examples) {
  const torch::NoGradGuard no_grad;
  return {
      examples.flatten(1).var(0, /*unbiased=*/false).mean(torch::kFloat64).sqrt().item<double>(),
      examples.abs().mean(torch::kFloat64).item<double>()};
}

void Collapse::see(const Spread& made, const Spread& real, bool is_empty) {
  ++steps_;
  const auto is_small = [this](double of_made, double of_real, double& largest) {
    largest = std::max(largest, of_made);
    return of_real > 0 && of_made <= share_ * std::min(of_real, largest);
  };
  const bool is_alike = is_small(made.deviation, real.deviation, largest_.deviation),
             is_faint = is_small(made.size, real.size, largest_.size);
  alike_ = is_alike || is_faint ? alike_ + 1 : 0;
  if (made.deviation > 0)
    smallest_ = smallest_ > 0 ? std::min(smallest_, made.deviation) : made.deviation;
  const double within = std::max(real.deviation, smallest_);
  far_ = real.deviation > 0 && share_ * made.deviation >= within ? far_ + 1 : 0;
  is_empty_ = is_empty && share_ > 0 && steps_ > patience;
}

std::string Collapse::reason() const {
  const std::string collapsed = "the generator has collapsed: what it made in ";
  if (is_empty_) return core::text(collapsed, "step ", steps_, " is empty");
  if (alike_ >= patience)
    return core::text(collapsed, "steps ", steps_ - patience + 1, " to ", steps_,
                      " is all alike, or empty");
  if (far_ >= patience)
    return core::text("the generator has diverged: what it made in steps ", steps_ - patience + 1,
                      " to ", steps_, " spreads over ", core::significant(1 / share_, 3),
                      " times as far as real examples");
  return {};
}

void Collapse::state(nn::StateList& list) {
  std::int64_t is_empty = is_empty_ ? 1 : 0;
  list.field("largest", largest_.deviation);
  list.field("largest_size", largest_.size);
  list.field("steps", steps_);
  list.field("alike", alike_);
  list.field("smallest", smallest_);
  list.field("far", far_);
  list.field("is_empty", is_empty);
  is_empty_ = is_empty != 0;
}

}  // namespace sagips::optim
