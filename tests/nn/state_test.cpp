#include "sagips/nn/state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::nn {
namespace {

using testing::message_of;

struct Inner {
  torch::Tensor mean = torch::zeros({2});
  void state(StateList& list) { list.field("mean", mean); }
};

/// One field of every type, and a part.
struct Example {
  torch::Tensor weights = torch::zeros({3, 2});
  std::int64_t epoch = 0;
  double best = 0;
  std::vector<double> history;
  Inner inner;

  void state(StateList& list) {
    list.field("weights", weights);
    list.part("inner", inner);
    list.field("epoch", epoch);
    list.field("best", best);
    list.field("history", history);
  }
};

Example filled() {
  Example example;
  example.weights = torch::arange(6, torch::kFloat32).view({3, 2});
  example.inner.mean = torch::tensor({0.1F, -0.2F});
  example.epoch = (std::int64_t{1} << 53) + 1;  // no double holds it
  example.best = 0.1;
  example.history = {1.0 / 3.0, std::numeric_limits<double>::infinity()};
  return example;
}

State saved() {
  Example example = filled();
  return give_state(example);
}

std::string refusal(const State& state) {
  Example example;
  return message_of<core::StateError>([&] { take_state(example, state); });
}

TEST(State, GoesThereAndBackExactly) {
  Example back;
  take_state(back, saved());
  const Example expected = filled();
  EXPECT_TRUE(torch::equal(back.weights, expected.weights));
  EXPECT_TRUE(torch::equal(back.inner.mean, expected.inner.mean));
  EXPECT_EQ(back.epoch, expected.epoch);
  EXPECT_EQ(back.best, expected.best);
  EXPECT_EQ(back.history, expected.history);
}

TEST(State, NamesPartsByDots) {
  std::vector<std::string> names;
  for (const auto& field : saved()) names.push_back(field.first);
  EXPECT_EQ(names, (std::vector<std::string>{"best", "epoch", "history", "inner.mean", "weights"}));
}

TEST(State, IsACopy) {
  Example example = filled();
  const State state = give_state(example);
  example.weights.zero_();
  EXPECT_EQ(state.at("weights").sum().item<float>(), 15.0F);
}

TEST(State, IsTakenIntoTheExistingStorage) {
  Example example;
  const torch::Tensor view = example.weights.view({6});
  take_state(example, saved());
  EXPECT_EQ(view.data_ptr(), example.weights.data_ptr());
  EXPECT_EQ(view[5].item<float>(), 5.0F);
  State state = saved();
  take_state(example, state);
  state.at("weights").zero_();
  EXPECT_EQ(view[5].item<float>(), 5.0F) << "the object does not share the state's storage";
}

TEST(State, KeepsAnEmptyList) {
  Example example, back = filled();
  take_state(back, give_state(example));
  EXPECT_TRUE(back.history.empty());
}

TEST(State, RefusesAMissingField) {
  State state = saved();
  state.erase("inner.mean");
  const std::string message = refusal(state);
  EXPECT_EQ(message.find("saved state lacks 'inner.mean'"), 0U) << message;
}

TEST(State, RefusesAnotherShape) {
  State state = saved();
  state["weights"] = torch::zeros({2, 3});
  const std::string message = refusal(state);
  EXPECT_EQ(message.find("saved state 'weights' has shape [2, 3] of float, expected [3, 2]"), 0U)
      << message;
}

TEST(State, RefusesAnotherType) {
  for (const char* name : {"weights", "epoch", "best", "history"}) {
    State state = saved();
    state[name] = state[name].to(torch::kFloat16);
    EXPECT_NE(refusal(state).find(name), std::string::npos);
  }
}

TEST(State, RefusesATableForAList) {
  State state = saved();
  state["history"] = torch::zeros({2, 2}, torch::kFloat64);
  EXPECT_NE(refusal(state).find("'history'"), std::string::npos);
}

TEST(State, RefusesWhatTheObjectDoesNotKnow) {
  State state = saved();
  state["inner.square"] = torch::zeros({2});
  EXPECT_EQ(refusal(state).find("saved state holds 'inner.square'"), 0U);
}

}  // namespace
}  // namespace sagips::nn
