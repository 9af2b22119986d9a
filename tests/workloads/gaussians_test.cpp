// Several data sets behind one set of parameters.
#include "workloads/gaussians/gaussians.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/problem/channel_share.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/run/settings.hpp"
#include "tests/core/message_of.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::workloads {
namespace {

using testing::message_of;

run::Job job_of(const std::vector<std::string>& assignments) {
  run::Workloads workloads("workload");
  workloads.add("gaussians", gaussians_workload());
  return run::read_job(workloads, "gaussians", assignments);
}

env::Environment environment_of(const run::Job& job, bool holds_out = false) {
  const problem::LoadedData data =
      problem::load_data(*job.inverse().workload, job.inverse().data, 1);
  return holds_out ? data.training() : data.all();
}

std::vector<std::string> only(int kept) {
  std::vector<std::string> assignments;
  for (int k = 1; k <= 3; ++k)
    if (k != kept) assignments.push_back("channels.set_" + std::to_string(k) + ".enabled=false");
  return assignments;
}

double error_of(const env::ParameterSet& parameters, const torch::Tensor& proposals) {
  const torch::Tensor mean = proposals.to(torch::kFloat64).mean(0);
  return (mean - parameters.truth()).abs().max().item<double>();
}

TEST(Gaussians, HaveOneChannelForEachDataSetInUse) {
  const env::Environment environment = environment_of(job_of({"channels.set_2.toy_events=123"}));
  ASSERT_EQ(environment.channels.size(), 3U);
  EXPECT_EQ(environment.channels[0].training.size(), 10'000);
  EXPECT_EQ(environment.channels[1].training.size(), 123);
  EXPECT_EQ(environment.suffix(1), " set_2");
  EXPECT_EQ(environment_of(job_of(only(2))).channels[0].name, "set_2");
  EXPECT_EQ(environment_of(job_of({"channels.set_5.enabled=true"})).channels.size(), 4U);
}

TEST(Gaussians, HaveADensityThatIsTheirSamplers) {
  const env::Environment environment = environment_of(job_of({"toy.events=200000"}));
  const torch::Tensor truth = environment.parameters.truth();
  for (const env::Channel& channel : environment.channels) {
    const torch::Tensor probabilities = channel.density->probabilities(truth);
    EXPECT_NEAR(probabilities.sum().item<double>(), 1, 1e-8);
    // -ln L an event of a normal density at the truth: 1 + ln(2 pi 0.3), deviation 1 an event; 5 of
    // them: 5.7e-7 for each of three
    const auto sample = channel.density->sample(channel.training.values, {}, "toys");
    EXPECT_NEAR(channel.density->negative_log_likelihood(truth, sample).item<double>() / 2e5,
                1 + std::log(2 * M_PI * 0.3), 5 / std::sqrt(2e5));
  }
}

TEST(Gaussians, LeaveTwoDirectionsOpenWhereOneDataSetIsAlone) {
  for (const int kept : {1, 2, 3}) {
    const optim::FitResult fit =
        optim::fit_maximum_likelihood(environment_of(job_of(only(kept))), {}, 1);
    EXPECT_EQ(fit.open_directions.size(), 2U);
  }
}

TEST(Gaussians, LeaveTheDirectionOpenThatTwoDataSetsDoNotSee) {
  // set 1 sees p_1 + p_2 / 2 - p_3 / 2 and set 2 -p_1 / 2 + p_2 + p_3 / 2: neither moves along
  // their cross product, (3, -1, 5) / 4
  const optim::FitResult fit = optim::fit_maximum_likelihood(
      environment_of(job_of({"channels.set_3.enabled=false"})), {}, 1);
  EXPECT_EQ(fit.open_directions, std::vector<std::string>{"0.60 p_1 - 0.20 p_2 + p_3"});
}

// Each of three values lies beyond 4.5 errors with probability 7e-6.
TEST(Gaussians, AreSolvedByAllDataSetsTogether) {
  const env::Environment environment = environment_of(job_of({}));
  const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, 1);
  const torch::Tensor truth = environment.parameters.truth();
  const std::vector<double> floors =
      optim::cramer_rao_errors(environment, optim::ReferenceUse::ignore, truth, fit.events);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LT(std::abs(fit.values[i] - truth[static_cast<std::int64_t>(i)].item<double>()),
              4.5 * fit.errors[i]);
    EXPECT_NEAR(fit.errors[i] / floors[i], 1, 0.001);
  }
}

