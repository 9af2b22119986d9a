#include "sagips/optim/newton_bias.hpp"

#include "sagips/core/error.hpp"
#include "sagips/optim/moment_model.hpp"

namespace sagips::optim {

void NewtonConfig::fields(core::FieldList& list) {
  list.add("every", every,
           "epochs after which the information of the moments about the parameters is computed "
           "anew; 0: no Newton steps",
           core::Range::between(0, 1e9));
  list.add("rate", rate, "share of a Newton step", core::Range{0, 1, true, false});
  list.add("longest", longest, "step of a logit at most", core::Range::positive());
}

NewtonBias::NewtonBias(const NewtonConfig& config, nn::Replica& generator,
                       const env::Environment& environment, const MomentsConfig& moments,
                       std::uint64_t seed)
    : config_(config), environment_(environment), moments_(moments), seed_(seed) {
  const std::size_t last = generator.parameters().size() - 1;
  bias_ = generator.view(generator.weights(), last);
  gradient_ = generator.view(generator.gradients(), last);
  kept_ = bias_.detach().clone();
  inverse_ = torch::eye(bias_.size(0), torch::kFloat64);
}

void NewtonBias::before(std::uint32_t epoch, const torch::Tensor& mean_logits) {
  torch::NoGradGuard no_grad;
  kept_.copy_(bias_);
  if (renewed_ > 0 && epoch < renewed_ + config_.every) return;
  SolveContext context;
  context.seed = seed_;
  const MomentModel model(environment_, moments_, context);
  const torch::Tensor jacobian = model.jacobian(mean_logits.to(torch::kCPU, torch::kFloat64),
                                                moments_.events_for(model.data_events()));
  const torch::Tensor information = torch::matmul(jacobian.t(), jacobian) / model.data_events();
  if (!torch::isfinite(information).all().item<bool>())
    throw core::StateError(
        "optimizer.newton: the moments' derivatives at the mean proposal are not finite. Narrow "
        "the parameters' ranges, or set optimizer.newton.every=0.");
  inverse_.copy_(torch::linalg_pinv(information, 1e-12, /*hermitian=*/true));
  renewed_ = epoch;
}

void NewtonBias::after() {
  torch::NoGradGuard no_grad;
  const torch::Tensor move =
      torch::matmul(inverse_, gradient_.to(torch::kCPU, torch::kFloat64)) * config_.rate;
  bias_.copy_(kept_ - move.clamp(-config_.longest, config_.longest).to(bias_.options()));
}

void NewtonBias::state(nn::StateList& list) {
  list.field("kept", kept_);
  list.field("inverse", inverse_);
  list.field("renewed", renewed_);
}

}  // namespace sagips::optim
