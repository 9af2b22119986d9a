#include "tests/golden/recorded_run.hpp"

#include <memory>
#include <numeric>

#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "tests/env/recorded_noise.hpp"
#include "workloads/proxy1d/proxy1d.hpp"

namespace sagips::golden {

namespace {

// the columns of losses.npy
constexpr const char* loss_names[] = {"generator", "reference", "discriminator_real",
                                      "discriminator_synthetic"};

torch::Tensor load(const std::string& path) {
  const core::NpyArray array = core::read_npy(path);
  const std::vector<std::int64_t> shape(array.shape.begin(), array.shape.end());
  return torch::tensor(array.values, torch::kFloat64).to(torch::kFloat32).reshape(shape);
}

}  // namespace

RecordedRun::RecordedRun(const std::string& name) {
  const std::string folder = core::text(SAGIPS_GOLDEN_DATA, "/", name, "/");
  settings = core::read_config(core::ConfigDocument::from_file(folder + "settings.json"),
                               optim::GanConfig());
  data = load(folder + "data.npy");
  reference = load(folder + "reference.npy");
  generator_noise = load(folder + "generator_noise.npy");
  real_events = load(folder + "real_events.npy");
  generator_uniform = load(folder + "generator_uniform.npy");
  if (settings.optimizer.order == optim::UpdateOrder::discriminator_first)
    discriminator_uniform = load(folder + "discriminator_uniform.npy");
  losses = load(folder + "losses.npy");
  generator_weights = load(folder + "generator_weights.npy");
  discriminator_weights = load(folder + "discriminator_weights.npy");
  generator_gradients = load(folder + "generator_gradients.npy");
  discriminator_gradients = load(folder + "discriminator_gradients.npy");
}

optim::GanBatch RecordedRun::batch(std::int64_t index) const {
  optim::GanBatch batch;
  batch.step = static_cast<std::uint32_t>(index + 1);
  batch.samples = settings.batch.samples;
  batch.events = settings.batch.events;
  batch.noise = generator_noise[index];
  batch.channels.push_back({real_events[index], {}});
  return batch;
}

optim::Gan::NoiseMaker RecordedRun::noise_maker() const {
  return [generator = generator_uniform, discriminator = discriminator_uniform](
             const std::string& step, std::size_t, std::uint32_t epoch) {
    const torch::Tensor numbers = (step == "generator" ? generator : discriminator)[epoch - 1];
    return std::make_shared<testing::RecordedNoise>(numbers.unbind(1));
  };
}

env::Environment RecordedRun::environment(const std::string& pipeline) const {
  const auto workload = workloads::proxy1d_workload().make();
  core::FieldList fields;
  workload->fields(fields);
  core::read_fields(core::ConfigDocument::from_text(pipeline, "pipeline of the test"), fields);
  const problem::ChannelPlan plan = workload->channels().front();

  data::Dataset training;
  training.values = data;
  training.reference = {{"norm_1", reference[0].item<double>()},
                        {"norm_2", reference[1].item<double>()}};
  env::Environment environment;
  environment.parameters = env::ParameterSet(workload->parameters());
  environment.channels.push_back({plan.name, plan.pipeline, std::move(training), {}, std::nullopt});
  return environment;
}

StepOutcome RecordedRun::outcome(std::int64_t index) const {
  constexpr std::int64_t parameters = 6, observables = 2;
  const optim::GeneratorConfig& generator = settings.generator;
  const auto proposing = generator.network.network(generator.noise_dimensions, parameters);
  const auto judging = settings.discriminator.network.network(observables, 1);
  StepOutcome outcome;
  for (std::int64_t column = 0; column < losses.size(1); ++column)
    outcome.losses[loss_names[column]] = losses[index][column].item<double>();
  outcome.generator = by_tensor(proposing->parameters(), generator_gradients[index]);
  outcome.discriminator = by_tensor(judging->parameters(), discriminator_gradients[index]);
  return outcome;
}

torch::Tensor in_network_order(const nn::Replica& replica, const torch::Tensor& flat) {
  std::vector<torch::Tensor> parts;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i)
    parts.push_back(replica.view(flat, i).flatten());
  return torch::cat(parts);
}

void copy_from_network_order(const nn::Replica& replica, const torch::Tensor& recorded,
                             torch::Tensor flat) {
  torch::NoGradGuard no_grad;
  const auto pieces = by_tensor(replica.parameters(), recorded);
  for (std::size_t i = 0; i < replica.parameters().size(); ++i)
    replica.view(flat, i).copy_(pieces.at(replica.parameters()[i].name));
}

StepOutcome::Gradients by_tensor(const std::vector<nn::ParameterTensor>& tensors,
                                 const torch::Tensor& recorded) {
  std::vector<std::int64_t> sizes;
  for (const nn::ParameterTensor& tensor : tensors) sizes.push_back(tensor.size());
  const std::int64_t size = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (recorded.numel() != size)
    throw core::StateError(core::text("the dump has ", recorded.numel(), " weights, the network ",
                                      size,
                                      ". Make the dump again with tools/golden/gan_steps.py."));
  const std::vector<torch::Tensor> pieces = recorded.split_with_sizes(sizes);
  StepOutcome::Gradients named;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    named[tensors[i].name] = pieces[i].view(tensors[i].shape);
  return named;
}

}  // namespace sagips::golden
