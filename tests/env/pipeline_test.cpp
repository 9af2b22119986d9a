#include "sagips/env/pipeline.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/env/environment.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

/// What a user writes: one call operator on a tensor. [samples, 2] -> [samples, events, 1]
struct Gauss {
  torch::Tensor operator()(torch::Tensor p, Noise& noise) const {
    const auto column = [&](std::int64_t i) { return p.select(1, i).unsqueeze(1); };
    return (column(0) + column(1) * noise.normal()).unsqueeze(2);
  }
};

/// Adds one number a sample, and has a form of its own for inference.
struct WithNumber {
  Events operator()(Events events, Noise&) const {
    events.numbers["sum"] = events.values.sum(1);
    return events;
  }
  Events infer(Events events, Noise&) const {
    events.numbers["sum"] = events.values.sum(1) * 10;
    return events;
  }
  std::string name() const { return "with_number"; }
};

struct Shift {
  double by = 1;
  torch::Tensor operator()(torch::Tensor events, Noise&) const { return events + by; }
  torch::Tensor infer(torch::Tensor events, Noise&) const { return events + 10 * by; }
};

template <class T>
struct Templated {
  torch::Tensor operator()(torch::Tensor events, Noise&) const { return events; }
};

/// Any behaviour under any name.
struct Act {
  std::string label;
  std::function<Events(Events, Noise&)> action;
  Events operator()(Events events, Noise& noise) const { return action(std::move(events), noise); }
  std::string name() const { return label; }
};

/// Changes the values alone.
Act guilty(std::function<torch::Tensor(torch::Tensor, Noise&)> change) {
  return {"guilty", [change = std::move(change)](Events events, Noise& noise) {
            events.values = change(events.values, noise);
            return events;
          }};
}

ParameterSet two() {
  Parameter mean, width;
  mean.name = "mean";
  width.name = "width";
  return ParameterSet({mean, width});
}

TEST(Stage, LiftsATensorStageAndLetsTheRestPassBy) {
  Events events;
  events.values = torch::ones({2, 3, 1});
  events.weights = torch::rand({2, 3});
  events.mask = torch::ones({2, 3}, torch::kBool);
  events.numbers["norm"] = torch::rand({2});
  Noise noise = noise_of(1, 2, 3);
  const Stage stage = Shift{};
  const Events out = stage(events, noise);
  EXPECT_TRUE(torch::equal(out.values, events.values + 1));
  EXPECT_TRUE(torch::equal(*out.weights, *events.weights));
  EXPECT_TRUE(torch::equal(*out.mask, *events.mask));
  EXPECT_TRUE(torch::equal(out.numbers.at("norm"), events.numbers.at("norm")));
}

TEST(Stage, UsesTheInferenceFormWhereThereIsOne) {
  Events events;
  events.values = torch::ones({2, 2});
  Noise noise = noise_of(1, 2, 3);
  EXPECT_EQ(Stage(Shift{}).infer(events, noise).values[0][0].item<float>(), 11.0F);
  EXPECT_EQ(Stage(WithNumber{}).infer(events, noise).numbers.at("sum")[0].item<float>(), 20.0F);
  EXPECT_EQ(Stage(WithNumber{})(events, noise).numbers.at("sum")[0].item<float>(), 2.0F);
  Noise again = noise;
  EXPECT_TRUE(torch::equal(Stage(Gauss{}).infer(events, noise).values,
                           Stage(Gauss{})(events, again).values))
      << "without one, the call operator serves";
}

TEST(Stage, IsNamedByItsTypeUnlessItSaysOtherwise) {
  EXPECT_EQ(Stage(Gauss{}).name(), "Gauss");
  EXPECT_EQ(Stage(WithNumber{}).name(), "with_number");
  const std::string templated = Stage(Templated<std::vector<Shift>>{}).name();
  EXPECT_EQ(templated.find("Templated<"), 0U) << templated;
  const auto lambda = [](torch::Tensor events, Noise&) { return events; };
  EXPECT_EQ(Stage(lambda).name().find("{lambda("), 0U) << Stage(lambda).name();
}

TEST(Pipeline, RunsItsStagesInOrder) {
  const Pipeline pipeline{WithNumber{}, Gauss{}, Shift{}};
  const torch::Tensor parameters = torch::tensor({{1.0F, 0.5F}, {2.0F, 0.25F}});
  Noise noise = noise_of(1, 2, 3), same = noise;
  const Events events = pipeline(parameters, noise);
  const torch::Tensor normal = same.normal();
  EXPECT_TRUE(torch::allclose(events.values[0].squeeze(1), normal[0] * 0.5 + 2));
  EXPECT_TRUE(torch::allclose(events.values[1].squeeze(1), normal[1] * 0.25 + 3));
  EXPECT_TRUE(torch::equal(events.numbers.at("sum"), torch::tensor({1.5F, 2.25F})));
}

