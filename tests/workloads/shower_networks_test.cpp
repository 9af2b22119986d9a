// The networks of workload calorimeter3d as its settings make them, against the same of LibTorch's modules.
#include <gtest/gtest.h>

#include <cstdlib>

#include "sagips/core/text.hpp"
#include "sagips/data/sample_plan.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/train/loop.hpp"
#include "tests/workloads/shower_learner.hpp"
#include "tests/workloads/shower_oracle.hpp"

namespace sagips::run {
namespace {

using core::text;
using testing::full;
using testing::judge;
using testing::laptop;
using testing::Learns;
using testing::maker;
using testing::shower_job;
using testing::ShowerOracle;

/// What the oracle computes in, and how far gradients may be from its own ones, relative to a tensor's norm.
struct Precision {
  torch::Dtype type;
  double weights,
      biases;  ///< a bias has a sum over all places, whose parts cancel before a batch norm
};
constexpr Precision on_a_laptop{torch::kFloat64, 1e-5, 1e-5};
// Double precision takes LibTorch minutes and gigabytes here; in single precision it is itself off by most of this.
Precision in_full() {
  if (std::getenv("SAGIPS_LONG_TESTS") != nullptr) return {torch::kFloat64, 3e-5, 3e-5};
  return {torch::kFloat32, 5e-5, 3e-4};
}

// No label is wrong and no number is left out: these are named random numbers, which others test. Rates stay.
Learns without_chance(const std::string& settings, std::int64_t batch) {
  return Learns(shower_job(
      settings,
      {"label_flips=0", text("batch=", batch), "data.rows=24",
       "generator.optimizer.schedule=constant", "discriminator.optimizer.schedule=constant"},
      {"dropout"}));
}

/// Distance relative to what is wanted, by Euclidean norms.
double relative(const torch::Tensor& found, const torch::Tensor& wanted) {
  EXPECT_EQ(found.sizes(), wanted.sizes());
  const double norm = wanted.norm().item<double>();
  EXPECT_GT(norm, 0);
  return (found - wanted).to(torch::kFloat64).norm().item<double>() / norm;
}

void expect_close(const torch::Tensor& found, const torch::Tensor& wanted, double bound,
                  const std::string& what) {
  EXPECT_LT(relative(found, wanted), bound) << what;
}

void expect_gradients(const nn::Replica& replica, const std::vector<torch::Tensor>& wanted,
                      const Precision& precision, const std::string& what) {
  ASSERT_EQ(wanted.size(), replica.parameters().size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string& name = replica.parameters()[i].name;
    expect_close(replica.view(replica.gradients(), i), wanted[i],
                 name.ends_with("bias") ? precision.biases : precision.weights,
                 text(what, ", ", name));
  }
}

void expect_statistics(const ShowerOracle& oracle, const nn::Replica& replica, bool of_generator,
                       const std::string& what) {
  const std::vector<torch::Tensor> wanted = oracle.statistics(of_generator);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    expect_close(replica.leaves().buffers[i], wanted[i], 1e-5, text(what, ", statistics ", i));
}

TEST(ShowerNetworks, HaveAsManyNumbersAsThoseOfTheirAuthors) {
  const Learns made(shower_job(full, {"data.rows=2", "batch=2"}));
  const auto remembered = [&](std::size_t player) {
    std::int64_t sum = 0;
    for (const torch::Tensor& one : made.replica(player).leaves().buffers) sum += one.numel();
    return sum;
  };
  EXPECT_EQ(made.replica(maker).size(), 1'364'983);
  EXPECT_EQ(made.replica(maker).size() + remembered(maker), 1'365'047);
  EXPECT_EQ(made.replica(judge).size(), 87'354);
  EXPECT_EQ(made.replica(judge).size() + remembered(judge), 87'402);
  std::int64_t trunk = remembered(judge);
  for (const nn::LayerSummary& layer : made.network(judge).layers())
    if (layer.inside.empty()) trunk += layer.weights;  // the heads are chains inside the last layer
  EXPECT_EQ(trunk, 49'096);
}

/// What our network gives behind each of its convolutions, whose activations are. shape: input [rows, ...]
std::vector<torch::Tensor> activations_of(const Learns& ours, std::size_t player,
                                          const torch::Tensor& input, bool trains) {
  const torch::NoGradGuard no_grad;
  const optim::AdversarialConfig& config = ours.job.as<GenerationProblem>()->learner;
  const auto& layers = player == maker ? config.generator.layers : config.discriminator.layers;
  const nn::Replica& whole = ours.replica(player);
  const core::RandomStream random(1, "nothing is drawn");
  std::vector<torch::Tensor> all;
  for (std::size_t count = 1; count <= layers.size(); ++count) {
    if (layers[count - 1].kind() != "convolution") continue;
    const std::vector<nn::LayerConfig> first(layers.begin(),
                                             layers.begin() + static_cast<std::ptrdiff_t>(count));
    const nn::LayeredNetwork begins(first, nn::shape_of_rows(input));
    nn::Replica replica(begins.parameters(), nn::SharedPart::all, torch::kCPU, begins.buffers());
    for (std::size_t i = 0; i < replica.parameters().size(); ++i)
      replica.view(replica.weights(), i).copy_(whole.view(whole.weights(), i));
    for (std::size_t i = 0; i < replica.leaves().buffers.size(); ++i)
      replica.leaves().buffers[i].copy_(whole.leaves().buffers[i]);
    all.push_back(begins(replica.leaves(), input, {.training = trains ? &random : nullptr}));
  }
  return all;
}

// Biases begin as 0. Where a shower's cells are empty a sum is 0 then, or what rounding makes of it, and each slope
// of a leaky ReLU is as right as the other.
void move_biases(const nn::Replica& replica) {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i)
    if (replica.parameters()[i].name.ends_with("bias"))
      replica.view(replica.weights(), i)
          .add_(0.05 * torch::randn_like(replica.view(replica.weights(), i)));
}

// Outputs and gradients of a sum with random factors, by both networks in training and predicting.
void expect_networks_of_libtorch(const std::string& settings, std::int64_t rows,
                                 const Precision& precision) {
  const Learns ours = without_chance(settings, rows);
  ShowerOracle oracle(settings == full, precision.type);
  torch::manual_seed(5);
  const torch::Tensor images = ours.sets.training->first(rows).inputs;
  for (const std::size_t player : {maker, judge}) {
    const bool makes = player == maker;
    nn::Replica& replica = ours.replica(player);
    move_biases(replica);
    const torch::Tensor numbers =
        makes ? torch::randn({rows, ours.network(maker).input()[0]}) : images;
    for (const bool trains : {true, false}) {  // running statistics have moved when it predicts
      const std::string what = text(settings, makes ? " generator" : " discriminator",
                                    trains ? " in training" : " predicting");
      oracle.take(replica, makes);
      oracle.train(trains);
      oracle.take_sides(makes, activations_of(ours, player, numbers, trains));
      replica.zero_gradients();
      const torch::Tensor input = numbers.clone().requires_grad_(),
                          same = numbers.to(precision.type, false, true).requires_grad_();
      const core::RandomStream random(1, "nothing is drawn");
      const torch::Tensor found = ours.network(player)(replica.leaves(), input,
                                                       {.training = trains ? &random : nullptr}),
                          wanted = makes ? oracle.make(same) : oracle.judge(same);
      expect_close(found.detach(), wanted.detach(), 1e-5, what);
      const torch::Tensor factors = torch::rand(found.sizes());
      (found * factors).sum().backward();
      std::vector<torch::Tensor> with = oracle.weights(makes);
      with.push_back(same);
      auto gradients = torch::autograd::grad({(wanted * factors).sum()}, with);
      expect_close(input.grad(), gradients.back(), precision.weights, what + ", of its input");
      gradients.pop_back();
      expect_gradients(replica, gradients, precision, what);
      expect_statistics(oracle, replica, makes, what);
    }
  }
}

TEST(ShowerNetworks, AreThoseOfLibTorchOnALaptop) {
  expect_networks_of_libtorch(laptop, 4, on_a_laptop);
}
TEST(ShowerNetworks, AreThoseOfLibTorchInFull) { expect_networks_of_libtorch(full, 2, in_full()); }

/// RMSprop of one network of the oracle, from where ours is.
class Rmsprop {
 public:
  Rmsprop(const nn::Replica& replica, const torch::Tensor& squares, torch::Dtype type) {
    for (std::size_t i = 0; i < replica.parameters().size(); ++i)
      squares_.push_back(replica.view(squares, i).to(type, false, true));
  }
  void step(const std::vector<torch::Tensor>& weights,
            const std::vector<torch::Tensor>& gradients) {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      squares_[i] = 0.9 * squares_[i] + 0.1 * gradients[i].square();
      weights[i].sub_(0.001 * gradients[i] / (squares_[i].sqrt() + 1e-7));
    }
  }

 private:
  std::vector<torch::Tensor> squares_;
};

/// The rows of a step of one rank in the first data epoch, and what generators are given for them.
struct Rows {
  torch::Tensor images, conditions;
  ShowerOracle::Targets targets;
  std::uint64_t seed;
  std::uint32_t step;

  Rows(const Learns& ours, std::uint32_t at, std::int64_t batch, torch::Dtype type)
      : seed(ours.job.seed()), step(at) {
    const data::SamplePlan plan(ours.sets.training->rows(), seed);
    const data::Examples examples =
        ours.sets.training->read(plan.rows_at(1, (step - 1) * batch, batch));
    images = examples.inputs;
    const core::RowTensors names = examples.target_tensors();
    const auto target = [&](const char* name) {
      return names.at(name).of(examples.targets).flatten();
    };
    conditions = torch::stack({target("energy"), target("angle")}, 1);
    targets = {target("energy").to(type), target("angle").to(type), target("sum").to(type)};
  }
  torch::Tensor input(const std::string& use, std::int64_t noise) const {
    env::Noise numbers(
        std::make_shared<env::PhiloxNoise>(core::RandomStream(seed, "noise of " + use, step)),
        images.size(0), noise, 0);
    return torch::cat({conditions, numbers.normal()}, 1);
  }
};

/// LibTorch's networks and rules in one precision, which begin each update where ours are: how much of an earlier
/// one's rounding a later one makes larger depends on the processor.
class PeerUpdates {
 public:
  using Losses = std::array<torch::Tensor, 4>;

  PeerUpdates(const Learns& ours, const nn::State& state, std::int64_t batch, std::uint32_t step,
              torch::Dtype type)
      : ours_(ours),
        oracle_(ours.network(maker).input()[0] == 256, type),
        rows_(ours, step, batch, type) {
    for (const std::size_t player : {maker, judge})
      rules_.emplace_back(
          ours.replica(player),
          state.at(player == maker ? "generator_update.square" : "discriminator_update.square"),
          type);
    begin_as_ours();
  }
  const ShowerOracle& oracle() const { return oracle_; }
  std::pair<Losses, std::vector<torch::Tensor>> gradients(std::size_t update) {
    static const std::array<std::string, 4> uses{"", "made examples", "generator update 1",
                                                 "generator update 2"};
    const bool makes = update > 1;
    torch::Tensor ours = rows_.images, images = ours.to(oracle_.type());
    if (update > 0) {
      const torch::Tensor input = rows_.input(uses[update], ours_.network(maker).input()[0] - 2);
      const auto activations = activations_of(ours_, maker, input, makes);
      oracle_.train(makes);  // what the discriminator learns from is made with running statistics
      oracle_.take_sides(true, activations);
      images = oracle_.make(input.to(oracle_.type()));
      if (!makes) images = images.detach();
      ours = activations.back();
    }
    oracle_.train(true);
    oracle_.take_sides(false, activations_of(ours_, judge, ours, true));
    const Losses losses = oracle_.losses(images, rows_.targets, update == 1 ? 0 : 1);
    return {losses,
            torch::autograd::grad({ShowerOracle::weighted(losses, makes)}, oracle_.weights(makes))};
  }
  // What the network that learns moves by in an update. shape: [weights]
  torch::Tensor move(std::size_t learns, const std::vector<torch::Tensor>& gradients) {
    rules_[learns].step(oracle_.weights(learns == maker), gradients);
    return moved(learns,
                 [&](std::size_t i) { return oracle_.weights(learns == maker)[i].detach(); });
  }
  torch::Tensor move_of_ours(std::size_t learns) const {
    const nn::Replica& replica = ours_.replica(learns);
    return moved(learns, [&](std::size_t i) { return replica.view(replica.weights(), i); });
  }
  void begin_as_ours() {
    for (const std::size_t player : {maker, judge}) {
      oracle_.take(ours_.replica(player), player == maker);
      starts_[player].clear();
      for (const torch::Tensor& one : oracle_.weights(player == maker))
        starts_[player].push_back(one.detach().clone());
    }
  }

 private:
  torch::Tensor moved(std::size_t learns,
                      const std::function<torch::Tensor(std::size_t)>& weights) const {
    std::vector<torch::Tensor> moves;
    for (std::size_t i = 0; i < starts_[learns].size(); ++i)
      moves.push_back((weights(i) - starts_[learns][i]).flatten());
    return torch::cat(moves);
  }

  const Learns& ours_;
  ShowerOracle oracle_;
  Rows rows_;
  std::vector<Rmsprop> rules_;
  std::array<std::vector<torch::Tensor>, 2> starts_;  ///< weights before the update
};

/// The four updates of a step by ours and by LibTorch. Where LibTorch computes those in full in double precision it does
/// so in single precision, too: there it is off by rounding as ours is, on any processor.
class FourUpdates {
 public:
  FourUpdates(const Learns& ours, std::int64_t batch, std::uint32_t step,
              const Precision& precision)
      : ours_(ours), precision_(precision), batch_(ours.learner->draw(step)) {
    const nn::State state = nn::give_state(*ours.learner);
    peers_.push_back(std::make_unique<PeerUpdates>(ours, state, batch, step, precision.type));
    if (precision.type == torch::kFloat64 && ours.network(maker).input()[0] == 256)
      peers_.push_back(std::make_unique<PeerUpdates>(ours, state, batch, step, torch::kFloat32));
  }
  void run(const std::string& what) {
    const std::vector<optim::Action> schedule = ours_.learner->schedule();
    ASSERT_EQ(schedule.size(), 8U);
    for (std::size_t update = 0; update < 4; ++update) {
      const std::size_t player = update < 2 ? judge : maker;
      ASSERT_EQ(schedule[2 * update].index, update);
      ASSERT_EQ(schedule[2 * update + 1].index, player);
      std::vector<std::pair<PeerUpdates::Losses, std::vector<torch::Tensor>>> wanted;
      for (const auto& peer : peers_) wanted.push_back(peer->gradients(update));
      const optim::Pass& pass = ours_.learner->passes()[update];
      const torch::Tensor told =
          train::Engine({}).gradients(pass, ours_.learner->steps(), *batch_, {});
      const std::string which = text(what, ", update ", update);
      expect_losses(pass, told, wanted[0].first, player == maker, which);
      const nn::Replica& replica = ours_.replica(player);
      for (std::size_t i = 0; i < replica.parameters().size(); ++i) {
        std::vector<torch::Tensor> of_peers;
        for (const auto& [losses, gradients] : wanted) of_peers.push_back(gradients[i]);
        const std::string& name = replica.parameters()[i].name;
        expect_near(replica.view(replica.gradients(), i), of_peers,
                    name.ends_with("bias") ? precision_.biases : precision_.weights,
                    text(which, ", ", name));
      }
      std::vector<torch::Tensor> moves;
      for (std::size_t i = 0; i < peers_.size(); ++i)
        moves.push_back(peers_[i]->move(player, wanted[i].second));
      ours_.learner->steps()[player].rule->step(0);
      expect_near(peers_[0]->move_of_ours(player), moves, 1e-4, which);
      for (const std::size_t one : {maker, judge})
        expect_statistics(peers_[0]->oracle(), ours_.replica(one), one == maker,
                          text(which, one == maker ? ", generator" : ", discriminator"));
      for (const auto& peer : peers_) peer->begin_as_ours();
    }
  }

 private:
  // Within a bound, or as near as LibTorch's own in single precision. The rounding of one logit moves all gradients of
  // an update together, in both by as much as chance has it, hence the 4.
  static void expect_near(const torch::Tensor& found, const std::vector<torch::Tensor>& of_peers,
                          double bound, const std::string& what) {
    if (of_peers.size() > 1) bound = std::max(bound, 4 * relative(of_peers[1], of_peers[0]));
    expect_close(found, of_peers[0], bound, what);
  }
  static void expect_losses(const optim::Pass& pass, const torch::Tensor& told,
                            const PeerUpdates::Losses& losses, bool makes,
                            const std::string& what) {
    const std::map<std::string, torch::Tensor> wanted{
        {"real", losses[0]}, {"energy", losses[1]}, {"angle", losses[2]}, {"sum", losses[3]}};
    for (std::size_t i = 0; i < pass.loss_names.size(); ++i) {
      const std::string& name = pass.loss_names[i];
      const std::size_t dot = name.find('.');
      const torch::Tensor& one = dot == std::string::npos ? ShowerOracle::weighted(losses, makes)
                                                          : wanted.at(name.substr(dot + 1));
      const double value = one.item<double>();  // 0 of a real shower's measures, but for rounding
      EXPECT_NEAR(told[static_cast<std::int64_t>(i)].item<double>(), value, 2e-5 * (1 + value))
          << what << ", " << name;
    }
  }

  const Learns& ours_;
  Precision precision_;
  std::unique_ptr<optim::Batch> batch_;
  std::vector<std::unique_ptr<PeerUpdates>> peers_;  ///< the exact one first
};

train::LoopConfig some_epochs() {
  train::LoopConfig config;
  config.epochs = 10;
  return config;
}

// Steps before it warm the squares and the running statistics. What is looked at update by update is what a run does.
void expect_step_of_libtorch(const std::string& settings, std::int64_t rows,
                             const Precision& precision, std::uint32_t step) {
  const Learns ours = without_chance(settings, rows);
  train::Loop loop(some_epochs(), *ours.learner, {});
  loop.run_steps(step - 1);
  const nn::State before = nn::give_state(*ours.learner);
  FourUpdates(ours, rows, step, precision).run(settings);
  const std::vector<torch::Tensor> by_hand{ours.replica(maker).weights().clone(),
                                           ours.replica(judge).weights().clone()};
  nn::take_state(*ours.learner, before);
  loop.run_steps(step);
  for (const std::size_t player : {maker, judge})
    EXPECT_TRUE(torch::equal(ours.replica(player).weights(), by_hand[player])) << player;
}

TEST(ShowerNetworks, StepAsFourUpdatesOfLibTorchOnALaptop) {
  expect_step_of_libtorch(laptop, 4, on_a_laptop, 4);
}
TEST(ShowerNetworks, StepAsFourUpdatesOfLibTorchInFull) {
  expect_step_of_libtorch(full, 2, in_full(), 2);
}

}  // namespace
}  // namespace sagips::run
