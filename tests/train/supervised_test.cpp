#include "sagips/optim/learn/supervised.hpp"

#include <gtest/gtest.h>
#include <torch/nn.h>
#include <torch/optim.h>

#include <cmath>
#include <limits>
#include <set>

#include "sagips/core/error.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/nn/module.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/train/loop.hpp"
#include "tests/core/message_of.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using data::Examples;
using optim::Supervised;
using testing::message_of;

struct LayerList {
  std::vector<nn::LayerConfig> layers{};
  void fields(core::FieldList& list) { list.list("layers", layers, nn::LayerConfig::help()); }
};

std::shared_ptr<const nn::Network> network_of(const std::string& yaml, const nn::Shape& input) {
  const LayerList config = core::read_config(
      core::ConfigDocument::from_text("layers: [" + yaml + "]\n", "layers.yaml"), LayerList{});
  return std::make_shared<nn::LayeredNetwork>(config.layers, input);
}

const std::string two_layers = "{dense: 8, activation: tanh}, {dense: 3}";
const std::string with_dropout = "{dense: 8, activation: tanh}, {dropout: 0.3}, {dense: 3}";

/// Points of the plane in three sectors; the first input is the row's number over a million.
Examples sectors(std::int64_t rows) {
  torch::manual_seed(1);
  Examples examples;
  examples.inputs = torch::randn({rows, 3});
  examples.inputs.select(1, 0).copy_(torch::arange(rows) * 1e-6);
  const torch::Tensor angle =
      torch::atan2(examples.inputs.select(1, 1), examples.inputs.select(1, 2));
  examples.targets = ((angle / (2 * M_PI) + 0.5) * 3).floor().clamp(0, 2).to(torch::kInt64);
  return examples;
}

std::map<std::string, double> metrics_of(const Supervised& learner, const Examples& examples) {
  return learner.metrics(learner.predict(*data::hold(examples)));
}

LoopConfig epochs(std::int64_t count) {
  LoopConfig config;
  config.epochs = count;
  return config;
}

TEST(Supervised, SeesEachRowOnceADataEpochWhateverTheRanks) {
  for (const std::int64_t rows : {7, 100, 101, 257})
    for (const std::int64_t ranks : {1, 2, 3, 8}) {
      if (rows < ranks) continue;
      std::vector<std::multiset<std::int64_t>> seen(2);
      std::vector<std::int64_t> first_order;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const Supervised learner({.batch = 10}, network_of(two_layers, {3}), sectors(rows), 1,
                                 torch::kCPU, {rank, ranks});
        for (std::size_t epoch = 0; epoch < 2; ++epoch)
          for (std::int64_t step = 1; step <= learner.steps_per_epoch(); ++step) {
            const auto batch = learner.draw(static_cast<std::uint32_t>(
                static_cast<std::int64_t>(epoch) * learner.steps_per_epoch() + step));
            const torch::Tensor numbers =
                (Supervised::inputs_of(*batch).select(1, 0) * 1e6).round().to(torch::kInt64);
            for (std::int64_t i = 0; i < numbers.size(0); ++i)
              seen[epoch].insert(numbers[i].item<std::int64_t>());
          }
      }
      for (const auto& epoch : seen) {
        EXPECT_EQ(epoch.size(), static_cast<std::size_t>(rows)) << ranks;
        EXPECT_EQ(std::set(epoch.begin(), epoch.end()).size(), static_cast<std::size_t>(rows));
      }
    }
}

// Whoever computes it, the mean over the ranks' gradients is the gradient of one rank's larger batch.
TEST(Supervised, RanksTogetherAreOneRankWithALargerBatch) {
  for (const std::int64_t rows :
       {64, 52, 33}) {  // the last ones leave short batches, three ranks none
    Supervised whole({.batch = 32}, network_of(with_dropout, {3}), sectors(rows), 1, torch::kCPU);
    torch::Tensor mean = torch::zeros_like(whole.replica().gradients());
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      Supervised part({.batch = 8}, network_of(with_dropout, {3}), sectors(rows), 1, torch::kCPU,
                      {rank, 4});
      const auto batch = part.draw(2);
      Engine({}).gradients(part.passes()[0], part.steps(), *batch, {});
      mean += part.replica().gradients() / 4;
    }
    const auto batch = whole.draw(2);
    Engine({}).gradients(whole.passes()[0], whole.steps(), *batch, {});
    EXPECT_LT((mean - whole.replica().gradients()).norm().item<double>(),
              1e-6 * mean.norm().item<double>())
        << rows;
  }
}

