#include "sagips/optim/gan/gradient_penalty.hpp"

#include "sagips/core/config/effects.hpp"

namespace sagips::optim {

namespace {

using Kind = GradientPenaltyConfig::Kind;

constexpr double least_square = 1e-12;  // below the root, whose slope at 0 is infinite

/// |grad D|^2 of each row, differentiable by the weights. shape: [rows]
torch::Tensor squared_slopes(const nn::Network& network, const nn::Leaves& leaves,
                             const torch::Tensor& rows) {
  const torch::Tensor input = rows.detach().requires_grad_();
  const torch::Tensor output = network(leaves, input, {}).sum();
  const torch::Tensor slope =
      torch::autograd::grad({output}, {input}, /*grad_outputs=*/{},
                            /*retain_graph=*/true, /*create_graph=*/true)[0];
  return slope.square().sum(1);
}

torch::Tensor mean_of(const torch::Tensor& of_rows, const torch::Tensor& shares) {
  return shares.defined() ? (of_rows * shares).sum() : of_rows.mean();
}

torch::Tensor penalty(Kind kind, const nn::Network& network, const PenaltyRows& rows,
                      const nn::Leaves& leaves) {
  if (kind == Kind::wasserstein) {
    const torch::Tensor between = torch::lerp(rows.synthetic, rows.real, rows.places);
    const torch::Tensor slopes = (squared_slopes(network, leaves, between) + least_square).sqrt();
    return mean_of((slopes - 1).square(), rows.shares);
  }
  torch::Tensor sum;
  if (kind != Kind::r2) sum = mean_of(squared_slopes(network, leaves, rows.real), {});
  if (kind != Kind::r1) {
    const torch::Tensor synthetic =
        mean_of(squared_slopes(network, leaves, rows.synthetic), rows.shares);
    sum = sum.defined() ? sum + synthetic : synthetic;
  }
  return sum / 2;
}

}  // namespace

double GradientPenaltyConfig::factor_in(std::uint32_t epoch) const {
  const bool is_due = kind != Kind::none && epoch % static_cast<std::uint64_t>(every) == 0;
  return is_due ? factor * static_cast<double>(every) : 0;
}

void GradientPenaltyConfig::fields(core::FieldList& list) {
  list.choice("kind", kind,
              {{"none", Kind::none},
               {"r1", Kind::r1},
               {"r2", Kind::r2},
               {"r1_r2", Kind::r1_r2},
               {"wasserstein", Kind::wasserstein}},
              "price on the slope of the discriminator's output: its square at measured (r1) or "
              "synthetic events (r2), Mescheder et al., ICML 2018; its distance from 1 between "
              "them (wasserstein), Gulrajani et al., NeurIPS 2017");
  list.add("factor", factor,
           "what it counts: gamma of r1 and r2 (half of it is taken), lambda of wasserstein",
           core::Range::positive());
  list.add("every", every,
           "epochs from one penalty to the next, which counts as many times: saves computing (lazy "
           "regularisation, Karras et al., CVPR 2020)",
           core::Range::between(1, 1e6));
  core::needs(list, kind != Kind::none, "another kind than none", {"factor", "every"});
}

// Not backward(create_graph): it would replace the accumulators, which are views (nn/replica.hpp).
torch::Tensor add_gradient_penalty(Kind kind, double factor, const nn::Network& network,
                                   const PenaltyRows& rows, double share, nn::Leaves& leaves) {
  torch::AutoGradMode with_gradients(true);
  const torch::Tensor value = penalty(kind, network, rows, leaves) * factor;
  const auto gradients =
      torch::autograd::grad({value}, leaves.tensors, /*grad_outputs=*/{}, /*retain_graph=*/false,
                            /*create_graph=*/false, /*allow_unused=*/true);
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined()) leaves.tensors[i].mutable_grad().add_(gradients[i], share);
  return value.detach().to(torch::kFloat64);
}

}  // namespace sagips::optim
