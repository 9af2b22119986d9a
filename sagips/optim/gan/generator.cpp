#include "sagips/optim/gan/generator.hpp"

#include <memory>

#include "sagips/env/noise/noise.hpp"
#include "sagips/nn/initialise.hpp"

namespace sagips::optim {

void GeneratorConfig::fields(core::FieldList& list) {
  network.fields(list);
  list.choice("start", start, {{"random", Start::random}, {"moments", Start::moments}},
              "where the proposals begin: random weights (SAGIPS paper), or the solution of the "
              "moments, scattered by its errors");
  list.choice("finish", finish, {{"networks", Finish::networks}, {"moments", Finish::moments}},
              "a run's answer: the mean proposal (SAGIPS paper), or the solution of the moments "
              "next to it, with the discriminators' outputs among the features");
  list.add("noise_dimensions", noise_dimensions,
           "numbers of an input noise vector (authors' tool kit: 6)",
           core::Range::between(1, 100000));
  list.choice("shared", shared,
              {{"weights_only", nn::SharedPart::weights_only},
               {"all", nn::SharedPart::all},
               {"none", nn::SharedPart::none}},
              "what ranks exchange of this network (SAGIPS paper: weights, not biases)");
  list.add(
      "spread_penalty", spread_penalty,
      "weight of the proposals' variance in the loss: draws the generator to a point where spread "
      "and a smearing parameter look alike (after arXiv 1707.07113); 0: off (SAGIPS paper)",
      core::Range::at_least(0));
  list.add("average", average,
           "memory of a running mean of the weights, which predicts in place of the last weights: "
           "0.99 averages some 100 epochs (Yazici et al., ICLR 2019); 0: off",
           core::Range{0, 1, false, true});
}

Generator::Generator(const GeneratorConfig& config, const nn::DenseConfig& dense,
                     const env::ParameterSet& parameters, std::uint64_t seed, torch::Device device)
    : network_(
          config.network.network(config.noise_dimensions, parameters.free_size(), "generator")),
      replica_(network_, config.shared, device),
      fused_(nn::FusedMlp::make(*network_, dense, device)),
      parameters_(parameters),
      noise_dimensions_(config.noise_dimensions),
      seed_(seed),
      device_(device) {
  nn::initialise_kaiming_normal(replica_, config.network.negative_slope,
                                core::RandomStream(seed, "generator weights"));
}

torch::Tensor Generator::noise(const core::RandomStream& stream, std::int64_t rows,
                               std::int64_t first) const {
  // a row's numbers are its "events": they do not depend on how many rows are asked for
  env::Noise source(std::make_shared<env::PhiloxNoise>(stream), rows, noise_dimensions_, first,
                    torch::kFloat32, device_);
  return source.normal();
}

torch::Tensor Generator::logits(const nn::Leaves& leaves, const torch::Tensor& noise) const {
  return (*network_)(leaves, noise, {});
}

void Generator::pack() {
  if (fused_) fused_->pack(replica_.leaves());
}

torch::Tensor Generator::packed_logits(nn::Leaves& leaves, const torch::Tensor& noise) const {
  return fused_ ? (*fused_)(noise, leaves) : logits(leaves, noise);
}

torch::Tensor Generator::propose(const nn::Leaves& leaves, const torch::Tensor& noise) const {
  return parameters_.physical_from_logit(logits(leaves, noise));
}

torch::Tensor Generator::predict(std::int64_t rows, const nn::Leaves& leaves) const {
  torch::NoGradGuard no_grad;
  // whatever the seed: members of an ensemble are compared for the same noise vectors, eq. (7)
  const core::RandomStream stream(0, "prediction noise");
  return propose(leaves, noise(stream, rows)).cpu();
}

// Logits are W h + b: with A S A' = C for the covariance S that they have now, A W and theta + A (b -
// mean) give theta and C.
void Generator::begin_at(const torch::Tensor& theta, const torch::Tensor& covariance) {
  torch::NoGradGuard no_grad;
  constexpr std::int64_t rows = 8192;
  const torch::Tensor now =
      logits(leaves(), noise(core::RandomStream(seed_, "start of the proposals"), rows))
          .to(torch::kCPU, torch::kFloat64);
  const torch::Tensor mean = now.mean(0);
  const torch::Tensor centred = now - mean;
  const torch::Tensor scatter = torch::matmul(centred.t(), centred) / static_cast<double>(rows);
  const auto root = [](const torch::Tensor& matrix) {
    const torch::Tensor jitter = matrix.diagonal().mean() * 1e-9;
    return torch::linalg_cholesky(matrix + jitter * torch::eye(matrix.size(0), torch::kFloat64));
  };
  const torch::Tensor map = torch::matmul(root(covariance), torch::linalg_inv(root(scatter)));
  const std::size_t last = replica_.parameters().size() - 1;
  const torch::Tensor bias = replica_.view(replica_.weights(), last);
  const torch::Tensor weight = replica_.view(replica_.weights(), last - 1);
  const auto as_double = [](const torch::Tensor& t) { return t.to(torch::kCPU, torch::kFloat64); };
  bias.copy_(theta + torch::matmul(map, as_double(bias) - mean));
  weight.copy_(torch::matmul(map, as_double(weight)));
}

}  // namespace sagips::optim
