#include "sagips/optim/adversarial/adversarial.hpp"

#include <array>

#include <gtest/gtest.h>
#include <torch/optim.h>

#include "sagips/train/loop.hpp"
#include "tests/core/message_of.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using optim::Adversarial;
using optim::AdversarialConfig;
using testing::message_of;

constexpr double real_weight = 3, class_weight = 0.5, value_weight = 2, sum_weight = 0.1;

struct Config {
  AdversarialConfig learner{};
  void fields(core::FieldList& list) { learner.fields(list); }
};

// Images of 1 x 4 x 4 with a class of three, a value and the sum of the image; no random numbers but noise.
const char* const plain = R"yaml(
generator:
  noise: 5
  conditions: [value, kind]
  layers: [{dense: 16, activation: tanh}, {reshape: [1, 4, 4]},
           {convolution: 1, kernel: [3, 3], padding: [1, 1], activation: sigmoid}]
  optimizer: {rule: rmsprop, decay: 0.9, epsilon: 1e-7, learning_rate: 1e-3}
discriminator:
  layers: [{convolution: 2, kernel: [3, 3], activation: tanh}, {flatten: {}}]
  real: {layers: [{dense: 1}], weight: 3}
  heads:
    kind: {layers: [{dense: 3}], weight: 0.5}
    size: {layers: [{dense: 1}], loss: mean_absolute, target: value, weight: 2}
  optimizer: {rule: rmsprop, decay: 0.9, epsilon: 1e-7, learning_rate: 2e-3}
measures: {sum: {target: total, weight: 0.1}}
batch: 12
label_flips: 0
)yaml";

AdversarialConfig config_of(const std::string& yaml, const std::string& over = "") {
  auto document = core::ConfigDocument::from_text(yaml, "plain.yaml");
  if (!over.empty()) document.lay_over(core::ConfigDocument::from_text(over, "over.yaml"));
  return core::read_config(document, Config{}).learner;
}

data::Examples images(std::int64_t rows) {
  torch::manual_seed(4);
  const torch::Tensor kind = torch::arange(rows) % 3, value = torch::rand({rows, 1});
  const torch::Tensor image = torch::rand({rows, 1, 4, 4}) * (0.2 + value.reshape({-1, 1, 1, 1}));
  data::Examples named = data::named_examples(
      {{"image", image}},
      {{"kind", kind}, {"total", image.flatten(1).sum(1, true)}, {"value", value}});
  named.inputs = image;  // inputs of one tensor have no name
  named.tensors = std::make_shared<const data::ExampleTensors>(
      data::ExampleTensors{{}, named.target_tensors()});
  return named;
}

const optim::Measures measures = {
    {"sum", [](const torch::Tensor& image) { return image.flatten(1).sum(1); }}};

Adversarial learner_of(const AdversarialConfig& config, const problem::RankPlace& place = {},
                       std::int64_t rows = 48) {
  return {config, data::hold(images(rows)), measures, 1, torch::kCPU, place};
}

/// The same networks as functions of LibTorch, over copies of a learner's weights.
struct Peer {
  std::vector<torch::Tensor> generator, discriminator;