TEST(Pipeline, InfersWithoutAGraph) {
  const Pipeline pipeline{WithNumber{}, Gauss{}, Shift{}};
  Noise noise = noise_of(1, 2, 3);
  const Events events = pipeline.infer(torch::ones({2, 2}).requires_grad_(), noise);
  EXPECT_FALSE(events.values.requires_grad());
  EXPECT_FALSE(events.numbers.at("sum").requires_grad());
  EXPECT_EQ(events.numbers.at("sum")[0].item<float>(), 20.0F);
}

TEST(PipelineCheck, ReportsShapesNoiseAndNumbers) {
  const PipelineReport report = Pipeline{WithNumber{}, Gauss{}, Shift{}}.check(two(), 1);
  ASSERT_EQ(report.rows.size(), 3U);
  EXPECT_EQ(report.rows[0].stage, "with_number");
  EXPECT_EQ(report.rows[0].noise_dimensions, 0);
  EXPECT_EQ(report.rows[1].shape.size(), 3U);
  EXPECT_EQ(report.rows[1].shape[2], 1);
  EXPECT_EQ(report.rows[1].noise_dimensions, 1);
  EXPECT_EQ(report.noise_dimensions, 1);
  EXPECT_EQ(report.numbers, std::vector<std::string>{"sum"});
}

TEST(PipelineCheck, LetsEveryStageTakeItsOwnNoise) {
  const auto smear = [](torch::Tensor x, Noise& noise) {
    return x + (noise.normal() * noise.uniform()).unsqueeze(2);
  };
  const PipelineReport report = Pipeline{Gauss{}, guilty(smear), guilty(smear)}.check(two(), 1);
  EXPECT_EQ(report.rows[2].noise_dimensions, 2);
  EXPECT_EQ(report.noise_dimensions, 5);
}

/// Gauss, then the guilty stage, then an innocent one that would spread the damage.
std::string complaint(Act culprit, std::int64_t observables = 1) {
  const Pipeline pipeline{Gauss{}, std::move(culprit), Shift{}};
  return message_of<core::ShapeError>([&] { pipeline.check(two(), observables); });
}

#define EXPECT_BLAMES_GUILTY(message, words)                   \
  do {                                                         \
    const std::string text = message;                          \
    EXPECT_NE(text.find("guilty"), std::string::npos) << text; \
    EXPECT_NE(text.find(words), std::string::npos) << text;    \
  } while (false)

TEST(PipelineCheck, RefusesAPipelineWithoutStages) {
  EXPECT_NE(message_of<core::ShapeError>([] { Pipeline{}.check(two(), 1); }).find("no stage"),
            std::string::npos);
}

TEST(PipelineCheck, NamesTheStageThatEndsWithTheWrongShape) {
  const auto last = [](std::function<torch::Tensor(torch::Tensor, Noise&)> change) {
    const Pipeline pipeline{Gauss{}, guilty(std::move(change))};
    return message_of<core::ShapeError>([&] { pipeline.check(two(), 1); });
  };
  EXPECT_BLAMES_GUILTY(last([](torch::Tensor x, Noise&) { return x.squeeze(2); }),
                       "expected [samples, events, observables]");
  EXPECT_BLAMES_GUILTY(last([](torch::Tensor x, Noise&) {
                         return x.expand({-1, -1, 2});
                       }),
                       "the data have 1 observable)");
  EXPECT_BLAMES_GUILTY(last([](torch::Tensor x, Noise&) { return x.narrow(1, 0, 7); }),
                       "expected [samples, events, observables]");
}

TEST(PipelineCheck, NamesTheStageThatLosesSamples) {
  EXPECT_BLAMES_GUILTY(complaint(guilty([](torch::Tensor x, Noise&) { return x.narrow(0, 0, 2); })),
                       "Keep the samples as first dimension");
  EXPECT_BLAMES_GUILTY(complaint(guilty([](torch::Tensor x, Noise&) { return x.sum(); })),
                       "Keep the samples as first dimension");
}