TEST(Gaussians, ShareExpectedEventsOutAsTheDataAre) {
  // a set with a hundredth of the events tells a hundredth
  const env::Environment even = environment_of(job_of({}));
  const env::Environment uneven = environment_of(job_of({"channels.set_3.toy_events=100"}));
  const torch::Tensor truth = even.parameters.truth();
  const auto floors = [&](const env::Environment& environment, double events) {
    return optim::cramer_rao_errors(environment, optim::ReferenceUse::ignore, truth, events);
  };
  const optim::FitResult fit = optim::fit_maximum_likelihood(uneven, {}, 1);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(floors(uneven, 20'100)[i] / fit.errors[i], 1, 0.001);
  EXPECT_GT(floors(uneven, 20'100)[2], 5 * floors(even, 30'000)[2]);
}

optim::GanConfig small_gan(const run::Job& job) {
  optim::GanConfig config = job.inverse().gan;
  config.batch.samples = 16;
  config.generator.network.width = 16;
  config.discriminator.network.width = 16;
  config.dense.library = "libtorch";
  return config;
}

train::LoopConfig epochs(std::int64_t count) {
  train::LoopConfig loop;
  loop.epochs = count;
  return loop;
}

// No false alarm by chance: a run repeats bit for bit. The bar tells learning from no learning: it
// is a tenth of the distance from the middle of the ranges, where a generator begins.
TEST(Gaussians, TeachAGanThroughADiscriminatorEach) {
  const run::Job job = job_of({});
  const env::Environment environment = environment_of(job);
  optim::Gan gan(small_gan(job), environment, 1, torch::kCPU);
  ASSERT_EQ(gan.steps().size(), 4U);
  EXPECT_GT(error_of(environment.parameters, gan.predict(200)), 0.5);
  train::Loop(epochs(700), gan, {}).run();
  const double error = error_of(environment.parameters, gan.predict(200));
  RecordProperty("error", std::to_string(error));
  EXPECT_LT(error, 0.12);
}

TEST(ChannelShare, WeighsChannelsSoThatTheMeanOverRanksIsTheirSum) {
  const env::Environment all = environment_of(job_of({"channels.set_2.weight=3"}));
  for (const std::int64_t ranks : {3, 4, 5, 7}) {
    std::map<std::string, double> sums;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const env::Environment part = problem::channel_share(all, {rank, ranks});
      ASSERT_EQ(part.channels.size(), 1U);
      EXPECT_EQ(part.suffix(0), " " + part.channels[0].name);
      sums[part.channels[0].name] += part.channels[0].weight / static_cast<double>(ranks);
    }
    EXPECT_NEAR(sums.at("set_1"), 1, 1e-12);
    EXPECT_NEAR(sums.at("set_2"), 3, 1e-12);
    EXPECT_NEAR(sums.at("set_3"), 1, 1e-12);
  }
  EXPECT_NE(message_of<core::ConfigError>([&] {
              problem::channel_share(all, {0, 2});
            }).find("ranks.channels: 3 data sets cannot be divided among 2 ranks"),
            std::string::npos);
}

// As above, with each rank on one data set alone.
TEST(ChannelShare, TeachesRanksThatSeeOneDataSetEach) {
  testing::on_ranks(3, [](comm::Ranks& ranks) {
    const run::Job job = job_of({});
    const env::Environment all = environment_of(job);
    const problem::RankPlace place{ranks.rank(), ranks.size()};
    const env::Environment own = problem::channel_share(all, place);
    optim::GanConfig config = small_gan(job);
    config.generator.shared = nn::SharedPart::all;
    optim::Gan gan(config, own, 1, torch::kCPU, place);
    EXPECT_EQ(gan.steps()[1].name, "discriminator set_" + std::to_string(ranks.rank() + 1));
    train::RankExchange exchange(ranks, gan, {.primary = "rabenseifner"}, 1);
    train::Loop::Callbacks callbacks;
    callbacks.exchange = exchange.hooks();
    train::Loop(epochs(700), gan, callbacks).run();
    EXPECT_LT(error_of(all.parameters, gan.predict(200)), 0.12) << "rank " << ranks.rank();
  });
}

TEST(Channels, RefuseAFileForSomeAndNoneForOthers) {
  EXPECT_NE(message_of<core::ConfigError>([] {
              environment_of(job_of({"channels.set_1.data.file=a.npy"}));
            }).find("channels: 'set_1' has a file and 'set_3' has none"),
            std::string::npos);
  EXPECT_NE(message_of<core::ConfigError>([] {
              environment_of(job_of({"data.file=a.npy"}));
            }).find("several channels"),
            std::string::npos);
  EXPECT_NE(message_of<core::ConfigError>([] {
              environment_of(job_of({"channels.set_1.data.maximum_events=5"}));
            }).find("channels.set_1.data.maximum_events"),
            std::string::npos);
  EXPECT_NE(message_of<core::ConfigError>([] {
              std::vector<std::string> none = only(1);
              none.push_back("channels.set_1.enabled=false");
              environment_of(job_of(none));
            }).find("switched off"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::workloads
