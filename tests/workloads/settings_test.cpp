#include <gtest/gtest.h>

#include "sagips/cli/program.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/run/settings.hpp"
#include "tests/core/temporary_folder.hpp"
#include "workloads/duke_owens/duke_owens.hpp"
#include "workloads/gaussians/gaussians.hpp"
#include "workloads/proxy1d/proxy1d.hpp"
#include "workloads/proxy2d/proxy2d.hpp"
#include "workloads/resonance/resonance.hpp"

namespace sagips::workloads {
namespace {

run::Workloads all_workloads() {
  return cli::known_workloads({duke_owens_workload(), gaussians_workload(), proxy1d_workload(),
                               proxy2d_workload(), resonance_workload()});
}

TEST(Settings, CanAllBeReadAndReadBackTheSame) {
  const run::Workloads workloads = all_workloads();
  const testing::TemporaryFolder folder;
  for (const std::string& name : workloads.names()) {
    for (const auto& settings : workloads.get(name, "test").settings) {
      const run::Job job = run::read_job(workloads, name + "/" + settings.first, {});
      EXPECT_EQ(job.settings.workload, name);
      const std::string file = folder.make(name + settings.first + ".yaml", job.effective_config);
      EXPECT_EQ(run::read_job(workloads, file, {}).effective_config, job.effective_config);
    }
    EXPECT_EQ(run::read_job(workloads, name, {}).effective_config,
              run::read_job(workloads, name + "/default", {}).effective_config);
  }
}

TEST(Settings, OfAUsersWorkloadAreLaptopSizedUnlessTheyAreGiven) {
  problem::SimpleWorkload mine;
  mine.name = "mine";
  env::Parameter parameter;
  parameter.name = "mean";
  parameter.toy = 0.5;
  mine.parameters = {parameter};
  run::Workloads workloads("workload");
  workloads.add("mine", mine);
  const run::Job laptop = run::read_job(workloads, "mine", {"parameters.mean.high=2"});
  EXPECT_EQ(laptop.inverse().gan.generator.network.width, 64);
  EXPECT_EQ(laptop.settings.loop.epochs, 1500);
  EXPECT_EQ(laptop.inverse().workload->parameters()[0].high, 2.0);
  mine.name = "other";
  mine.settings = "train: {epochs: 7}";
  workloads.add("other", mine);
  EXPECT_EQ(run::read_job(workloads, "other", {}).settings.loop.epochs, 7);
}

TEST(Settings, MakePipelinesThatPassTheirDryRun) {
  const run::Workloads workloads = all_workloads();
  for (const std::string& name : workloads.names()) {
    const run::Job job = run::read_job(workloads, name, {});
    for (const auto& plan : job.inverse().workload->channels())
      EXPECT_NO_THROW(plan.pipeline.check(env::ParameterSet(job.inverse().workload->parameters()),
                                          static_cast<std::int64_t>(plan.observables.size())))
          << name;
  }
}

// source: SAGIPS paper, Sec. V and VI; docs/physics/proxy1d.md for what its text leaves open
TEST(PaperSettings, HaveThePapersNumbers) {
  const run::Workloads workloads = all_workloads();
  const run::Job job = run::read_job(workloads, "proxy1d/paper", {});
  const optim::GanConfig& gan = job.inverse().gan;
  EXPECT_EQ(job.settings.loop.epochs, 100'000);
  EXPECT_EQ(gan.batch.samples, 1024);
  EXPECT_EQ(gan.batch.events, 100);
  EXPECT_EQ(gan.generator.noise_dimensions, 6);
  EXPECT_EQ(gan.generator.shared, nn::SharedPart::weights_only);
  EXPECT_EQ(gan.generator.spread_penalty, 0.0) << "no idea of the paper's";
  for (const nn::MlpConfig& network : {gan.generator.network, gan.discriminator.network}) {
    EXPECT_EQ(network.width, 128);
    EXPECT_EQ(network.layers, 4);
    EXPECT_EQ(network.negative_slope, 0.2);
  }
  EXPECT_EQ(gan.discriminator.input, optim::DiscriminatorConfig::Input::raw);
  EXPECT_EQ(gan.optimizer.order, optim::UpdateOrder::discriminator_first);
  EXPECT_EQ(gan.optimizer.generator.learning_rate, 1e-5);
  EXPECT_EQ(gan.optimizer.discriminator.learning_rate, 1e-4);
  for (const optim::UpdateConfig& adam : {gan.optimizer.generator, gan.optimizer.discriminator}) {
    EXPECT_EQ(adam.beta1, 0.5);
    EXPECT_EQ(adam.beta2, 0.999);
    EXPECT_EQ(adam.schedule, optim::UpdateConfig::Schedule::constant);
  }
  const auto& objective = job.inverse().gan.objective;
  EXPECT_EQ(objective.loss, "least_squares");
  EXPECT_EQ(objective.label_real, 1.0);
  EXPECT_EQ(objective.label_synthetic, 0.0);
  EXPECT_EQ(objective.label_generator, 1.0);
  EXPECT_EQ(objective.reference_terms, optim::ReferenceTerms::per_sample);
  EXPECT_EQ(objective.reference_weight, 1.0);
  EXPECT_EQ(job.inverse().data.toy_events, 100'000);
}

TEST(PaperSettings, GiveThePapersNetworks) {
  const run::Workloads workloads = all_workloads();
  const run::Job job = run::read_job(workloads, "proxy1d/paper", {"toy.events=100"});
  const env::Environment environment =
      problem::load_data(*job.inverse().workload, job.inverse().data, 1).training();
  optim::Gan gan(job.inverse().gan, environment, 1, torch::kCPU);
  EXPECT_EQ(gan.generator().size(), 51'206);
  EXPECT_EQ(gan.generator().shared_size(), 50'688);
  EXPECT_EQ(gan.discriminator(0).size(), 50'049);
  const optim::GanBatch batch = gan.batch(1);
  EXPECT_EQ(batch.channels[0].real.sizes(), (std::vector<std::int64_t>{102'400, 2}));
}

}  // namespace
}  // namespace sagips::workloads