  explicit Peer(Adversarial& learner) {
    const auto copy = [](const nn::Replica& replica) {
      std::vector<torch::Tensor> copies;
      for (std::size_t i = 0; i < replica.parameters().size(); ++i)
        copies.push_back(
            replica.view(replica.weights(), i).detach().clone().set_requires_grad(true));
      return copies;
    };
    generator = copy(learner.networks()[0].replica);
    discriminator = copy(learner.networks()[1].replica);
  }
  torch::Tensor make(const torch::Tensor& input) const {
    const torch::Tensor dense = torch::linear(input, generator[0], generator[1]).tanh();
    return torch::conv2d(dense.reshape({-1, 1, 4, 4}), generator[2], generator[3], 1, 1).sigmoid();
  }
  // real or made, class, value
  std::vector<torch::Tensor> judge(const torch::Tensor& image) const {
    const torch::Tensor flat =
        torch::conv2d(image, discriminator[0], discriminator[1]).tanh().flatten(1);
    std::vector<torch::Tensor> heads;
    for (std::size_t i = 2; i < 8; i += 2)
      heads.push_back(torch::linear(flat, discriminator[i], discriminator[i + 1]));
    return heads;
  }
  torch::Tensor loss(const torch::Tensor& image, const torch::Tensor& targets, double real,
                     bool by_sum) const {
    const auto heads = judge(image);
    const torch::Tensor kind = targets.select(1, 0).to(torch::kInt64), total = targets.select(1, 1),
                        value = targets.select(1, 2);
    const torch::Tensor logit = heads[0].flatten();
    const torch::Tensor probability = logit.sigmoid();
    torch::Tensor sum =
        -real_weight * (real * probability.log() + (1 - real) * (1 - probability).log()).mean();
    sum = sum - class_weight * heads[1].log_softmax(1).gather(1, kind.unsqueeze(1)).mean();
    sum = sum + value_weight * (heads[2].flatten() - value).abs().mean();
    if (by_sum)
      sum = sum + sum_weight * 100 * ((image.flatten(1).sum(1) - total).abs() / total.abs()).mean();
    return sum;
  }
};

torch::Tensor flat(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> all;
  for (const torch::Tensor& one : tensors) all.push_back(one.flatten());
  return torch::cat(all);
}

// What a network's flat array holds, in the order of its parameters.
torch::Tensor in_order(const nn::Replica& replica, const torch::Tensor& array) {
  std::vector<torch::Tensor> all;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i)
    all.push_back(replica.view(array, i));
  return flat(all).clone();
}

void expect_close(const torch::Tensor& found, const torch::Tensor& wanted, double relative,
                  const std::string& what) {
  EXPECT_GT(wanted.norm().item<double>(), 0) << what;
  EXPECT_LT((found - wanted).norm().item<double>(), relative * wanted.norm().item<double>())
      << what;
}

// The rows of a step, and what the generator is given in one of its uses, by the documented names of noise.
struct Rows {
  torch::Tensor image, targets;
  Rows(const data::Examples& all, std::uint32_t step, std::int64_t batch)
      : image(all.inputs), targets(all.targets) {
    const torch::Tensor chosen =
        data::SamplePlan(all.rows(), 1).rows_at(1, (step - 1) * batch, batch);
    image = image.index_select(0, chosen), targets = targets.index_select(0, chosen);
  }
  torch::Tensor input(const std::string& use, std::uint32_t step) const {
    env::Noise noise(
        std::make_shared<env::PhiloxNoise>(core::RandomStream(1, "noise of " + use, step)),
        image.size(0), 5, 0);
    return torch::cat(
        {targets.narrow(1, 2, 1),
         torch::eye(3).index_select(0, targets.select(1, 0).to(torch::kInt64)), noise.normal()},
        1);
  }
};

const std::vector<std::string> uses = {"", "made examples", "generator update 1",
                                       "generator update 2"};

// The gradient of one of the four updates at the peer's weights.
torch::Tensor gradient_of(const Peer& peer, const Rows& rows, std::size_t update,
                          std::uint32_t step) {
  const bool learns_to_make = update > 1;
  torch::Tensor loss;
  if (update == 0)
    loss = peer.loss(rows.image, rows.targets, 1, false);
  else if (update == 1)
    loss = peer.loss(peer.make(rows.input(uses[1], step)).detach(), rows.targets, 0, false);
  else
    loss = peer.loss(peer.make(rows.input(uses[update], step)), rows.targets, 1, true);
  return flat(torch::autograd::grad({loss}, learns_to_make ? peer.generator : peer.discriminator));
}

