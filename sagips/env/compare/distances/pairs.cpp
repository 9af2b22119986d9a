#include "sagips/env/compare/distances/pairs.hpp"

#include <algorithm>
#include <vector>

namespace sagips::env::distances {

namespace {

constexpr std::int64_t pairs_at_a_time = 1 << 16;  // half a megabyte an array: in the cache

}  // namespace

RadialFunction euclidean() {
  return {[](const torch::Tensor& square) {
    torch::Tensor distance = square.sqrt();
    torch::Tensor slope = distance.reciprocal().masked_fill_(square == 0, 0);
    return std::pair(std::move(distance), std::move(slope));
  }};
}

RadialFunction gaussians(std::vector<double> widths) {
  return {[widths = std::move(widths)](const torch::Tensor& square) {
    torch::Tensor value = torch::zeros_like(square), slope = torch::zeros_like(square);
    for (const double width : widths) {
      const torch::Tensor kernel = (square * (-0.5 / (width * width))).exp_();
      const double share = 1 / static_cast<double>(widths.size());
      value.add_(kernel, share);
      slope.sub_(kernel, share / (width * width));
    }
    return std::pair(value, slope);
  }};
}

torch::Tensor mean_over(const RadialFunction& f, const torch::Tensor& to, const torch::Tensor& from,
                        const torch::Tensor& shares) {
  torch::Tensor mean = torch::zeros({to.size(0)}, torch::kFloat64);
  torch::Tensor gradient = torch::zeros_like(to);
  {
    torch::NoGradGuard no_grad;
    const torch::Tensor y = to.detach(), x = from.detach(), all = shares.detach();
    const std::int64_t chunk = std::max<std::int64_t>(1, pairs_at_a_time / y.size(0));
    for (std::int64_t first = 0; first < x.size(0); first += chunk) {
      const std::int64_t count = std::min(chunk, x.size(0) - first);
      const torch::Tensor some = x.narrow(0, first, count), share = all.narrow(0, first, count);
      // 2: by differences, because |a|^2 + |b|^2 - 2 a b loses close pairs
      const torch::Tensor square = torch::cdist(y, some, 2, 2).square_();
      const auto [value, slope] = f.value_and_slope(square);
      mean += value.mv(share);
      // sum_i s_i f'(r) / r (y - x_i)
      const torch::Tensor pull = slope * share;
      gradient += y * pull.sum(1, true) - pull.matmul(some);
    }
  }
  // the mean with its gradient by `to`
  return mean + ((to - to.detach()) * gradient).sum(1);
}

torch::Tensor mean_within(const RadialFunction& f, const torch::Tensor& events,
                          const torch::Tensor& shares) {
  const torch::Tensor to_others = mean_over(f, events, events, shares);
  // s' F s has the gradient 2 F s: twice what one of its two sides gives
  const torch::Tensor one_side = to_others.dot(shares);
  const torch::Tensor both = 2 * one_side - one_side.detach();
  const auto [itself, slope] = f.value_and_slope(torch::zeros({1}, torch::kFloat64));
  const torch::Tensor same = shares.square().sum();
  return (both - same * itself[0]) / (1 - same).clamp_min(1e-12);
}

}  // namespace sagips::env::distances