TEST(Supervised, TwoRanksLearnWhatOneLearnsFromTwiceTheBatch) {
  const Examples examples = sectors(90);  // threads share LibTorch's generator
  const auto weights_of = [&](int count, std::int64_t batch) {
    torch::Tensor weights;
    sagips::testing::on_ranks(count, [&](comm::Ranks& ranks) {
      Supervised learner({.batch = batch}, network_of(with_dropout, {3}), examples, 1, torch::kCPU,
                         {ranks.rank(), ranks.size()});
      RankExchange exchange(ranks, learner, {.primary = "all_reduce"}, 1);
      Loop::Callbacks callbacks;
      if (count > 1) callbacks.exchange = exchange.hooks();
      Loop(epochs(2), learner, callbacks).run_steps(5);
      if (ranks.is_first()) weights = learner.replica().weights().clone();
    });
    return weights;
  };
  const torch::Tensor alone = weights_of(1, 40), together = weights_of(2, 20);
  EXPECT_LT((alone - together).norm().item<double>(), 1e-5 * alone.norm().item<double>());
}

TEST(Supervised, GivesTheGradientsOfLibTorchInAnyTilesAndThreads) {
  const Examples examples = sectors(60);
  torch::nn::Sequential peer(torch::nn::Linear(3, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3));
  for (const int threads : {1, 2, 4})
    for (const std::int64_t tile : {0, 7}) {
      Supervised learner({.batch = 60}, network_of(two_layers, {3}), examples, 1, torch::kCPU);
      const auto theirs = peer->parameters();
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        torch::NoGradGuard no_grad;
        theirs[i].copy_(learner.replica().view(learner.replica().weights(), i));
        theirs[i].mutable_grad() = torch::Tensor();
      }
      torch::cross_entropy_loss(peer->forward(examples.inputs), examples.targets).backward();
      const auto batch = learner.draw(1);
      Engine({.tile_samples = tile, .threads = threads})
          .gradients(learner.passes()[0], learner.steps(), *batch, {});
      for (std::size_t i = 0; i < theirs.size(); ++i)
        EXPECT_LT((learner.replica().view(learner.replica().gradients(), i) - theirs[i].grad())
                      .norm()
                      .item<double>(),
                  1e-5 * theirs[i].grad().norm().item<double>());
    }
}

/// One network written in several ways, and LibTorch's own with its own optimizer.
struct Forms {
  std::function<torch::nn::Sequential()> reference;
  std::vector<std::pair<std::string, std::string>> written;  ///< layers, and `dense.library`
  nn::Shape input;

  Examples examples(std::int64_t rows) const {
    Examples all = sectors(rows);
    nn::Shape shape = input;
    shape.insert(shape.begin(), rows);
    const torch::Tensor further = torch::randn({rows, nn::numbers_in(input) - 3});
    all.inputs = torch::cat({all.inputs, further}, 1).reshape(shape).contiguous();
    return all;
  }
  std::unique_ptr<Supervised> learner(std::size_t form, const Examples& examples) const {
    nn::add_module("of_this_test", [this](const nn::Shape&) { return reference(); });
    optim::SupervisedConfig config{.batch = 20};
    config.optimizer = {.learning_rate = 1e-2, .beta1 = 0.9};
    config.dense.library = written[form].second;
    return std::make_unique<Supervised>(config, network_of(written[form].first, input), examples, 1,
                                        torch::kCPU);
  }
};