TEST(Adversarial, HasTheGradientsOfLibTorchInEachOfFourUpdatesInAnyTiles) {
  for (const std::int64_t tile : {0, 5}) {
    Adversarial learner = learner_of(config_of(plain));
    const Peer peer(learner);
    const Rows rows(images(48), 2, 12);
    const auto batch = learner.draw(2);
    EngineConfig engine;
    engine.tile_samples = tile;
    Engine engine_of(engine);
    ASSERT_EQ(learner.passes().size(), 4U);
    for (std::size_t update = 0; update < 4; ++update) {
      engine_of.gradients(learner.passes()[update], learner.steps(), *batch, {});
      const nn::Replica& replica = learner.networks()[update > 1 ? 0 : 1].replica;
      expect_close(in_order(replica, replica.gradients()), gradient_of(peer, rows, update, 2), 1e-5,
                   core::text("update ", update, ", tiles of ", tile));
    }
  }
}

// Four updates in their order, by RMSprop as Keras has it, from a state that three steps have warmed.
TEST(Adversarial, StepsAsFourUpdatesOfRmspropInTurn) {
  Adversarial learner = learner_of(config_of(plain));
  LoopConfig epochs;
  epochs.epochs = 2;
  Loop loop(epochs, learner, {});
  loop.run_steps(3);
  Peer peer(learner);
  const nn::State before = nn::give_state(learner);
  loop.run_steps(4);
  const Rows rows(images(48), 4, 12);
  for (const bool makes : {false, true}) {
    const char* const name = makes ? "generator" : "discriminator";
    const nn::Replica& replica = learner.networks()[makes ? 0 : 1].replica;
    std::vector<torch::Tensor>& weights = makes ? peer.generator : peer.discriminator;
    torch::Tensor square = in_order(replica, before.at(core::text(name, "_update.square"))).clone();
    const torch::Tensor start = flat(weights).detach().clone();
    torch::Tensor now = start.clone();
    for (const std::size_t update :
         makes ? std::vector<std::size_t>{2, 3} : std::vector<std::size_t>{0, 1}) {
      const torch::Tensor gradient = gradient_of(peer, rows, update, 4);
      square = 0.9 * square + 0.1 * gradient.square();
      now = now - (makes ? 1e-3 : 2e-3) * gradient / (square.sqrt() + 1e-7);
      std::int64_t place = 0;
      const torch::NoGradGuard no_grad;
      for (torch::Tensor& one : weights) {
        one.copy_(now.narrow(0, place, one.numel()).reshape(one.sizes()));
        place += one.numel();
      }
    }
    expect_close(in_order(replica, replica.weights()) - start, now - start, 1e-4, name);
  }
}

TEST(Adversarial, TwoRanksMakeOfHalvesWhatOneMakesOfTheBatch) {
  const auto learned = [](int count, std::int64_t batch) {
    std::vector<torch::Tensor> weights;
    sagips::testing::on_ranks(count, [&](comm::Ranks& ranks) {
      AdversarialConfig config = config_of(plain, "label_flips: 0.3");
      config.batch = batch;
      Adversarial learner = learner_of(config, {ranks.rank(), ranks.size()}, 45);
      RankExchange exchange(ranks, learner,
                            {.primary = "all_reduce", .others = {{"discriminator", "all_reduce"}}},
                            1);
      Loop::Callbacks callbacks;
      if (count > 1) callbacks.exchange = exchange.hooks();
      LoopConfig epochs;
      epochs.epochs = 2;
      Loop(epochs, learner, callbacks).run_steps(3);
      if (!ranks.is_first()) return;
      for (const auto& one : learner.networks()) weights.push_back(one.replica.weights().clone());
      if (count == 1) return;
      for (const record::Exchanged& report : exchange.reports(1)) {
        EXPECT_EQ(report.calls, 3 * 2) << report.subject;  // two updates of each network a step
        const auto& replica = learner.networks()[report.subject == "generator" ? 0 : 1].replica;
        EXPECT_EQ(report.bytes, std::int64_t{3} * 2 * replica.size() * 4) << report.subject;
      }
    });
    return weights;
  };
  const auto alone = learned(1, 20), together = learned(2, 10);
  for (std::size_t i = 0; i < 2; ++i) expect_close(together[i], alone[i], 1e-5, "weights");
}

