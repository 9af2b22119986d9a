#include "sagips/optim/adversarial/collapse.hpp"

#include <algorithm>

#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

constexpr std::int64_t patience = 10;  // steps

}  // namespace

double spread_of(const torch::Tensor& examples) {
  const torch::NoGradGuard no_grad;
  return examples.flatten(1).var(0, /*unbiased=*/false).mean(torch::kFloat64).sqrt().item<double>();
}

void Collapse::see(double made, double real, bool is_empty) {
  ++steps_;
  largest_ = std::max(largest_, made);
  const bool is_alike = real > 0 && made <= share_ * std::min(real, largest_);
  alike_ = is_alike ? alike_ + 1 : 0;
  is_empty_ = is_empty && share_ > 0 && steps_ > patience;
}

std::string Collapse::reason() const {
  const std::string collapsed = "the generator has collapsed: what it made in ";
  if (is_empty_) return core::text(collapsed, "step ", steps_, " is empty");
  if (alike_ >= patience)
    return core::text(collapsed, "steps ", steps_ - patience + 1, " to ", steps_, " is all alike");
  return {};
}

void Collapse::state(nn::StateList& list) {
  std::int64_t is_empty = is_empty_ ? 1 : 0;
  list.field("largest", largest_);
  list.field("steps", steps_);
  list.field("alike", alike_);
  list.field("is_empty", is_empty);
  is_empty_ = is_empty != 0;
}

}  // namespace sagips::optim
