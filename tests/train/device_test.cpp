// Trainings on a GPU, by stand-ins that need none: tests/cuda/fake_torch_cuda.cpp and the kernels under tests/cuda/shim.hpp.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>

#include "sagips/nn/device.hpp"
#include "sagips/nn/device_library.hpp"
#include "sagips/nn/script.hpp"
#include "sagips/optim/adversarial/adversarial.hpp"
#include "tests/train/gan_training.hpp"
#include "tests/train/small_learner.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

/// The stand-in, found as a GPU's libraries are.
torch::Device gpu() {
  static const torch::Device device = [] {
    ::setenv("SAGIPS_CUDA_FOLDER", SAGIPS_FAKE_CUDA, 1);
    return nn::device_from_name("cuda");
  }();
  return device;
}

template <class Answer, class... Given>
Answer stand_in(const char* call, Given... given) {
  static void* const library =
      ::dlopen((std::filesystem::path(SAGIPS_FAKE_CUDA) / "libtorch_cuda.so").c_str(), RTLD_NOW);
  return reinterpret_cast<Answer (*)(Given...)>(::dlsym(library, call))(given...);
}
std::int64_t reads() { return stand_in<std::int64_t>("fake_cuda_reads"); }

// 3xTF32 products leave some 1e-6 of a sum's size.
constexpr double rounding = 1e-5;

std::vector<torch::Tensor> first_gradients(const optim::GanConfig& config,
                                           const env::Environment& environment,
                                           torch::Device device) {
  optim::Gan gan(config, environment, 1, device);
  LoopConfig loop = loop_config(1, 0);
  loop.engine.takes_whole_batches = true;
  Loop(loop, gan, {}).run_epochs(1);
  std::vector<torch::Tensor> found;
  for (const optim::UpdateStep& step : gan.steps())
    found.push_back(step.replica->gradients().cpu().clone());
  return found;
}

void expect_the_same_gradients(const optim::GanConfig& config, const env::Environment& environment,
                               const std::string& what) {
  for (const std::string library : {"auto", "libtorch"}) {
    optim::GanConfig chosen = config;
    chosen.dense.library = library;
    const auto here = first_gradients(chosen, environment, torch::kCPU),
               there = first_gradients(chosen, environment, gpu());
    ASSERT_EQ(here.size(), there.size());
    for (std::size_t i = 0; i < here.size(); ++i)
      EXPECT_LT(distance(there[i], here[i]), rounding) << what << ", " << library << ", step " << i;
  }
}

TEST(Gpu, IsNamedInAConfig) {
  EXPECT_EQ(gpu(), torch::Device(torch::kCUDA, 0));
  EXPECT_EQ(nn::device_from_name("cuda:0"), gpu());
  EXPECT_EQ(nn::device_from_name("auto"), gpu());
  EXPECT_EQ(nn::device_from_name("cpu"), torch::Device(torch::kCPU));
  EXPECT_NE(nn::device_library(gpu()), nullptr) << nn::lack_of_passes(gpu());
  nn::take_turn(3);
  EXPECT_EQ(nn::device_from_name("cuda"), gpu()) << "ranks take turns over the GPUs there are";
  for (const std::string wrong : {"cuda:1", "cuda:", "cuda:x", "cuda:-1", "gpu", "CUDA"})
    EXPECT_THROW(nn::device_from_name(wrong), core::ConfigError) << wrong;
}

TEST(Gpu, SaysInALineThatItsMemoryIsFull) {
  try {
    torch::empty({std::int64_t{1} << 40}, torch::dtype(torch::kUInt8).device(gpu()));
    FAIL() << "a terabyte was given";
  } catch (const std::exception& error) {
    EXPECT_EQ(nn::first_line(error).find("out of memory on the GPU. Lower batch"), 0U);
  }
}

TEST(Gpu, HasTheCpusRandomNumbersBitForBit) {
  const auto source = std::make_shared<env::PhiloxNoise>(core::RandomStream(3, "test", 5));
  env::Noise here(source, 7, 11, 2), there(source, 7, 11, 2, torch::kFloat32, gpu());
  EXPECT_TRUE(torch::equal(here.uniform(), there.uniform().cpu()));
  EXPECT_TRUE(torch::equal(here.uniform(3), there.uniform(3).cpu()));
  EXPECT_TRUE(torch::equal(here.uniform(), there.uniform().cpu())) << "the next dimension";
  EXPECT_EQ(there.dimensions(), 5);
}