// Messages that the first of four ranks sends in each update of a step, over so many steps; those of the inner
// ring of its group of two, one each, are not counted.
std::vector<std::int64_t> messages_between_groups(const std::string& name,
                                                  const comm::ExchangesConfig& config,
                                                  std::int64_t steps) {
  std::vector<std::int64_t> sent(4);
  sagips::testing::on_ranks(4, [&](comm::Ranks& ranks) {
    Adversarial learner = learner_of(config_of(plain), {ranks.rank(), ranks.size()});
    RankExchange exchange(ranks, learner,
                          {.primary = name, .others = {{"discriminator", name}}, .config = config},
                          1);
    Loop::Callbacks callbacks;
    callbacks.exchange = exchange.hooks();
    const auto inner = callbacks.exchange.after_update;
    std::size_t update = 0;
    std::int64_t before = 0;
    callbacks.exchange.after_update = [&](optim::UpdateStep& step) {
      inner(step);
      std::int64_t all = 0;
      for (const record::Exchanged& report : exchange.reports(1)) all += report.messages;
      if (ranks.is_first()) sent[update++ % sent.size()] += all - before - 1;
      before = all;
    };
    Loop(LoopConfig{}, learner, callbacks).run_steps(steps);
  });
  return sent;
}

// Of real and of made examples, and both of the generator, whatever the period.
TEST(Adversarial, MeetsOtherGroupsInEachOfItsUpdates) {
  for (const std::int64_t every : {1, 2, 3, 4}) {
    comm::ExchangesConfig config;
    config.grouped.group_size = 2;
    config.grouped.outer_every = every;
    const std::int64_t times = 12 / every;
    EXPECT_EQ(messages_between_groups("grouped", config, 12),
              (std::vector<std::int64_t>{times, times, times, times}))
        << every;
    // the mean of weights, three messages of a ring, is taken once a period, behind a network's last update
    config.grouped.outer_every = 1000;
    config.averaged = {.inner = "grouped", .mean = "ring", .every = every};
    EXPECT_EQ(messages_between_groups("averaged", config, 12),
              (std::vector<std::int64_t>{0, 3 * times, 0, 3 * times}))
        << every;
  }
}

const char* const with_norms = R"yaml(
generator:
  noise: 5
  conditions: [kind]
  layers: [{dense: 16, activation: relu}, {batch_norm: {}}, {dense: 16, activation: sigmoid}, {reshape: [1, 4, 4]}]
discriminator:
  layers: [{convolution: 2, kernel: [3, 3], activation: leaky_relu}, {batch_norm: {}}, {flatten: {}}, {dropout: 0.3}]
  heads: {kind: {layers: [{dense: 3}]}}
batch: 12
)yaml";

// Running statistics of both networks move in the generator's updates; those of the generator alone there.
TEST(Adversarial, MovesRunningStatisticsWhereANetworkTrains) {
  Adversarial learner = learner_of(config_of(with_norms));
  const auto batch = learner.draw(1);
  const auto statistics = [&](std::size_t of) {
    return learner.networks()[of].replica.leaves().buffers[0].clone();
  };
  Engine engine({});
  for (std::size_t update = 0; update < 4; ++update) {
    const torch::Tensor maker = statistics(0), judge = statistics(1);
    engine.gradients(learner.passes()[update], learner.steps(), *batch, {});
    EXPECT_EQ(torch::equal(maker, statistics(0)), update < 2) << update;
    EXPECT_FALSE(torch::equal(judge, statistics(1))) << update;
  }
}

