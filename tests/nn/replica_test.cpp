#include "sagips/nn/replica.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"
#include "sagips/nn/initialise.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::nn {
namespace {

using testing::message_of;

const MlpConfig small = {.width = 4, .layers = 2};

class ReplicaTest : public ::testing::Test {
 protected:
  ReplicaTest() {
    initialise_kaiming_normal(replica, 0.2, core::RandomStream(1, "weights"));
    torch::manual_seed(1);
    input = torch::randn({6, 3});
  }

  torch::Tensor loss(const Leaves& leaves, const torch::Tensor& rows) const {
    return (*network)(leaves, rows, {}).square().sum();
  }
  void backward(Leaves& leaves, const torch::Tensor& rows) const {
    loss(leaves, rows).backward({}, {}, false, leaves.tensors);
  }

  std::shared_ptr<const Network> network = small.network(3, 2);
  Replica replica{network, SharedPart::weights_only, torch::kCPU};
  torch::Tensor input;
};

// Where each tensor starts in the flat array.
std::vector<std::int64_t> offsets(const Replica& replica) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i)
    all.push_back(replica.view(replica.weights(), i).storage_offset());
  return all;
}

TEST_F(ReplicaTest, PutsTheSharedPartFirst) {
  // 3-4-4-2: weights 12, 16, 8; biases 4, 4, 2
  EXPECT_EQ(offsets(replica), (std::vector<std::int64_t>{0, 36, 12, 40, 28, 44}));
  EXPECT_EQ(replica.shared_size(), 36);
  EXPECT_EQ(replica.size(), 46);
  for (const auto& [shared, size] :
       {std::pair(SharedPart::all, 46), std::pair(SharedPart::none, 0)}) {
    const Replica other(network, shared, torch::kCPU);
    EXPECT_EQ(offsets(other), (std::vector<std::int64_t>{0, 12, 16, 32, 36, 44}));
    EXPECT_EQ(other.shared_size(), size);
  }
}

TEST_F(ReplicaTest, ShowsTheSharedPartInPlace) {
  ASSERT_EQ(replica.shared_weights().size(), 36U);
  EXPECT_EQ(replica.shared_weights().data(), replica.weights().data_ptr<float>());
  replica.shared_weights()[13] = 7.0F;
  EXPECT_EQ(replica.leaves().tensors[2][0][1].item<float>(), 7.0F);
  replica.shared_gradients()[13] = 3.0F;
  EXPECT_EQ(replica.leaves().tensors[2].grad()[0][1].item<float>(), 3.0F);
}

TEST_F(ReplicaTest, GradientsLandInTheFlatArray) {
  std::vector<torch::Tensor> copies;
  for (const auto& leaf : replica.leaves().tensors)
    copies.push_back(leaf.detach().clone().requires_grad_());
  const auto expected = torch::autograd::grad(
      {(*network)({.tensors = copies, .gradients = {}}, input, {}).square().sum()}, copies);

  const void* place = replica.gradients().data_ptr();
  backward(replica.leaves(), input);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(torch::equal(replica.view(replica.gradients(), i), expected[i]))
        << replica.parameters()[i].name;
  EXPECT_EQ(replica.gradients().data_ptr(), place);
  replica.check_views();
}

TEST_F(ReplicaTest, AddsGradientsUntilTheyAreZeroed) {
  backward(replica.leaves(), input);
  const torch::Tensor once = replica.gradients().clone();
  backward(replica.leaves(), input);
  EXPECT_TRUE(torch::allclose(replica.gradients(), once * 2));
  replica.zero_gradients();
  EXPECT_EQ(replica.gradients().abs().max().item<float>(), 0.0F);
  replica.check_views();
}

TEST_F(ReplicaTest, CollectsTheGradientsOfSeveralThreads) {
  backward(replica.leaves(), input);
  const torch::Tensor expected = replica.gradients().clone();
  replica.zero_gradients();

  std::vector<Leaves> accumulators = {replica.make_leaves(), replica.make_leaves(),
                                      replica.make_leaves()};
  std::vector<std::thread> threads;
  for (std::int64_t k = 0; k < 3; ++k)
    threads.emplace_back(
        [&, k] { backward(accumulators[static_cast<std::size_t>(k)], input.narrow(0, 2 * k, 2)); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(replica.gradients().abs().max().item<float>(), 0.0F) << "accumulators are apart";
  for (Leaves& accumulator : accumulators) {
    replica.check_views(accumulator);
    replica.collect(accumulator);
    EXPECT_EQ(accumulator.gradients.abs().max().item<float>(), 0.0F);
  }
  EXPECT_TRUE(torch::allclose(replica.gradients(), expected, 1e-5, 1e-6));
}

TEST_F(ReplicaTest, ShowsNewWeightsToEveryAccumulator) {
  const Leaves other = replica.make_leaves();
  {
    torch::NoGradGuard no_grad;
    replica.weights().mul_(2);
  }
  EXPECT_TRUE(torch::equal(other.tensors[0], replica.leaves().tensors[0]));
  EXPECT_TRUE(torch::equal(loss(other, input), loss(replica.leaves(), input)));
}

TEST_F(ReplicaTest, SurvivesBeingMoved) {
  const void* place = replica.weights().data_ptr();
  Replica moved = std::move(replica);
  EXPECT_EQ(moved.weights().data_ptr(), place);
  backward(moved.leaves(), input);
  EXPECT_GT(moved.gradients().abs().max().item<float>(), 0.0F);
  moved.check_views();
}

std::string complaint(const Replica& replica) {
  return message_of<core::StateError>([&] { replica.check_views(); });
}

TEST_F(ReplicaTest, NoticesAGradientThatWasReset) {
  replica.leaves().tensors[3].mutable_grad().reset();
  const std::string message = complaint(replica);
  EXPECT_NE(message.find("'layer1.bias'"), std::string::npos) << message;
  EXPECT_NE(message.find("its gradient"), std::string::npos) << message;
}

TEST_F(ReplicaTest, NoticesABackwardThatCreatesAGraph) {
  loss(replica.leaves(), input).backward({}, true, /*create_graph=*/true);
  EXPECT_NE(complaint(replica).find("its gradient"), std::string::npos);
  // a graph through the gradient holds the leaf, and the leaf its gradient: break the cycle
  for (auto& leaf : replica.leaves().tensors) leaf.mutable_grad().reset();
}

TEST_F(ReplicaTest, NoticesDataThatWereSet) {
  replica.leaves().tensors[0].set_data(torch::zeros({4, 3}));
  const std::string message = complaint(replica);
  EXPECT_NE(message.find("'layer0.weight'"), std::string::npos) << message;
  EXPECT_NE(message.find("its data"), std::string::npos) << message;
}

// What Module::to does: the tensor's data become a converted copy.
TEST_F(ReplicaTest, NoticesATensorThatWasMoved) {
  torch::Tensor& leaf = replica.leaves().tensors[2];
  leaf = leaf.detach().to(leaf.options(), /*non_blocking=*/false, /*copy=*/true).requires_grad_();
  leaf.mutable_grad() = replica.view(replica.gradients(), 2);
  EXPECT_NE(complaint(replica).find("its data"), std::string::npos);
}

TEST_F(ReplicaTest, TakesItsStateInPlace) {
  const State state = give_state(replica);
  const torch::Tensor before = replica.weights().clone();
  {
    torch::NoGradGuard no_grad;
    replica.weights().zero_();
  }
  take_state(replica, state);
  EXPECT_TRUE(torch::equal(replica.weights(), before));
  replica.check_views();
}

}  // namespace
}  // namespace sagips::nn