TEST(PipelineCheck, NamesTheStageThatGivesNaN) {
  EXPECT_BLAMES_GUILTY(
      complaint(guilty([](torch::Tensor x, Noise&) { return torch::log(x - 50); })),
      "returns values with NaN or infinity");
  EXPECT_BLAMES_GUILTY(complaint({"guilty",
                                  [](Events events, Noise&) {
                                    events.numbers["norm"] = events.values.sum({1, 2}) / 0;
                                    return events;
                                  }}),
                       "the number 'norm' with NaN or infinity");
  EXPECT_BLAMES_GUILTY(complaint({"guilty",
                                  [](Events events, Noise&) {
                                    events.weights = torch::log(events.values.select(2, 0) - 50);
                                    return events;
                                  }}),
                       "returns weights with NaN or infinity");
}

TEST(PipelineCheck, NamesTheStageThatReturnsNothing) {
  EXPECT_BLAMES_GUILTY(complaint(guilty([](torch::Tensor, Noise&) { return torch::Tensor(); })),
                       "returns no values");
}

TEST(PipelineCheck, NamesTheStageThatCutsTheGradient) {
  EXPECT_BLAMES_GUILTY(complaint(guilty([](torch::Tensor x, Noise&) { return x.detach(); })),
                       "cuts the gradient");
  EXPECT_BLAMES_GUILTY(
      complaint(guilty([](torch::Tensor x, Noise&) { return x.to(torch::kInt64); })),
      "they carry no gradient");
  EXPECT_BLAMES_GUILTY(complaint(guilty([](torch::Tensor x, Noise&) { return torch::round(x); })),
                       "cuts the gradient");
}

TEST(PipelineCheck, NamesTheParameterThatCannotBeLearned) {
  const Pipeline pipeline{guilty([](torch::Tensor p, Noise&) {
                            return p * doubles({1, 0}).to(p);
                          }),
                          Gauss{}};
  EXPECT_BLAMES_GUILTY(message_of<core::ShapeError>([&] { pipeline.check(two(), 1); }),
                       "parameters.width.fixed=VALUE");
  Parameter mean, width;
  mean.name = "mean";
  width.name = "width";
  width.fixed = 0.5;
  EXPECT_NO_THROW(pipeline.check(ParameterSet({mean, width}), 1)) << "a fixed one needs none";
}

TEST(PipelineCheck, NamesTheStageWhoseGradientIsNaN) {
  // sqrt has an infinite slope where its argument is zero, and zero times infinity is no number
  EXPECT_BLAMES_GUILTY(
      complaint(guilty([](torch::Tensor x, Noise&) { return x + torch::sqrt(x - x.detach()); })),
      "has a gradient of NaN or infinity");
}

TEST(PipelineCheck, NamesTheStageWithRandomnessOfItsOwn) {
  EXPECT_BLAMES_GUILTY(
      complaint(guilty([](torch::Tensor x, Noise&) { return x + torch::rand_like(x); })),
      "Take random numbers from Noise alone");
  EXPECT_BLAMES_GUILTY(complaint({"guilty",
                                  [](Events events, Noise&) {
                                    events.weights = torch::rand(events.values.sizes().slice(0, 2));
                                    return events;
                                  }}),
                       "Take random numbers from Noise alone");
  EXPECT_BLAMES_GUILTY(complaint({"guilty",
                                  [](Events events, Noise&) {
                                    events.numbers["norm"] = torch::rand(events.values.size(0));
                                    return events;
                                  }}),
                       "Take random numbers from Noise alone");
}

TEST(PipelineCheck, NamesTheStageThatThrows) {
  EXPECT_BLAMES_GUILTY(complaint(guilty([](torch::Tensor x, Noise&) {
                         return x.matmul(torch::ones({7, 7}));
                       })),
                       "fails on input of shape [6, 40, 1]: ");
  EXPECT_BLAMES_GUILTY(complaint(guilty([](torch::Tensor, Noise&) -> torch::Tensor {
                         throw std::runtime_error("no table\nfor this");
                       })),
                       "no table");
}

TEST(PipelineCheck, NamesTheStageWhoseWeightsOrMaskDoNotFit) {
  EXPECT_NE(message_of<core::ShapeError>([] {
              Pipeline{Gauss{}, Act{"guilty",
                                    [](Events events, Noise&) {
                                      events.weights = torch::ones({6});
                                      return events;
                                    }}}
                  .check(two(), 1);
            }).find("returns a weight of shape [6]"),
            std::string::npos);
  EXPECT_NE(message_of<core::ShapeError>([] {
              Pipeline{Gauss{}, Act{"guilty",
                                    [](Events events, Noise&) {
                                      events.mask = torch::ones({6, 7}, torch::kBool);
                                      return events;
                                    }}}
                  .check(two(), 1);
            }).find("returns a mask of shape [6, 7]"),
            std::string::npos);
}