// Each rank sees rows of its own, so that means over them differ: after an update those of all ranks are one.
TEST(Adversarial, AveragesRunningStatisticsOverRanksWhereItIsAsked) {
  using Kind = comm::ExchangesConfig::RunningStatistics;
  for (const Kind kind : {Kind::kept, Kind::averaged}) {
    std::array<std::vector<float>, 2> of_rank;
    sagips::testing::on_ranks(2, [&](comm::Ranks& ranks) {
      Adversarial learner = learner_of(config_of(with_norms), {ranks.rank(), ranks.size()});
      comm::ExchangesConfig exchanges;
      exchanges.running_statistics = kind;
      RankExchange exchange(ranks, learner,
                            {.primary = "all_reduce",
                             .others = {{"discriminator", "all_reduce"}},
                             .config = exchanges},
                            1);
      Loop::Callbacks callbacks;
      callbacks.exchange = exchange.hooks();
      Loop(LoopConfig{}, learner, callbacks).run_steps(2);
      const auto numbers = learner.networks()[0].replica.running_statistics();
      of_rank[static_cast<std::size_t>(ranks.rank())].assign(numbers.begin(), numbers.end());
    });
    EXPECT_EQ(of_rank[0] == of_rank[1], kind == Kind::averaged);
    EXPECT_EQ(of_rank[0].size(), 32U);
  }
}

TEST(Adversarial, LeavesOutMeasuresOfWeightZero) {
  EXPECT_NE(message_of<core::ConfigError>([] {
              learner_of(config_of(plain, "measures: {angle: {weight: 1}}"));
            }).find("no such measure"),
            std::string::npos);
  EXPECT_NO_THROW(learner_of(config_of(plain, "measures: {angle: {weight: 0}}")));
}

TEST(Adversarial, ResumesBitForBit) {
  LoopConfig epochs;
  epochs.epochs = 4;
  const auto run = [&](Adversarial& learner, const nn::State* from, std::int64_t until) {
    Loop loop(epochs, learner, {});
    if (from) nn::take_state(loop, *from);
    loop.run_steps(until);
    return nn::give_state(loop);
  };
  Adversarial whole = learner_of(config_of(with_norms)), first = learner_of(config_of(with_norms)),
              second = learner_of(config_of(with_norms));
  const nn::State at_once = run(whole, nullptr, 9), half = run(first, nullptr, 5),
                  parts = run(second, &half, 9);
  for (const auto& [name, value] : at_once)
    EXPECT_TRUE(name.ends_with("_s") || torch::equal(value, parts.at(name))) << name;
}

// A generator that ends with a ReLU, as those of showers do, and may make nothing at all.
const char* const rectified = R"yaml(
generator:
  noise: 5
  conditions: [value, kind]
  layers: [{dense: 64, activation: relu}, {reshape: [4, 4, 4]},
           {convolution: 4, kernel: [3, 3], padding: [1, 1], activation: relu},
           {convolution: 1, kernel: [3, 3], padding: [1, 1], activation: relu}]
  optimizer: {rule: rmsprop, epsilon: 1e-7, learning_rate: 1e-3}
discriminator:
  layers: [{convolution: 4, kernel: [3, 3], activation: leaky_relu}, {flatten: {}}, {dropout: 0.2}]
  heads:
    kind: {layers: [{dense: 3}]}
  optimizer: {rule: rmsprop, epsilon: 1e-7, learning_rate: 1e-3}
batch: 12
)yaml";

/// Why a run of so many steps at such a rate ends, and in which of them; 0: in none.
std::pair<std::string, std::int64_t> end_of(double rate, std::int64_t steps, std::uint64_t seed,
                                            double collapse = 0.01) {
  AdversarialConfig config = config_of(rectified);
  config.generator.optimizer.learning_rate = config.discriminator.optimizer.learning_rate = rate;
  config.collapse = collapse;
  Adversarial learner(config, data::hold(images(48)), {}, seed, torch::kCPU);
  LoopConfig epochs;
  epochs.epochs = 1000;
  Loop loop(epochs, learner, {});
  for (std::int64_t step = 1; step <= steps; ++step) {
    loop.run_steps(step);
    if (!learner.reason_to_stop().empty()) return {learner.reason_to_stop(), step};
  }
  return {};
}