const std::vector<Forms>& all_forms() {
  namespace t = torch::nn;
  static const std::vector<Forms> all = {
      {[] {
         return t::Sequential(t::Linear(3, 8), t::Tanh(), t::Linear(8, 6), t::Tanh(),
                              t::Linear(6, 3));
       },
       {{"{dense: 8, activation: tanh}, {dense: 6, activation: tanh}, {dense: 3}", "auto"},
        {"{dense: 8, activation: tanh}, {dense: 6, activation: tanh}, {dense: 3}", "libtorch"},
        {"{dense: 8}, {activation: tanh}, {dense: 6}, {activation: tanh}, {dense: 3}", "auto"},
        {"{module: of_this_test}", "auto"}},
       {3}},
      {[] {
         return t::Sequential(t::Conv2d(1, 4, 3), t::ReLU(), t::MaxPool2d(2), t::Flatten(),
                              t::Linear(16, 3));
       },
       {{"{convolution: 4, kernel: [3, 3], activation: relu}, {max_pooling: [2, 2]}, {flatten: "
         "{}}, "
         "{dense: 3}",
         "auto"},
        {"{module: of_this_test}", "auto"}},
       {1, 6, 6}}};
  return all;
}

torch::Tensor rows_of(const optim::Batch& batch) {
  const torch::Tensor numbers = Supervised::inputs_of(batch).flatten(1).select(1, 0);
  return (numbers * 1e6).round().to(torch::kInt64);
}

/// Steps of LibTorch's Adam on the batches that a learner draws; before each of them `at` sees the
/// reference with its gradients. Returns the loss over all rows at the end.
double learn_reference(const Supervised& drawing, torch::nn::Sequential reference,
                       const Examples& examples,
                       const std::function<void(const optim::Batch&, torch::nn::Sequential&)>& at) {
  torch::optim::Adam adam(reference->parameters(), torch::optim::AdamOptions(1e-2));
  for (std::uint32_t step = 1; step <= 100; ++step) {
    const auto batch = drawing.draw(step);
    const Examples chosen = examples.chosen(rows_of(*batch));
    adam.zero_grad();
    torch::cross_entropy_loss(reference->forward(chosen.inputs), chosen.targets).backward();
    at(*batch, reference);
    adam.step();
  }
  const torch::NoGradGuard no_grad;
  return torch::cross_entropy_loss(reference->forward(examples.inputs), examples.targets)
      .item<double>();
}

void copy_weights(torch::nn::Sequential& from, nn::Replica& to) {
  const torch::NoGradGuard no_grad;
  const auto theirs = from->parameters();
  ASSERT_EQ(theirs.size(), to.parameters().size());
  for (std::size_t i = 0; i < theirs.size(); ++i) to.view(to.weights(), i).copy_(theirs[i]);
}

TEST(Supervised, HasTheGradientsOfLibTorchInEachFormOfANetwork) {
  for (const Forms& forms : all_forms())
    for (std::size_t form = 0; form < forms.written.size(); ++form) {
      const Examples examples = forms.examples(90);
      const auto learner = forms.learner(form, examples);
      std::vector<std::unique_ptr<Engine>> engines;
      for (const int threads : {1, 2, 4})
        engines.push_back(
            std::make_unique<Engine>(EngineConfig{.tile_samples = 7, .threads = threads}));
      double worst = 0;
      const auto compare = [&](const optim::Batch& drawn, torch::nn::Sequential& reference) {
        copy_weights(reference, learner->replica());
        const auto batch = learner->draw(drawn.step);
        for (const auto& engine : engines) {
          engine->gradients(learner->passes()[0], learner->steps(), *batch, {});
          const auto theirs = reference->parameters();
          for (std::size_t i = 0; i < theirs.size(); ++i) {
            const torch::Tensor ours = learner->replica().view(learner->replica().gradients(), i);
            worst = std::max(
                worst, ((ours - theirs[i].grad()).norm() / theirs[i].grad().norm().clamp_min(1e-12))
                           .item<double>());
          }
        }
      };
      torch::manual_seed(4);
      learn_reference(*learner, forms.reference(), examples, compare);
      EXPECT_LT(worst, 1e-5) << forms.written[form].first << ", " << forms.written[form].second;
    }
}

TEST(Supervised, LearnsAsLibTorchDoesInEachFormOfANetwork) {
  for (const Forms& forms : all_forms())
    for (std::size_t form = 0; form < forms.written.size(); ++form) {
      const Examples examples = forms.examples(90);
      const auto learner = forms.learner(form, examples);
      torch::manual_seed(4);
      torch::nn::Sequential reference = forms.reference();
      copy_weights(reference, learner->replica());
      Loop(epochs(1000), *learner, {}).run_steps(100);
      const double theirs =
          learn_reference(*learner, reference, examples, [](const auto&, auto&) {});
      EXPECT_NEAR(metrics_of(*learner, examples).at("loss"), theirs, 1e-3)
          << forms.written[form].first << ", " << forms.written[form].second;
    }
}