TEST(Gpu, DrawsTheCpusEvents) {
  const env::Environment environment = small_environment(2);
  const problem::RankPlace second{1, 2};
  const auto batch = [&](torch::Device device) {
    return optim::Gan(small_gan(), environment, 3, device, second).batch(4);
  };
  const optim::GanBatch here = batch(torch::kCPU), there = batch(gpu());
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_TRUE(torch::equal(here.channels[k].real, there.channels[k].real.cpu()));
  EXPECT_TRUE(torch::allclose(here.noise, there.noise.cpu(), 1e-6, 1e-6));
}

TEST(Gpu, HasTheCpusGradientsOfEveryLossAndOrder) {
  const env::Environment environment = small_environment(2);
  for (const std::string& loss : optim::adversarial_losses().names()) {
    optim::GanConfig config = small_gan();
    config.objective.loss = loss;
    if (loss == "wasserstein")
      config.discriminator.gradient_penalty.kind = optim::GradientPenaltyConfig::Kind::wasserstein;
    expect_the_same_gradients(config, environment, loss);
  }
  optim::GanConfig config = small_gan(optim::UpdateOrder::generator_first);
  config.generator.spread_penalty = 0.1;
  config.discriminator.instance_noise = 0.3;
  expect_the_same_gradients(config, environment, "generator first");
  config = small_gan();
  config.optimizer.update = optim::UpdateMode::simultaneous;
  config.discriminator.spectral_norm = true;
  expect_the_same_gradients(config, environment, "simultaneous");
}

TEST(Gpu, GoesOnBitForBit) {
  const env::Environment environment = small_environment();
  const auto after = [&](std::int64_t first, std::int64_t then) {
    optim::Gan before(small_gan(), environment, 1, gpu()),
        after(small_gan(), environment, 1, gpu());
    Loop begun(loop_config(first + then, 0), before, {}),
        ended(loop_config(first + then, 0), after, {});
    begun.run_epochs(first);
    nn::take_state(ended, nn::give_state(begun));
    ended.run_epochs(first + then);
    return after.generator().weights().cpu().clone();
  };
  EXPECT_TRUE(torch::equal(after(6, 0), after(3, 3)));
}

/// What a training tells, and how it ended.
struct Told {
  torch::Tensor weights;
  std::vector<record::EpochDone> epochs;
  std::vector<std::string> warnings;
  std::string error;
  std::int64_t reads = 0;  ///< of numbers on the GPU
};

enum class Steps { graphs, operations };

Told told_of(optim::Optimizer& optimizer, torch::Device device, std::int64_t epochs,
             Steps steps = Steps::graphs, NonFinite non_finite = NonFinite::stop) {
  Told told;
  Loop::Callbacks callbacks;
  if (steps == Steps::operations)  // since ranks may meet within a pass
    callbacks.exchange.add_up = [](std::span<double>) {};
  callbacks.observers.push_back([&told](const record::Event& event) {
    if (const auto* const done = std::get_if<record::EpochDone>(&event))
      told.epochs.push_back(*done);
    if (const auto* const warning = std::get_if<record::Warning>(&event))
      told.warnings.push_back(warning->message);
  });
  LoopConfig config = loop_config(epochs, 0);
  config.non_finite = non_finite;
  config.engine.takes_whole_batches = !device.is_cpu();
  Loop loop(config, optimizer, callbacks);
  const std::int64_t before = reads();
  try {
    loop.run();
  } catch (const core::Error& error) {
    told.error = error.what();
  }
  told.reads = reads() - before;
  told.weights = optimizer.steps().front().replica->weights().cpu().clone();
  return told;
}

Told told_by(const env::Environment& environment, torch::Device device, std::int64_t epochs,
             Steps steps = Steps::graphs, NonFinite non_finite = NonFinite::stop,
             optim::GanConfig small = small_gan()) {
  small.batch = {.samples = 4, .events = 5};
  optim::Gan gan(small, environment, 1, device);
  return told_of(gan, device, epochs, steps, non_finite);
}