// With seeds that are fixed: ten times a rate at which it learns.
TEST(Adversarial, NamesACollapseWithinFiftyStepsAndNoneWhereItLearns) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    EXPECT_EQ(end_of(0.03, 100, seed).first, "") << seed;
    const auto [reason, step] = end_of(0.3, 50, seed);
    EXPECT_EQ(reason.find("the generator has collapsed: "), 0U) << seed << reason;
    EXPECT_GT(step, 10) << seed;
  }
  EXPECT_EQ(end_of(0.3, 50, 1, 0).first, "");
}

// A run's loop ends with it as one that failed, in order, and one that goes on from its state ends at once.
TEST(Adversarial, EndsARunThatHasCollapsed) {
  AdversarialConfig config = config_of(rectified);
  config.generator.optimizer.learning_rate = config.discriminator.optimizer.learning_rate = 0.3;
  LoopConfig epochs;
  epochs.epochs = 100;
  Adversarial learner = learner_of(config), other = learner_of(config);
  Loop loop(epochs, learner, {});
  const LoopResult result = loop.run();
  EXPECT_EQ(result.reason.kind, record::StopReason::Kind::failed);
  EXPECT_EQ(result.reason.text, "failed: " + learner.reason_to_stop());
  EXPECT_NE(result.reason.text.find("Lower generator.optimizer.learning_rate"), std::string::npos);
  EXPECT_FALSE(result.complete);
  Loop resumed(epochs, other, {});
  nn::take_state(resumed, nn::give_state(loop));
  const std::int64_t before = resumed.step();
  EXPECT_EQ(resumed.run().reason.text, result.reason.text);
  EXPECT_EQ(resumed.step(), before);
}

// The rows are one step an epoch here.
TEST(Adversarial, FailsWhereItsLastStepHasCollapsed) {
  AdversarialConfig config = config_of(rectified);
  config.generator.optimizer.learning_rate = config.discriminator.optimizer.learning_rate = 0.3;
  config.batch = 48;
  Adversarial learner = learner_of(config), same = learner_of(config);
  LoopConfig epochs;
  epochs.epochs = 1000;
  Loop endless(epochs, learner, {});
  ASSERT_EQ(endless.run().reason.kind, record::StopReason::Kind::failed);
  ASSERT_EQ(endless.step(), endless.epoch());
  epochs.epochs = endless.epoch();
  EXPECT_EQ(Loop(epochs, same, {}).run().reason.kind, record::StopReason::Kind::failed);
}

// Of the labels that the discriminator is told those are wrong whose number falls short of the share, and
// none of those that the generator learns by.
TEST(Adversarial, FlipsLabelsOfTheDiscriminatorAlone) {
  Adversarial learner = learner_of(config_of(plain, "label_flips: 0.3")),
              honest = learner_of(config_of(plain));
  const Peer peer(learner);
  const Rows rows(images(48), 2, 12);
  const auto batch = learner.draw(2), same = honest.draw(2);
  Engine engine({});
  for (const bool real : {true, false}) {
    torch::Tensor labels = torch::full({12}, real ? 1.0F : 0.0F);
    std::int64_t flips = 0;
    for (std::uint32_t i = 0; i < 12; ++i) {
      float number = 0;
      core::RandomStream(1, real ? "labels of real examples" : "labels of made examples", 2)
          .uniform(i, 0, std::span(&number, 1));
      if (number >= 0.3F) continue;
      labels[i] = 1 - labels[i];
      ++flips;
    }
    EXPECT_GT(flips, 0);
    const torch::Tensor image =
        real ? rows.image : peer.make(rows.input("made examples", 2)).detach();
    const double wanted =
        torch::binary_cross_entropy_with_logits(peer.judge(image)[0].flatten(), labels)
            .item<double>();
    const torch::Tensor told =
        engine.gradients(learner.passes()[real ? 0 : 1], learner.steps(), *batch, {});
    EXPECT_NEAR(told[2].item<double>(), wanted, 1e-6);
  }
  Engine({}).gradients(honest.passes()[1], honest.steps(), *same, {});  // which makes examples
  EXPECT_TRUE(torch::equal(engine.gradients(learner.passes()[2], learner.steps(), *batch, {}),
                           Engine({}).gradients(honest.passes()[2], honest.steps(), *same, {})));
}