TEST(Supervised, LearnsToTellClassesApart) {
  Supervised learner({.batch = 50, .optimizer = {.learning_rate = 0.01, .beta1 = 0.9}},
                     network_of("{dense: 16, activation: relu}, {dense: 3}", {3}), sectors(600), 1,
                     torch::kCPU);
  EXPECT_EQ(learner.steps_per_epoch(), 12);
  std::vector<double> losses;
  Loop::Callbacks callbacks;
  callbacks.observers = {[&](const record::Event& event) {
    if (const auto* done = std::get_if<record::EpochDone>(&event))
      losses.push_back(done->losses.at(0).value);
  }};
  Loop(epochs(40), learner, callbacks).run();
  ASSERT_EQ(losses.size(), 40U) << "told once a data epoch";
  EXPECT_NEAR(losses.front(), std::log(3.0), 0.3);
  EXPECT_LT(losses.back(), 0.3 * losses.front());
  EXPECT_GT(metrics_of(learner, sectors(600)).at("accuracy"), 0.95);
}

// In the middle of a data epoch, too; batch norm and dropout included.
TEST(Supervised, GoesOnFromItsState) {
  const auto make = [] {
    return std::make_unique<Supervised>(
        optim::SupervisedConfig{.batch = 20},
        network_of("{dense: 8}, {batch_norm: {}}, {dropout: 0.3}, {dense: 3}", {3}), sectors(90), 1,
        torch::kCPU);
  };
  const auto straight = make(), begun = make(), resumed = make();
  Loop whole(epochs(6), *straight, {}), first(epochs(6), *begun, {}),
      second(epochs(6), *resumed, {});
  whole.run_epochs(4);
  first.run_steps(7);
  nn::take_state(second, nn::give_state(first));
  EXPECT_EQ(second.epoch(), 1);
  second.run_epochs(4);
  EXPECT_TRUE(torch::equal(resumed->replica().weights(), straight->replica().weights()));
  EXPECT_TRUE(torch::equal(nn::give_state(resumed->replica()).at("buffers"),
                           nn::give_state(straight->replica()).at("buffers")));
}

TEST(Supervised, HasSeveralNetworksOneBehindTheOther) {
  const Examples examples = sectors(90);
  const optim::SupervisedConfig config{.batch = 90};
  Supervised whole(config, network_of(two_layers, {3}), examples, 1, torch::kCPU);
  Supervised parts(config,
                   {{"body", network_of("{dense: 8, activation: tanh}", {3}), 0},
                    {"head", network_of("{dense: 3}", {8})}},
                   data::hold(examples), 1, torch::kCPU);
  EXPECT_EQ(parts.weights(), whole.weights());
  ASSERT_EQ(parts.steps().size(), 2U);
  whole.replica().weights().copy_(
      torch::cat({parts.steps()[0].replica->weights(), parts.steps()[1].replica->weights()}));
  for (Supervised* learner : {&whole, &parts})
    Engine({.tile_samples = 7, .threads = 2})
        .gradients(learner->passes()[0], learner->steps(), *learner->draw(1), {});
  const torch::Tensor theirs = whole.replica().gradients(),
                      ours = torch::cat({parts.steps()[0].replica->gradients(),
                                         parts.steps()[1].replica->gradients()});
  EXPECT_LT((ours - theirs).norm().item<double>(), 1e-5 * theirs.norm().item<double>());
  EXPECT_NEAR(metrics_of(parts, examples).at("loss"), metrics_of(whole, examples).at("loss"), 1e-6);
  const torch::Tensor body = parts.steps()[0].replica->weights().clone(),
                      head = parts.steps()[1].replica->weights().clone();
  Loop(epochs(5), parts, {}).run();
  EXPECT_TRUE(torch::equal(parts.steps()[0].replica->weights(), body)) << "its rate is 0";
  EXPECT_FALSE(torch::equal(parts.steps()[1].replica->weights(), head));
}