void expect_graphs_of(const std::function<Told(Steps)>& train, const std::string& what) {
  const Told graphs = train(Steps::graphs), operations = train(Steps::operations);
  EXPECT_EQ(graphs.error + operations.error, "") << what;
  EXPECT_TRUE(torch::equal(graphs.weights, operations.weights)) << what;
  EXPECT_TRUE(graphs.warnings.empty()) << what << ": " << graphs.warnings.front();
  ASSERT_EQ(graphs.epochs.size(), operations.epochs.size()) << what;
  for (std::size_t i = 0; i < graphs.epochs.size(); ++i)
    for (std::size_t k = 0; k < graphs.epochs[i].losses.size(); ++k)
      EXPECT_EQ(graphs.epochs[i].losses[k].value, operations.epochs[i].losses[k].value) << what;
}

TEST(Gpu, RepeatsAStepAsAGraphBitForBit) {
  const env::Environment environment = small_environment();
  optim::GanConfig penalised = small_gan();
  penalised.discriminator.gradient_penalty.kind = optim::GradientPenaltyConfig::Kind::r1;
  penalised.discriminator.gradient_penalty.every = 2;
  expect_graphs_of(
      [&](Steps steps) {
        return told_by(environment, gpu(), 9, steps, NonFinite::stop, penalised);
      },
      "penalised");
  expect_graphs_of(
      [&](Steps steps) {
        Told told = told_by(environment, gpu(), 5, steps, NonFinite::skip);
        EXPECT_GE(told.reads, 5) << "each step that may be skipped is looked at";
        return told;
      },
      "skipping");
}

// The last batch of 64 rows in batches of 10 has 4.
TEST(Gpu, LearnsFromRowsThatStayThereByGraphs) {
  gpu();
  const data::Examples examples = three_classes(64);
  optim::SupervisedConfig config{.batch = 10};
  config.optimizer.clip_norm = 1;
  config.loss_options.class_weights = {"1", "2", "0.5"};
  for (const std::string& network :
       {dense_layers, std::string("{dense: 8, activation: tanh}, {dropout: 0.5}, {dense: 3}")}) {
    const auto train = [&](Steps steps) {
      optim::Supervised learner(config, {{.network = layers_of(network)}}, data::hold(examples), 1,
                                gpu(), {}, {.class_shares = torch::ones({3}) / 3});
      return told_of(learner, gpu(), 5, steps);
    };
    expect_graphs_of(train, network);
    EXPECT_LE(train(Steps::graphs).reads, 2 * 5) << "of 35 steps";
  }
}

/// Images are made for their class and their sum.
struct Maker {
  struct Config {
    optim::AdversarialConfig learner{};
    void fields(core::FieldList& list) { learner.fields(list); }
  };
  optim::Adversarial learner;

  Maker(torch::Device device, double learning_rate)
      : learner(config_of(learning_rate), data::hold(rows()),
                {{"sum",
                  [](const torch::Tensor& image) {
                    return image.sum({1, 2, 3});
                  }}},
                1, device) {}
  static optim::AdversarialConfig config_of(double learning_rate) {
    const char* const text = R"yaml(
generator:
  noise: 4
  conditions: [kind, sum]
  layers: [{dense: 8, activation: leaky_relu}, {reshape: [2, 2, 2]}, {upsampling: 2},
           {convolution: 1, kernel: 2}, {activation: relu}]
discriminator:
  layers: [{convolution: 2, kernel: 2, activation: leaky_relu}, {flatten: {}}, {dropout: 0.3}]
  heads: {kind: {layers: [{dense: 3}]}}
measures: {sum: {weight: 0.01}}
batch: 8
label_flips: 0.2
)yaml";
    Config config =
        core::read_config(core::ConfigDocument::from_text(text, "maker.yaml"), Config{});
    config.learner.generator.optimizer.learning_rate =
        config.learner.discriminator.optimizer.learning_rate = learning_rate;
    return config.learner;
  }
  // The last batch of 36 has 4.
  static data::Examples rows() {
    torch::manual_seed(4);
    const torch::Tensor kind = torch::arange(36) % 3;
    const torch::Tensor image = torch::rand({36, 1, 3, 3}) + kind.view({36, 1, 1, 1});
    data::Examples named = data::named_examples(
        {{"image", image}}, {{"kind", kind}, {"sum", image.flatten(1).sum(1, true)}});
    named.inputs = image;
    named.tensors = std::make_shared<const data::ExampleTensors>(
        data::ExampleTensors{{}, named.target_tensors()});
    return named;
  }
};