// By its definition, of all rows at once: what ignores its conditions is further from the real ones.
TEST(Adversarial, DistanceSeesWhatExamplesAreMadeFor) {
  Adversarial learner = learner_of(config_of(plain));
  const data::Examples rows = images(40);
  const auto by_hand = [&](const torch::Tensor& targets) {
    const torch::Tensor asked =
        torch::cat({rows.targets.select(1, 2).unsqueeze(1),
                    torch::one_hot(rows.targets.select(1, 0).to(torch::kInt64), 3)},
                   1)
            .to(torch::kFloat64);
    const torch::Tensor unit = (asked - asked.mean(0)) / asked.std(0, /*unbiased=*/false);
    const torch::Tensor real = rows.inputs.flatten(1).to(torch::kFloat64),
                        made = learner.make(targets, "evaluations").flatten(1).to(torch::kFloat64);
    const torch::Tensor apart = (made.mean(0) - real.mean(0)).norm() +
                                (made.std(0, false) - real.std(0, false)).norm() +
                                (unit.t().mm(made - real) / 40).norm();
    return (apart / (real.mean(0).norm() + real.std(0, false).norm())).item<double>();
  };
  EXPECT_NEAR(learner.metrics(*data::hold(images(40))).at("distance"), by_hand(rows.targets), 1e-9);
  learner.networks()[0].replica.weights().mul_(3);  // conditions matter to this one
  EXPECT_NEAR(learner.metrics(*data::hold(images(40))).at("distance"), by_hand(rows.targets), 1e-9);
  EXPECT_GT(std::abs(by_hand(rows.targets.flip(0)) - by_hand(rows.targets)), 1e-3);
}

// Deviation and size.
using Spread = std::array<double, 2>;
void see(optim::Collapse& collapse, const Spread& made, const Spread& real, bool is_empty) {
  const auto tensor = [](const Spread& spread) {
    return torch::tensor(std::vector<double>(spread.begin(), spread.end()), torch::kFloat64);
  };
  collapse.see(tensor(made), tensor(real), torch::full({}, is_empty));
}

TEST(Collapse, OfEmptyExamplesIsNamedBehindTenSteps) {
  optim::Collapse collapse(0.01);
  for (int step = 1; step <= 10; ++step) {
    see(collapse, {1, 1}, {1, 1}, true);
    EXPECT_EQ(collapse.reason(), "") << step;
  }
  see(collapse, {1, 1}, {1, 1}, true);
  EXPECT_NE(collapse.reason().find("step 11 is empty"), std::string::npos);
  EXPECT_EQ(optim::spread_of(torch::ones({5, 2, 2}))[0].item<double>(), 0);
  EXPECT_EQ(optim::spread_of(-torch::ones({5, 2, 2}))[1].item<double>(), 1);
  EXPECT_NEAR(optim::spread_of(torch::tensor({{1.0F, 0.0F}, {-1.0F, 0.0F}}))[0].item<double>(),
              std::sqrt(0.5), 1e-7);
}