// 90 rows: 5 steps an epoch before, 9 or 1 afterwards. Three of five steps are over, so 5 of 9, or none of one.
TEST(Supervised, GoesOnAtItsEpochWithAnotherBatch) {
  const auto make = [](std::int64_t batch) {
    return std::make_unique<Supervised>(optim::SupervisedConfig{.batch = batch},
                                        network_of(two_layers, {3}), sectors(90), 1, torch::kCPU);
  };
  for (const std::int64_t batch : {10, 90}) {
    const auto begun = make(20), resumed = make(batch);
    Loop first(epochs(6), *begun, {}), second(epochs(6), *resumed, {});
    first.run_steps(2 * 5 + 3);
    nn::take_state(second, nn::give_state(first));
    EXPECT_EQ(second.epoch(), 2);
    EXPECT_EQ(second.step(), batch == 10 ? 2 * 9 + 5 : 2) << "as much of the third is over";
    EXPECT_TRUE(torch::equal(resumed->replica().weights(), begun->replica().weights()));
    EXPECT_EQ(second.run().epochs, 6);
  }
}

TEST(Supervised, HasTheLossesOfLibTorch) {
  torch::manual_seed(2);
  const torch::Tensor outputs = torch::randn({20, 4}), positive = torch::rand({20, 4});
  const torch::Tensor classes = torch::randint(0, 4, {20}, torch::kInt64);
  const auto mean = [&](const std::string& name, const torch::Tensor& targets) {
    return optim::loss_named(name, "loss").rows(outputs, targets).mean().item<double>();
  };
  const torch::Tensor shares = positive / positive.sum(1, true);
  EXPECT_NEAR(mean("cross_entropy", classes),
              torch::cross_entropy_loss(outputs, classes).item<double>(), 1e-6);
  EXPECT_NEAR(mean("binary_cross_entropy", positive),
              torch::binary_cross_entropy_with_logits(outputs, positive).item<double>(), 1e-6);
  EXPECT_NEAR(mean("mean_square", positive), torch::mse_loss(outputs, positive).item<double>(),
              1e-6);
  EXPECT_NEAR(mean("mean_absolute", positive), torch::l1_loss(outputs, positive).item<double>(),
              1e-6);
  EXPECT_NEAR(mean("smooth_l1", positive), torch::smooth_l1_loss(outputs, positive).item<double>(),
              1e-6);
  EXPECT_NEAR(mean("poisson", positive),
              torch::poisson_nll_loss(outputs, positive, true, false, 1e-8, at::Reduction::Mean)
                  .item<double>(),
              1e-6);
  EXPECT_NEAR(
      mean("kullback_leibler", shares),
      torch::kl_div(torch::log_softmax(outputs, 1), shares, at::Reduction::Sum).item<double>() / 20,
      1e-6);
}

// LibTorch's cross entropy of all rows at once, with weights of classes and smooth labels.
TEST(Supervised, HasTheClassWeightsAndSmoothLabelsOfLibTorch) {
  const Examples examples = sectors(60);
  const auto rows = data::hold(examples);
  const data::RowStatistics statistics = data::statistics_of(*rows, false, false);
  const torch::Tensor counts = torch::bincount(examples.targets).to(torch::kFloat32);
  for (const double smoothing : {0.0, 0.2})
    for (const auto& [given, weights] :
         {std::pair(std::vector<std::string>{}, torch::ones({3})),
          std::pair(std::vector<std::string>{"1", "9", "0.5"}, torch::tensor({1.0F, 9.0F, 0.5F})),
          std::pair(std::vector<std::string>{"balanced"}, 1 / counts)}) {
      const optim::LossOptions options{.label_smoothing = smoothing, .class_weights = given};
      Supervised learner({.batch = 60, .loss_options = options},
                         {{.network = network_of(two_layers, {3})}}, rows, 1, torch::kCPU, {},
                         statistics);
      const auto batch = learner.draw(1);
      Engine({}).gradients(learner.passes()[0], learner.steps(), *batch, {});
      const torch::Tensor outputs = learner.predict(*rows).outputs;
      const double expected = torch::cross_entropy_loss(outputs, examples.targets, weights,
                                                        at::Reduction::Mean, -100, smoothing)
                                  .item<double>();
      EXPECT_NEAR(metrics_of(learner, examples).at("loss"), expected, 1e-5 * expected);
      const torch::Tensor gradients = learner.replica().gradients().clone();
      learner.replica().weights().sub_(gradients, 1e-3 / gradients.norm().item<double>());
      EXPECT_NEAR(expected - metrics_of(learner, examples).at("loss"),
                  1e-3 * gradients.norm().item<double>(), 2e-5 * expected)
          << "the steps are down the same loss";
    }
}

