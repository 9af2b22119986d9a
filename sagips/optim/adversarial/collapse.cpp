#include "sagips/optim/adversarial/collapse.hpp"

#include <limits>

#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

constexpr std::int64_t patience = 10;  // steps
constexpr double none = std::numeric_limits<double>::infinity();

}  // namespace

torch::Tensor spread_of(const torch::Tensor& examples) {
  const torch::NoGradGuard no_grad;
  return torch::stack({examples.flatten(1).var(0, /*unbiased=*/false).mean(torch::kFloat64).sqrt(),
                       examples.abs().mean(torch::kFloat64)});
}

Collapse::Collapse(double share, const torch::Device& device)
    : share_(share),
      largest_(torch::zeros({2}, torch::dtype(torch::kFloat64).device(device))),
      smallest_(torch::full({}, none, torch::dtype(torch::kFloat64).device(device))),
      counts_(torch::zeros({4}, torch::dtype(torch::kInt64).device(device))) {}

// In a graph the same tensors serve every step. What has found a reason stays as it is, since a GPU's is read later.
void Collapse::see(const torch::Tensor& made, const torch::Tensor& real,
                   const torch::Tensor& is_empty) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor is_over =
      (counts_[1] >= patience) | (counts_[2] >= patience) | (counts_[3] > 0);
  const auto keep = [&is_over](torch::Tensor& kept, const torch::Tensor& now) {
    kept.copy_(torch::where(is_over, kept, now));
  };
  const torch::Tensor deviation = made[0], real_deviation = real[0];
  keep(largest_, torch::fmax(largest_, made));
  keep(smallest_, torch::where(deviation > 0, torch::fmin(smallest_, deviation), smallest_));
  const torch::Tensor is_small =
      ((real > 0) & (made <= share_ * torch::fmin(real, largest_))).any();
  const torch::Tensor is_far =
      (real_deviation > 0) & (share_ * deviation >= torch::fmax(real_deviation, smallest_));
  const torch::Tensor steps = counts_[0] + 1;
  keep(counts_, torch::stack({steps, (counts_[1] + 1) * is_small, (counts_[2] + 1) * is_far,
                              (is_empty & (steps > patience)).to(torch::kInt64)}));
}

std::string Collapse::reason() const {
  const torch::Tensor read = counts_.cpu();
  const std::int64_t* const counts = read.data_ptr<std::int64_t>();
  const std::int64_t steps = counts[0];
  const std::string collapsed = "the generator has collapsed: what it made in ";
  if (counts[3] > 0) return core::text(collapsed, "step ", steps, " is empty");
  if (counts[1] >= patience)
    return core::text(collapsed, "steps ", steps - patience + 1, " to ", steps,
                      " is all alike, or empty");
  if (counts[2] >= patience)
    return core::text("the generator has diverged: what it made in steps ", steps - patience + 1,
                      " to ", steps, " spreads over ", core::significant(1 / share_, 3),
                      " times as far as real examples");
  return {};
}

void Collapse::state(nn::StateList& list) {
  list.field("largest", largest_);
  list.field("smallest", smallest_);
  list.field("counts", counts_);
}

}  // namespace sagips::optim