// Of images that are nowhere exactly 0, and still spread a little over 1 % of real ones.
TEST(Collapse, OfFaintExamplesIsNamedAsThatOfAlikeOnes) {
  for (const Spread& made : {Spread{0.012, 0.002}, Spread{0.002, 0.5}}) {
    optim::Collapse collapse(0.01);
    see(collapse, {0.5, 0.7}, {1, 0.4}, false);
    for (int step = 2; step <= 10; ++step) see(collapse, made, {1, 0.4}, false);
    EXPECT_EQ(collapse.reason(), "");
    see(collapse, made, {1, 0.4}, false);
    EXPECT_NE(collapse.reason().find("steps 2 to 11"), std::string::npos) << collapse.reason();
  }
  optim::Collapse young(0.01);  // it has never made more
  for (int step = 1; step <= 20; ++step) see(young, {0.001, 0.001}, {1, 0.4}, false);
  EXPECT_EQ(young.reason(), "");
}

TEST(Collapse, OfExamplesThatGrowBeyondAllMeasureIsNamedAsDivergence) {
  optim::Collapse collapse(0.01);
  see(collapse, {0.5, 0.7}, {1, 0.4}, false);
  for (int step = 2; step <= 10; ++step) see(collapse, {101, 50}, {1, 0.4}, false);
  EXPECT_EQ(collapse.reason(), "");
  see(collapse, {101, 50}, {1, 0.4}, false);
  EXPECT_NE(
      collapse.reason().find("diverged: what it made in steps 2 to 11 spreads over 100 times"),
      std::string::npos)
      << collapse.reason();
  optim::Collapse unscaled(0.01);  // rows are small numbers, and what it makes has not grown
  for (int step = 1; step <= 20; ++step) see(unscaled, {1, 1}, {0.001, 0.001}, false);
  EXPECT_EQ(unscaled.reason(), "");
}

// A GPU's numbers are read some steps later.
TEST(Collapse, IsNamedByTheStepThatFoundIt) {
  optim::Collapse collapse(0.01);
  for (int step = 1; step <= 11; ++step) see(collapse, {1, 1}, {1, 1}, true);
  const std::string found = collapse.reason();
  ASSERT_NE(found, "");
  for (int step = 12; step <= 40; ++step) see(collapse, {0.001, 0.001}, {1, 1}, step % 2 == 0);
  EXPECT_EQ(collapse.reason(), found);
}

// Keras' definition in plain loops, its smallest denominator among the targets.
TEST(Losses, MeanAbsolutePercentageIsKeras) {
  const torch::Tensor outputs = torch::tensor({{1.5F, -2.0F}, {0.0F, 1e-7F}}),
                      targets = torch::tensor({{1.0F, -4.0F}, {5.0F, 0.0F}});
  const torch::Tensor found =
      optim::loss_named("mean_absolute_percentage", "loss").rows(outputs, targets);
  EXPECT_NEAR(found[0].item<double>(), 100 * (0.5 / 1 + 2.0 / 4) / 2, 1e-5);
  EXPECT_NEAR(found[1].item<double>(), 100 * (5.0 / 5 + 1e-7 / 1e-7) / 2, 1e-4);
  EXPECT_FALSE(optim::loss_named("mean_absolute_percentage", "loss").has_units());
}

TEST(Adversarial, RefusesWhatDoesNotFit) {
  const auto message = [](const std::string& over) {
    return message_of<core::ConfigError>([&] { learner_of(config_of(plain, over)); });
  };
  EXPECT_EQ(message("generator: {layers: [{dense: 16}, {reshape: [1, 2, 8]}]}"),
            "generator.layers: make 1 x 2 x 8, and the examples are 1 x 4 x 4. Change the last "
            "layers.");
  EXPECT_EQ(message("discriminator: {heads: {kind: {layers: [{dense: 2}]}}}"),
            "discriminator.heads.kind: a row is of class 2, and the network knows 0 to 1 (classes "
            "count from 0). Change its last layer, or correct the targets.");
  EXPECT_EQ(message("measures: {mass: {target: total}}"),
            "measures.mass: the workload has no such measure. There are: sum.");
  EXPECT_EQ(message("discriminator: {real: {layers: [{dense: 2}]}}"),
            "discriminator.real: gives 2 numbers, and one logit tells real from made. End it with "
            "{dense: 1}.");
}

}  // namespace
}  // namespace sagips::train