// A factor that all rows have in common changes no bit of a gradient.
TEST(Supervised, DividesWeightsByTheirMean) {
  Examples examples = sectors(60);
  const auto gradients_of = [&](double factor) {
    examples.weights = torch::arange(1, 61).to(torch::kFloat32).remainder(4) * factor;
    const auto rows = data::hold(examples);
    Supervised learner({.batch = 25}, {{.network = network_of(two_layers, {3})}}, rows, 1,
                       torch::kCPU, {}, data::statistics_of(*rows, false, false));
    const auto batch = learner.draw(2);
    Engine({}).gradients(learner.passes()[0], learner.steps(), *batch, {});
    return learner.replica().gradients().clone();
  };
  const torch::Tensor plain = gradients_of(1);
  for (const double factor : {1e-20, 1e-6, 1e6, 1e20})
    EXPECT_LT((gradients_of(factor) - plain).norm().item<double>(),
              1e-6 * plain.norm().item<double>())
        << factor;
}

TEST(Supervised, SaysInTheUnitsOfTheDataWhatItLearnsFromStandardisedTargets) {
  Examples examples = sectors(60);
  examples.targets = examples.inputs.select(1, 1).unsqueeze(1) * 300 + 1500;
  const auto rows = data::hold(examples);
  const data::RowStatistics statistics = data::statistics_of(*rows, false, true);
  Supervised learner({.batch = 60, .loss = "mean_square"},
                     {{.network = network_of("{dense: 1}", {3})}}, rows, 1, torch::kCPU, {},
                     statistics);
  const optim::Prediction prediction = learner.predict(*rows);
  const torch::Tensor deviation = examples.targets.std(0, /*unbiased=*/false);
  const torch::Tensor said = prediction.outputs * deviation + examples.targets.mean(0);
  EXPECT_LT((learner.loss().predicted(prediction.outputs) - said).abs().max().item<double>(), 1e-2);
  const auto found = learner.metrics(prediction);
  const double square = (said - examples.targets).square().mean().item<double>();
  EXPECT_NEAR(found.at("mean_square_error"), square, 1e-4 * square);
  EXPECT_NEAR(found.at("loss"), square / deviation.square().item<double>(),
              1e-4 * found.at("loss"));
}

TEST(Metrics, AreWhatTheirNamesSay) {
  const torch::Tensor outputs =
      torch::tensor({{4.0F, 3.0F, 2.0F, 1.0F}, {1.0F, 2.0F, 3.0F, 4.0F}, {4.0F, 1.0F, 2.0F, 3.0F}});
  const torch::Tensor classes = torch::tensor({0, 1, 3}, torch::kInt64);
  const auto found =
      optim::metrics(optim::loss_named("cross_entropy", "loss"), outputs, classes, {});
  EXPECT_NEAR(found.at("accuracy"), 1.0 / 3, 1e-12);
  EXPECT_NEAR(found.at("top_3_accuracy"), 1, 1e-12);
  const auto weighted = optim::metrics(optim::loss_named("cross_entropy", "loss"), outputs, classes,
                                       torch::tensor({3.0F, 1.0F, 0.0F}));
  EXPECT_NEAR(weighted.at("accuracy"), 0.75, 1e-12);
  // rows of classes 0, 1, 3 are taken for 0, 3, 0
  EXPECT_NEAR(found.at("recall/0"), 1, 1e-12);
  EXPECT_NEAR(found.at("recall/3"), 0, 1e-12);
  EXPECT_NEAR(found.at("precision/0"), 0.5, 1e-12);
  EXPECT_NEAR(weighted.at("precision/0"), 1, 1e-12) << "the wrong one has no weight";
  EXPECT_TRUE(std::isnan(found.at("recall/2"))) << "no row is of it";
  const auto regression =
      optim::metrics(optim::loss_named("smooth_l1", "loss"),
                     torch::tensor({{1.0F, 2.0F}, {3.0F, 5.0F}}), torch::ones({2, 2}), {});
  EXPECT_NEAR(regression.at("mean_square_error"), 21.0 / 4, 1e-6);
  EXPECT_NEAR(regression.at("mean_absolute_error"), 7.0 / 4, 1e-6);
  const auto named = optim::metrics(optim::loss_named("smooth_l1", "loss"),
                                    torch::tensor({{1.0F, 2.0F}, {3.0F, 5.0F}}),
                                    torch::ones({2, 2}), {}, 3, {"mass", "energy"});
  EXPECT_NEAR(named.at("mean_square_error/mass"), 2, 1e-6);
  EXPECT_NEAR(named.at("mean_absolute_error/energy"), 2.5, 1e-6);
}