TEST(Gpu, LearnsToMakeExamplesByGraphs) {
  gpu();
  Maker here(torch::kCPU, 2e-4);
  const Told on_cpu = told_of(here.learner, torch::kCPU, 4);
  expect_graphs_of(
      [&](Steps steps) {
        Maker maker(gpu(), 2e-4);
        Told told = told_of(maker.learner, gpu(), 4, steps);
        EXPECT_LT(distance(told.weights, on_cpu.weights), 1e-4) << "rounding";
        EXPECT_TRUE(
            torch::equal(maker.learner.range_of_targets(), here.learner.range_of_targets()));
        EXPECT_EQ(maker.learner.reason_to_stop(), "");
        if (steps == Steps::graphs) {
          EXPECT_LE(told.reads, 3 * 4) << "of 20 steps";
        }
        return told;
      },
      "a generator");
}

TEST(Gpu, EndsWhereAGeneratorHasCollapsed) {
  LoopConfig config = loop_config(200, 0);
  config.engine.takes_whole_batches = true;
  for (const bool keeps_checkpoints : {false, true}) {
    Maker maker(gpu(), 0.3);
    Loop* running = nullptr;
    std::int64_t kept = 0;  // of its checkpoints, the last that was to go on
    Loop::Callbacks callbacks;
    if (keeps_checkpoints)
      callbacks.agree = [&](std::int64_t step, const record::StopReason& reason) {
        nn::give_state(*running);
        if (maker.learner.reason_to_stop().empty()) kept = step;
        return reason;
      };
    Loop loop(config, maker.learner, callbacks);
    running = &loop;
    const LoopResult result = loop.run();
    EXPECT_EQ(result.reason.kind, record::StopReason::Kind::failed);
    EXPECT_NE(result.reason.text.find("the generator has"), std::string::npos)
        << result.reason.text;
    EXPECT_LT(result.epochs, 200);
    if (keeps_checkpoints) {
      EXPECT_EQ(loop.step(), kept + 1);
    }
  }
}

