// Which trials end before their time.
#include "sagips/study/tune/early_end.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sagips::study {
namespace {

using Rule = EarlyEndConfig::Rule;
using Trials = std::map<std::int64_t, record::TrialRecord>;

TuneConfig config_of(EarlyEndConfig rule) {
  TuneConfig config;
  config.minimise = "loss";
  config.early_end = rule;
  return config;
}

// A trial with such values after 1, 2, ... epochs.
record::TrialRecord learning_curve(const std::vector<double>& values) {
  record::TrialRecord trial;
  for (std::size_t i = 0; i < values.size(); ++i)
    trial.reports.push_back({1, static_cast<double>(i + 1), values[i], false});
  return trial;
}

bool goes_on(const Trials& trials, std::int64_t trial, const TuneConfig& config) {
  return early_end(trial, trials, config).empty();
}

// A restart tells again what was told before, and is judged as it was then.
TEST(EarlyEnd, JudgesATrialThatWasStoppedByWhereItIs) {
  const TuneConfig config = config_of({.rule = Rule::halving, .first = 3, .factor = 3});
  Trials trials = {{1, learning_curve({1, 1, 1})}, {2, learning_curve({2, 2, 2})}};
  EXPECT_FALSE(goes_on(trials, 2, config));
  trials[2].reports.push_back({1, 1, 2, false});
  EXPECT_TRUE(goes_on(trials, 2, config)) << "nobody looks after one";
  trials[2].reports.push_back({1, 2, 2, false});
  EXPECT_TRUE(goes_on(trials, 2, config));
  trials[2].reports.push_back({1, 3, 2, false});
  EXPECT_FALSE(goes_on(trials, 2, config));
}

TEST(EarlyEnd, TakesWhatIsNoNumberForTheWorst) {
  for (const Rule rule : {Rule::halving, Rule::median}) {
    const TuneConfig config = config_of({.rule = rule, .first = 1, .trials = 3});
    Trials trials;
    for (std::int64_t i = 1; i <= 3; ++i) {
      trials[i] = learning_curve({std::nan(""), std::nan("")});
      EXPECT_FALSE(goes_on(trials, i, config));
    }
    trials[4] = learning_curve({5, 3});
    EXPECT_TRUE(goes_on(trials, 4, config));
  }
}

TEST(EarlyEnd, NeverComesWithoutARule) {
  const Trials trials = {{1, learning_curve({1})}, {2, learning_curve({100})}};
  EXPECT_TRUE(goes_on(trials, 2, config_of({})));
}

TEST(EarlyEnd, LetsTheBestOfAThirdGoOn) {
  const TuneConfig config = config_of({.rule = Rule::halving, .first = 1, .factor = 3});
  Trials trials = {{1, learning_curve({5})}};
  EXPECT_TRUE(goes_on(trials, 1, config)) << "nobody waits for others";
  trials[2] = learning_curve({6});
  EXPECT_FALSE(goes_on(trials, 2, config));
  trials[3] = learning_curve({4});
  EXPECT_TRUE(goes_on(trials, 3, config));
  for (std::int64_t i = 4; i <= 8; ++i) trials[i] = learning_curve({7});
  trials[9] = learning_curve({4.5});
  EXPECT_TRUE(goes_on(trials, 9, config)) << "second of nine, three of which go on";
  trials[10] = learning_curve({6.5});
  EXPECT_FALSE(goes_on(trials, 10, config)) << "fifth of ten";
}

TEST(EarlyEnd, LooksAfterThreeTimesAsManyEpochs) {
  const TuneConfig config = config_of({.rule = Rule::halving, .first = 1, .factor = 3});
  Trials trials = {{1, learning_curve({1, 1, 1})}, {2, learning_curve({1, 2})}};
  EXPECT_TRUE(goes_on(trials, 2, config)) << "nobody looks after two";
  trials[2] = learning_curve({1, 2, 2});
  EXPECT_FALSE(goes_on(trials, 2, config));
  trials[2] = learning_curve({1, 2, 0.5});
  EXPECT_TRUE(goes_on(trials, 2, config));
}

TEST(EarlyEnd, IsTheSameWhereLargeIsGood) {
  TuneConfig config = config_of({.rule = Rule::halving, .first = 1, .factor = 3});
  config.minimise.clear();
  config.maximise = "accuracy";
  const Trials trials = {
      {1, learning_curve({0.5})}, {2, learning_curve({0.4})}, {3, learning_curve({0.6})}};
  EXPECT_FALSE(goes_on(trials, 2, config));
  EXPECT_TRUE(goes_on(trials, 3, config));
}

TEST(EarlyEnd, ComesForWhatIsNoNumber) {
  const TuneConfig config = config_of({.rule = Rule::halving, .first = 1, .factor = 3});
  EXPECT_FALSE(goes_on({{1, learning_curve({std::nan("")})}}, 1, config));
}

TEST(EarlyEnd, LetsLaterBracketsLookLater) {
  const TuneConfig config =
      config_of({.rule = Rule::brackets, .first = 1, .factor = 3, .brackets = 2});
  // trials 1, 3, 5 look first after three epochs, and are compared with each other alone
  Trials trials = {{1, learning_curve({1})},
                   {2, learning_curve({1})},
                   {3, learning_curve({9})},
                   {4, learning_curve({9})}};
  EXPECT_TRUE(goes_on(trials, 3, config));
  EXPECT_FALSE(goes_on(trials, 4, config));
  trials[1] = learning_curve({1, 1, 1});
  trials[3] = learning_curve({9, 9, 9});
  EXPECT_FALSE(goes_on(trials, 3, config));
}

TEST(EarlyEnd, ComparesTheBestWithTheMedianOfTheOthers) {
  const TuneConfig config = config_of({.rule = Rule::median, .first = 2, .trials = 3});
  Trials trials = {
      {1, learning_curve({3, 3})}, {2, learning_curve({4, 4})}, {3, learning_curve({5, 5})}};
  trials[4] = learning_curve({9});
  EXPECT_TRUE(goes_on(trials, 4, config)) << "too early";
  trials[4] = learning_curve({9, 4.5});
  EXPECT_FALSE(goes_on(trials, 4, config));
  trials[4] = learning_curve({3.5, 9});
  EXPECT_TRUE(goes_on(trials, 4, config)) << "it has been better";
  trials.erase(3);
  trials[4] = learning_curve({9, 9});
  EXPECT_TRUE(goes_on(trials, 4, config)) << "too few others";
}

// Epochs add up over folds, values are means over them, and what comes twice counts once.
TEST(EarlyEnd, SeesFoldsOneAfterTheOther) {
  record::TrialRecord trial;
  trial.reports = {{1, 1, 4, false},   {1, 2, 2, false}, {1, 1, 4, false},
                   {1, 2, 2, true, 7}, {2, 1, 6, false}, {2, 2, 3, false}};
  const TrialLearningCurve found = learning_curve_of(trial, config_of({}));
  ASSERT_EQ(found.places.size(), 4U);
  EXPECT_EQ(found.places[1].score, 2);
  EXPECT_EQ(found.places[2].epochs, 3);
  EXPECT_EQ(found.places[2].score, 4);
  EXPECT_EQ(found.places[3].epochs, 4);
  EXPECT_EQ(found.places[3].score, 2.5);
  const auto summary = summary_of(trial);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->folds, 1);
  EXPECT_EQ(summary->mean, 2.5);
  EXPECT_EQ(summary->epochs, 4);
  EXPECT_EQ(summary->time_s, 7);
  EXPECT_FALSE(summary_of({}));
}

}  // namespace
}  // namespace sagips::study