// Pairs of a signal and another row, counted by hand: 3 of 4 in order, one tied of four more.
TEST(Metrics, AreaUnderCurveCountsPairs) {
  const torch::Tensor scores = torch::tensor({0.1F, 0.4F, 0.35F, 0.8F});
  const torch::Tensor signal = torch::tensor({0, 0, 1, 1}, torch::kInt64) > 0;
  const torch::Tensor ones = torch::ones({4}, torch::kFloat64);
  EXPECT_NEAR(optim::roc_curve(scores, signal, ones).area, 0.75, 1e-12);
  EXPECT_NEAR(optim::roc_curve(torch::zeros({4}), signal, ones).area, 0.5, 1e-12);
  EXPECT_NEAR(optim::roc_curve(torch::tensor({1.0F, 2.0F, 2.0F, 3.0F}), signal, ones).area, 3.5 / 4,
              1e-12);
  EXPECT_NEAR(
      optim::roc_curve(scores, signal, torch::tensor({1.0, 3.0, 1.0, 1.0}, torch::kFloat64)).area,
      (1.0 + 4) / 8, 1e-12)
      << "the row at 0.4 counts as three";
  EXPECT_TRUE(std::isnan(optim::roc_curve(scores, signal & ~signal, ones).area));
  const auto tied = optim::roc_curve(torch::tensor({1.0F, 2.0F, 2.0F, 3.0F}), signal,
                                     torch::tensor({1.0, 3.0, 1.0, 1.0}, torch::kFloat64));
  EXPECT_TRUE(tied.found.equal(torch::tensor({0.0, 0.5, 1.0, 1.0}, torch::kFloat64)));
  EXPECT_TRUE(tied.wrong.equal(torch::tensor({0.0, 0.0, 0.75, 1.0}, torch::kFloat64)));
  EXPECT_NEAR(tied.area, (4 + 1 + 1.5) / 8, 1e-12);
}

// Odds tell apart what probabilities next to 1 do not; a class without rows has no area.
TEST(Metrics, AreaOfManyClassesIsOverThoseThatAreThere) {
  const torch::Tensor outputs =
      torch::tensor({{40.0F, 0.0F, 1.0F}, {30.0F, 0.0F, 1.0F}, {29.0F, 0.0F, 1.0F}});
  const torch::Tensor classes = torch::tensor({0, 0, 1}, torch::kInt64);
  const auto found =
      optim::metrics(optim::loss_named("cross_entropy", "loss"), outputs, classes, {}, 2);
  EXPECT_NEAR(found.at("area_under_curve"), 1, 1e-12);
  EXPECT_NEAR(found.at("top_2_accuracy"), 2.0 / 3, 1e-12);
  EXPECT_NEAR(found.at("area_under_curve/1"), 1, 1e-12);
  EXPECT_TRUE(std::isnan(found.at("area_under_curve/2")));
  const auto of_nan =
      optim::metrics(optim::loss_named("cross_entropy", "loss"),
                     outputs * std::numeric_limits<float>::quiet_NaN(), classes, {}, 2);
  for (const char* name : {"area_under_curve", "area_under_curve/0", "efficiency_at_1_percent/0"})
    EXPECT_TRUE(std::isnan(of_nan.at(name))) << name;
  const torch::Tensor odds = optim::class_scores(outputs);
  EXPECT_NEAR(odds[0][0].item<double>(), 39 - std::log1p(std::exp(-1.0)), 1e-5);
  EXPECT_NEAR(odds[1][1].item<double>(), -30, 1e-5);
}