TEST(Gpu, PredictsInPartsWhereItsMemoryEnds) {
  gpu();
  const data::Examples examples = three_classes(40);
  const auto outputs = [&](torch::Device device) {
    return optim::Supervised(plain_steps(8), layers_of("{dense: 1000}, {dense: 3}"), examples, 1,
                             device)
        .predict(*data::hold(examples))
        .outputs;
  };
  const torch::Tensor whole = outputs(torch::kCPU);
  stand_in<void, std::int64_t>("fake_cuda_largest", 100'000);  // a row has 4000
  const torch::Tensor parts = outputs(gpu());
  stand_in<void, std::int64_t>("fake_cuda_largest", -1);
  EXPECT_TRUE(torch::allclose(parts, whole, rounding, rounding));
}

TEST(Gpu, TellsEveryEpochOnceAndInOrder) {
  const env::Environment environment = small_environment();
  const Told there = told_by(environment, gpu(), 34), here = told_by(environment, torch::kCPU, 34);
  ASSERT_EQ(there.epochs.size(), here.epochs.size());
  EXPECT_LE(there.reads, 34) << "now and then, with two numbers each";
  double time_s = 0;
  for (std::size_t i = 0; i < here.epochs.size(); ++i) {
    const record::EpochDone &one = there.epochs[i], &wanted = here.epochs[i];
    EXPECT_EQ(one.epoch, wanted.epoch);
    EXPECT_GE(one.time_s, time_s);
    time_s = one.time_s;
    ASSERT_EQ(one.losses.size(), wanted.losses.size());
    for (std::size_t k = 0; k < one.losses.size(); ++k) {
      EXPECT_EQ(one.losses[k].name, wanted.losses[k].name);
      EXPECT_NEAR(one.losses[k].value, wanted.losses[k].value, 1e-3) << one.losses[k].name;
    }
  }
}

/// Not a number where a proposal's mean is above a bound.
struct Bounded {
  double bound;
  env::Events operator()(env::Events parameters, env::Noise&) const {
    const torch::Tensor mean = parameters.values.select(1, 0).unsqueeze(1);
    parameters.values = parameters.values + torch::sqrt(bound - mean) * 0;
    return parameters;
  }
  std::string name() const { return "bounded"; }
};

env::Environment bounded(double bound) {
  env::Environment environment = small_environment();
  environment.channels[0].pipeline = env::Pipeline{Bounded{bound}, GaussEvents{}};
  return environment;
}

TEST(Gpu, EndsAtTheEpochWhoseGradientIsNotFinite) {
  Told here;
  double bound = 0;
  for (bound = 1.5; bound < 3 && (here.epochs.size() < 4 || here.error.empty()); bound += 0.01)
    here = told_by(bounded(bound), torch::kCPU, 30);
  bound -= 0.01;
  ASSERT_FALSE(here.error.empty());
  const Told there = told_by(bounded(bound), gpu(), 30);
  const auto first_words = [](const std::string& text) { return text.substr(0, text.find('(')); };
  EXPECT_EQ(first_words(there.error), first_words(here.error));
  EXPECT_NE(there.error.find("stage 'bounded'"), std::string::npos) << there.error;
  EXPECT_EQ(there.epochs.size(), here.epochs.size()) << "none is told that moved nothing";
  EXPECT_LT(distance(there.weights, here.weights), 1e-4) << "nothing has moved since";
}

/// Asks the GPU for a number.
struct Curious {
  env::Events operator()(env::Events parameters, env::Noise&) const {
    const double half = parameters.values.sum().item<double>() > 0 ? 0.5 : 0.25;
    parameters.values = parameters.values * (half / half);
    return parameters;
  }
};

TEST(Gpu, SaysWhenAStepCannotBeAGraph) {
  env::Environment environment = small_environment();
  environment.channels[0].pipeline = env::Pipeline{Curious{}, GaussEvents{}};
  const Told told = told_by(environment, gpu(), 8);
  ASSERT_EQ(told.warnings.size(), 1U);
  EXPECT_NE(told.warnings[0].find("operation by operation"), std::string::npos);
  EXPECT_TRUE(
      torch::equal(told.weights, told_by(environment, gpu(), 8, Steps::operations).weights));
}

TEST(Gpu, LearnsFromRowsAsTheCpuDoes) {
  gpu();
  const data::Examples examples = three_classes(60);
  for (const std::string& network :
       {dense_layers, layers_with_norm,
        std::string("{dense: 8, activation: tanh}, {dropout: 0.5}, {dense: 3}"),
        std::string("{dense: 8, activation: leaky_relu}, {dense: 3}"),
        std::string("{reshape: [3, 1]}, {interaction: {messages: [{dense: 4, activation: elu}]}}, "
                    "{flatten: {}}, {dense: 3}")}) {
    const Learned here = learned(1, plain_steps(20), network, examples, 2);
    const Learned there =
        learned(1, plain_steps(20), network, examples, 2, "all_reduce", {}, gpu());
    expect_alike(there.weights, here.weights, rounding, network);
    if (here.statistics.numel() > 0)
      expect_alike(there.statistics, here.statistics, rounding, network);
  }
}

// Factors of 10 bits.
TEST(Gpu, ConvolvesImagesOfThreeDimensionsByItsOwnPasses) {
  gpu();
  const auto network = [] {
    struct List {
      std::vector<nn::LayerConfig> layers{};
      void fields(core::FieldList& list) { list.list("layers", layers, nn::LayerConfig::help()); }
    };
    const List config = core::read_config(
        core::ConfigDocument::from_text(
            "layers: [{convolution: 3, kernel: 3, padding: same, activation: leaky_relu}, "
            "{convolution: 2, kernel: [2, 3, 2], bias: false}, {flatten: {}}, {dense: 3}]\n",
            "layers.yaml"),
        List{});
    return std::make_shared<nn::LayeredNetwork>(config.layers, nn::Shape{1, 5, 4, 6});
  }();
  data::Examples examples = three_classes(6);
  examples.inputs = torch::sin(torch::arange(6 * 120, torch::kFloat32)).view({6, 1, 5, 4, 6});
  const auto gradients = [&](torch::Device device) {
    optim::Supervised learner(plain_steps(6), network, examples, 1, device);
    LoopConfig config;
    config.epochs = 1;
    Loop(config, learner, {}).run_epochs(1);
    return learner.replica().gradients().cpu().clone();
  };
  const torch::Tensor here = gradients(torch::kCPU);
  EXPECT_LT(distance(gradients(gpu()), here), rounding) << "LibTorch's";
  nn::set_precision(nn::Precision::tf32);
  const torch::Tensor rounded = gradients(gpu());
  nn::set_precision(nn::Precision::float32);
  EXPECT_LT(distance(rounded, here), 3e-3);
  EXPECT_GT(distance(rounded, here), 1e-5) << "they were not used";
}

TEST(Gpu, RanksExchangeThroughThisMachinesMemory) {
  gpu();
  const data::Examples examples = three_classes(64);
  for (const std::string name : {"all_reduce", "arar", "gossip", "averaged", "adasum", "served"}) {
    comm::ExchangesConfig exchanges;
    exchanges.served.synchronous = true;
    const auto on = [&](torch::Device device) {
      return learned(2, plain_steps(8), layers_with_norm, examples, 3, name, exchanges, device);
    };
    const Learned here = on(torch::kCPU), there = on(gpu());
    expect_alike(there.weights, here.weights, rounding, name);
    expect_alike(there.statistics, here.statistics, rounding, name);
    EXPECT_EQ(there.calls, here.calls) << name;
  }
}

/// The folder of the stand-ins, but for a file that is no library.
struct WithoutNccl {
  WithoutNccl() {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "libnccl.so.2") << "none\n";
    ::setenv("SAGIPS_CUDA_FOLDER", folder.c_str(), 1);
  }
  ~WithoutNccl() { ::setenv("SAGIPS_CUDA_FOLDER", SAGIPS_FAKE_CUDA, 1); }
  WithoutNccl(const WithoutNccl&) = delete;
  WithoutNccl& operator=(const WithoutNccl&) = delete;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "sagips_without_nccl";
};

