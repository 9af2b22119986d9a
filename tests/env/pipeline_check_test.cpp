// The dry run of a pipeline: which stage it blames, and for what.
#include <gtest/gtest.h>

#include <functional>

#include "sagips/core/error.hpp"
#include "sagips/env/pipeline.hpp"
#include "sagips/env/stages/event_filter.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"
#include "tests/env/small_stages.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

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

#define EXPECT_BLAMES_GUILTY(message, words)                   \
  do {                                                         \
    const std::string text = message;                          \
    EXPECT_NE(text.find("guilty"), std::string::npos) << text; \
    EXPECT_NE(text.find(words), std::string::npos) << text;    \
  } while (false)

ParameterSet two() {
  Parameter mean, width;
  mean.name = "mean";
  width.name = "width";
  return ParameterSet({mean, width});
}

TEST(PipelineCheck, AsksForNoGradientWhereNoneIsTaken) {
  const Pipeline chooses{guilty([](torch::Tensor p, Noise& noise) {
    return torch::where(noise.uniform() < p.select(1, 0).unsqueeze(1), 1.0F, 0.0F).unsqueeze(2);
  })};
  EXPECT_THROW(chooses.check(two(), 1), core::ShapeError);
  EXPECT_NO_THROW(chooses.check(two(), 1, Reach::nothing));
}

// Whose numbers do not change is sure of what it says, and wrong. Few events may be equal by chance.
TEST(PipelineCheck, RefusesASimulatorOfOneSample) {
  const auto normal = [](torch::Tensor p, const torch::Tensor& numbers) {
    return (p.narrow(1, 0, 1) + p.narrow(1, 1, 1) * numbers).unsqueeze(2);
  };
  const Pipeline seeded{guilty([&](torch::Tensor p, Noise& noise) {
    return normal(p, torch::linspace(-2, 2, noise.normal().size(1)).unsqueeze(0));
  })};
  EXPECT_BLAMES_GUILTY(message_of<core::ShapeError>([&] { seeded.check(two(), 1); }),
                       "events for other random numbers");
  const Pipeline rare{guilty([&](torch::Tensor p, Noise& noise) {
    return normal(p, torch::where(noise.uniform() < 1e-3, 1.0F, 0.0F));
  })};
  EXPECT_NO_THROW(rare.check(two(), 1));
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
                            return torch::cat({p.narrow(1, 0, 1), p.narrow(1, 1, 1).detach()}, 1);
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

// What it is makes no difference to any event: that is an answer, and no gradient is missing.
TEST(PipelineCheck, LetsAParameterBeThatChangesNothing) {
  const Pipeline pipeline{guilty([](torch::Tensor p, Noise&) {
                            return p * doubles({1, 0}).to(p) + doubles({0, 1}).to(p);
                          }),
                          Gauss{}};
  EXPECT_EQ(pipeline.check(two(), 1).reaches, (std::vector<bool>{true, false}));
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

EventFilter soft_box(double low, double high) {
  EventFilter::Config config;
  config.low = {low};
  config.high = {high};
  return {config, 1};
}

TEST(PipelineCheck, NamesTheStageThatLetsEveryEventVanish) {
  const Pipeline nothing{Gauss{}, soft_box(200, 300), Shift{}};
  const std::string message = message_of<core::ShapeError>([&] { nothing.check(two(), 1); });
  EXPECT_EQ(message.find("stage 'event_filter': gives weights that sum to 0 over 24000 events"), 0U)
      << message;
  EXPECT_NO_THROW((Pipeline{Gauss{}, soft_box(0.5, 0.6), Shift{}}.check(two(), 1)));
}

TEST(PipelineCheck, BlamesNoStageForANarrowSelectionThatAFewEventsPass) {
  // the first 40 events of each sample weigh nothing, later ones do
  const Act rare{"rare", [](Events events, Noise&) {
                   const torch::Tensor place = torch::arange(events.values.size(1));
                   events.weights = (place >= 40).to(torch::kFloat32) * events.values.select(2, 0);
                   return events;
                 }};
  EXPECT_NO_THROW((Pipeline{Gauss{}, rare, Shift{}}.check(two(), 1)));
}

}  // namespace
}  // namespace sagips::env