TEST(PipelineCheck, NamesTheNumberThatIsNotOneASample) {
  EXPECT_BLAMES_GUILTY(complaint({"guilty",
                                  [](Events events, Noise&) {
                                    events.numbers["norm"] = events.values.sum();
                                    return events;
                                  }}),
                       "the number 'norm' with shape []");
}

struct BrokenInference {
  torch::Tensor operator()(torch::Tensor events, Noise&) const { return events; }
  torch::Tensor infer(torch::Tensor events, Noise&) const { return events.narrow(0, 0, 1); }
};

TEST(PipelineCheck, LooksAtTheInferenceFormToo) {
  const Pipeline pipeline{Gauss{}, BrokenInference{}};
  EXPECT_NE(message_of<core::ShapeError>([&] {
              pipeline.check(two(), 1);
            }).find("BrokenInference (inference form)"),
            std::string::npos);
}

core::RandomStream stream() { return {5, "toys"}; }

// Mean and variance of 10,000 events within 5 deviations: false alarm 1.2e-6.
TEST(ToyData, AreThePipelinesEventsWithItsNumbers) {
  const Pipeline pipeline{WithNumber{}, Gauss{}};
  const data::Dataset toys = toy_data(pipeline, doubles({2, 0.5}), 10'000, {"x"}, stream());
  EXPECT_EQ(toys.values.sizes(), (std::vector<std::int64_t>{10'000, 1}));
  EXPECT_EQ(toys.observables, std::vector<std::string>{"x"});
  EXPECT_EQ(toys.reference.at("sum"), 25.0) << "of the inference form";
  const torch::Tensor pulls = (toys.values.to(torch::kFloat64) - 2) / 0.5;
  EXPECT_LT(std::abs(pulls.mean().item<double>()), 5 * 0.01);
  EXPECT_LT(std::abs(chi_square_pull(pulls.square().sum().item<double>(), 10'000)), 5);
}

TEST(ToyData, AreTheSameFirstEventsForAnySize) {
  const Pipeline pipeline{Gauss{}};
  const torch::Tensor many = toy_data(pipeline, doubles({2, 0.5}), 2'500, {"x"}, stream()).values;
  const torch::Tensor few = toy_data(pipeline, doubles({2, 0.5}), 1'300, {"x"}, stream()).values;
  EXPECT_TRUE(torch::equal(many.narrow(0, 0, 1'300), few));
}

/// Inference keeps events above a threshold.
struct Above {
  float threshold;
  Events operator()(Events events, Noise&) const { return events; }
  Events infer(Events events, Noise&) const {
    events.mask = events.values.select(2, 0) > threshold;
    return events;
  }
};

TEST(ToyData, HoldExactlyTheEventsAskedForAfterASelection) {
  const Pipeline pipeline{Gauss{}, Above{2.5F}};
  const data::Dataset toys = toy_data(pipeline, doubles({2, 0.5}), 3'000, {"x"}, stream());
  EXPECT_EQ(toys.size(), 3'000);
  EXPECT_GT(toys.values.min().item<float>(), 2.5F);
  // single precision holds about a million values up there: 3,000 events share a handful of them
  EXPECT_GT(std::get<0>(torch::_unique(toys.values)).numel(), 2'950) << "no event comes again";
}

TEST(ToyData, GiveUpWhenNothingPasses) {
  const Pipeline pipeline{Gauss{}, Above{100.0F}};
  EXPECT_NE(message_of<core::DataError>([&] {
              toy_data(pipeline, doubles({2, 0.5}), 10, {"x"}, stream());
            }).find("only 0 of 1000000 events pass the selection"),
            std::string::npos);
}

/// Gives weights in either form.
struct Weighs {
  Events operator()(Events events, Noise&) const {
    events.weights = events.values.select(2, 0).square();
    return events;
  }
};

TEST(ToyData, KeepTheirWeights) {
  const data::Dataset toys =
      toy_data(Pipeline{Gauss{}, Weighs{}}, doubles({2, 0.5}), 1'500, {"x"}, stream());
  ASSERT_TRUE(toys.weights.has_value());
  EXPECT_TRUE(torch::equal(*toys.weights, toys.values.select(1, 0).square()));
}

}  // namespace
}  // namespace sagips::env