comm::ExchangesConfig between_gpus() {
  comm::ExchangesConfig exchanges;
  exchanges.memory = comm::ExchangesConfig::Memory::gpu;
  exchanges.running_statistics = comm::ExchangesConfig::RunningStatistics::averaged;
  return exchanges;
}

TEST(Gpu, RanksExchangeBetweenGpus) {
  gpu();
  // Of 26 rows the last batch has two, so that one of three ranks has none.
  for (const auto& [network, rows] :
       {std::pair(layers_with_norm, 64), std::pair(dense_layers, 26)}) {
    const data::Examples examples = three_classes(rows);
    const auto on = [&, &network = network](comm::ExchangesConfig::Memory memory,
                                            torch::Device device) {
      comm::ExchangesConfig exchanges = between_gpus();
      exchanges.memory = memory;
      return learned(3, plain_steps(8), network, examples, 4, "all_reduce", exchanges, device);
    };
    const Learned here = on(comm::ExchangesConfig::Memory::host, torch::kCPU),
                  there = on(comm::ExchangesConfig::Memory::gpu, gpu());
    expect_alike(there.weights, here.weights, rounding, network);
    if (here.statistics.numel() > 0)
      expect_alike(there.statistics, here.statistics, rounding, network);
    EXPECT_TRUE(there.same_statistics);
    EXPECT_EQ(there.calls, here.calls);
  }
}

TEST(Gpu, TwoNetworksExchangeBetweenGpusAsThroughTheHost) {
  const auto weights = [](const comm::ExchangesConfig& exchanges) {
    torch::Tensor found;
    on_ranks(2, [&](comm::Ranks& ranks) {
      ExchangeChoice choice{.primary = "all_reduce", .others = {{"discriminator", "all_reduce"}}};
      choice.config = exchanges;
      SmallTraining training(ranks, fully_shared_gan(4), choice, SmallTraining::epochs(5), gpu());
      training.loop.run_epochs(5);
      const auto reports = training.exchange.reports(5);
      EXPECT_EQ(reports.size(), 2U);
      for (const record::Exchanged& report : reports) {
        EXPECT_EQ(report.calls, 5);
        EXPECT_EQ(report.copying_s > 0, exchanges.memory == comm::ExchangesConfig::Memory::host);
      }
      if (ranks.is_first()) found = training.weights();
    });
    return found;
  };
  const torch::Tensor through_host = weights({}), between = weights(between_gpus());
  EXPECT_LT(distance(between, through_host), 1e-4) << "Adam makes rounding larger";
}