// 200 rows of the signal and 200 of the rest; at scores from 200 down every second row is of each, and above stand 50
// of the signal: by hand, before the 21st of the rest (10 %) is taken for it, 71 of the signal are found.
TEST(Metrics, EfficienciesAreReadOffTheCurve) {
  std::vector<float> scores;
  std::vector<std::int64_t> classes;
  for (int i = 0; i < 200; ++i) {
    scores.push_back(i < 50 ? 1000.0F + static_cast<float>(i)
                            : 400.5F - 2 * static_cast<float>(i - 50));
    classes.push_back(1);
    scores.push_back(400.0F - 2 * static_cast<float>(i));
    classes.push_back(0);
  }
  const torch::Tensor score = torch::tensor(scores) / 100;
  const auto found = optim::metrics(optim::loss_named("cross_entropy", "loss"),
                                    torch::stack({torch::zeros_like(score), score}, 1),
                                    torch::tensor(classes), {}, 3, {"rest", "signal"});
  EXPECT_NEAR(found.at("efficiency_at_10_percent/signal"), 71.0 / 200, 1e-9);
  EXPECT_NEAR(found.at("efficiency_at_1_percent/signal"), 53.0 / 200, 1e-9);
  EXPECT_EQ(found.count("efficiency_at_1_percent/rest"), 0U) << "of two classes it says the same";
}

TEST(Supervised, RefusesWhatDoesNotFit) {
  const auto refusal = [](const std::string& layers, Examples examples, const std::string& loss,
                          std::int64_t ranks = 1) {
    return message_of<core::ConfigError>([&] {
      Supervised({.loss = loss}, network_of(layers, {3}), std::move(examples), 1, torch::kCPU,
                 {0, ranks});
    });
  };
  EXPECT_NE(refusal("{dense: 2}", sectors(9), "cross_entropy").find("knows 0 to 1"),
            std::string::npos);
  Examples negative = sectors(9);
  negative.targets = torch::full({9, 3}, -1.0F);
  for (const auto& [loss, words] :
       {std::pair("poisson", "has none below 0"), std::pair("kullback_leibler", "has none below 0"),
        std::pair("binary_cross_entropy", "has none below 0")})
    EXPECT_NE(refusal(two_layers, negative, loss).find(words), std::string::npos) << loss;
  negative.targets = torch::full({9, 3}, 2.0F);
  EXPECT_NE(refusal(two_layers, negative, "binary_cross_entropy").find("a target is 2"),
            std::string::npos);
  EXPECT_NE(refusal("{dense: 3}, {reshape: [3, 1]}", sectors(9), "cross_entropy")
                .find("one number for each class"),
            std::string::npos);
  EXPECT_NE(refusal("{dense: 2}", sectors(9), "mean_square").find("Change its last layer"),
            std::string::npos);
  EXPECT_NE(refusal(two_layers, sectors(9), "cross_entropie").find("cross_entropy"),
            std::string::npos);
  const auto refused = [](const std::string& loss, const optim::LossOptions& options) {
    const auto rows = data::hold(sectors(30));
    return message_of<core::ConfigError>(
        [&] { optim::loss_of(loss, options, data::statistics_of(*rows, false, false), 4); });
  };
  for (const auto& [weights, words] :
       {std::pair(std::vector<std::string>{"1", "2"}, "has 2 numbers, and the network 4 outputs"),
        std::pair(std::vector<std::string>{"1", "x", "2", "3"}, "'x' is no weight"),
        std::pair(std::vector<std::string>{"0", "0", "0", "3"}, "are 0 for all rows"),
        std::pair(std::vector<std::string>{"balanced"}, "no row to learn from is of class 3")})
    EXPECT_NE(refused("cross_entropy", {.class_weights = weights}).find(words), std::string::npos);
  EXPECT_NE(refused("mean_square", {.label_smoothing = 0.1}).find("label_smoothing"),
            std::string::npos);
  EXPECT_NE(refusal("{batch_norm: {}}", sectors(101), "cross_entropy").find("has 1 row for 1 rank"),
            std::string::npos);
  EXPECT_NE(refusal(two_layers, sectors(3), "cross_entropy", 4).find("3 rows for 4 ranks"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::train