TEST(Gpu, SaysWhoCannotExchangeBetweenGpus) {
  gpu();
  const auto refusal = [](const std::string& exchange, torch::Device second = gpu()) {
    std::array<std::string, 2> said;
    on_ranks(2, [&](comm::Ranks& ranks) {
      optim::Supervised learner(plain_steps(8), layers_of(dense_layers), three_classes(64), 1,
                                ranks.is_first() ? gpu() : second, {ranks.rank(), ranks.size()});
      try {
        RankExchange(ranks, learner, {.primary = exchange, .config = between_gpus()}, 1);
      } catch (const core::ConfigError& error) {
        said.at(static_cast<std::size_t>(ranks.rank())) = error.what();
      }
    });
    EXPECT_EQ(said[0], said[1]) << "all ranks or none";
    return said[0];
  };
  EXPECT_NE(refusal("ring").find("all_reduce"), std::string::npos);
  EXPECT_NE(refusal("all_reduce", torch::kCPU).find("some ranks work on a CPU"), std::string::npos);
  const WithoutNccl without;
  EXPECT_NE(refusal("all_reduce").find("NCCL is not here"), std::string::npos);
}

TEST(Gpu, DoesNotWaitForARankThatDoesNotCome) {
  gpu();
  on_ranks(2, [](comm::Ranks& ranks) {
    ranks.timeout().set_config({.timeout_s = 0.2, .alarmed = {}});
    optim::Supervised learner(plain_steps(8), layers_of(dense_layers), three_classes(64), 1, gpu(),
                              {ranks.rank(), ranks.size()});
    RankExchange exchange(ranks, learner, {.primary = "all_reduce", .config = between_gpus()}, 1);
    if (!ranks.is_first()) return;
    Loop::Callbacks callbacks;
    callbacks.exchange = exchange.hooks();
    Loop loop(LoopConfig{}, learner, callbacks);
    EXPECT_THROW(loop.run_steps(1), comm::CommError);
  });
}

TEST(Gpu, RanksGoOnBitForBit) {
  for (const std::string name : {"arar_arar", "gossip", "adasum"})
    on_ranks(2, [&](comm::Ranks& ranks) {
      const auto train = [&](std::int64_t first) {
        const auto training = [&] {
          return std::make_unique<SmallTraining>(ranks, fully_shared_gan(4),
                                                 ExchangeChoice{.primary = name},
                                                 SmallTraining::epochs(4), gpu());
        };
        const auto begun = training(), ended = training();
        begun->loop.run_epochs(first);
        nn::take_state(*ended, nn::give_state(*begun));
        ended->loop.run_epochs(4);
        return ended->weights();
      };
      EXPECT_TRUE(torch::equal(train(4), train(2))) << name;
    });
}

// In place of NCCL; the last test, as the memory stays open.
TEST(Gpu, RanksExchangeByAnMpiThatReachesGpus) {
  gpu();
  stand_in<void>("fake_cuda_open");
  const WithoutNccl without;
  std::array<torch::Tensor, 2> found;
  comm::run_ranks({.ranks = 2, .reaches_gpus = true}, [&](comm::Communicator& communicator) {
    comm::Ranks ranks(communicator);
    torch::Tensor gradients = torch::full({5}, 1.0F + static_cast<float>(ranks.rank())).to(gpu());
    const comm::Site site = ranks.site(5, 1);
    comm::ExchangeDriver driver(
        std::make_unique<GpuMean>(site, std::make_shared<GpuSums>(ranks, gpu())), site, 0,
        "a test");
    const std::span<float> numbers(gradients.data_ptr<float>(), 5);
    driver.start({numbers, numbers}, {1});
    driver.finish();
    found.at(static_cast<std::size_t>(ranks.rank())) = gradients.cpu();
    EXPECT_EQ(driver.exchange().description(), "MPI over the GPUs of 2 ranks");
    ranks.gather(0);
  });
  for (const torch::Tensor& one : found) EXPECT_TRUE(torch::equal(one, torch::full({5}, 1.5F)));
}

}  // namespace
}  // namespace sagips::train
