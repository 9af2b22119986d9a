// Between points of the unit cube and settings.
#include "sagips/study/tune/setting_space.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/search/search_numbers.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::study {
namespace {

using Settings = std::vector<std::string>;

std::vector<TunedKey> example() {
  return {{.key = "rate", .low = 1e-4, .high = 1e-1, .log = true},
          {.key = "filters", .low = 2, .high = 5, .integer = true},
          {.key = "kind", .values = {"adam", "sgd"}},
          {.key = "momentum", .low = 0, .high = 1, .when = "kind=sgd"},
          {.key = "units", .low = 10, .high = 1000, .log = true, .integer = true}};
}

TEST(SettingSpace, WritesAPointAsSettings) {
  const SettingSpace space(example());
  EXPECT_EQ(space.settings({0.5, 0.1, 0.2, 0.5, 0.5}),
            (Settings{"rate=0.003162", "filters=2", "kind=adam", "units=100"}));
  EXPECT_EQ(space.settings({1e-9, 0.9, 0.9, 0.25, 1 - 1e-9}),
            (Settings{"rate=1e-4", "filters=5", "kind=sgd", "momentum=0.25", "units=1000"}));
}

TEST(SettingSpace, WritesAsManyDigitsAsARangeNeeds) {
  const SettingSpace space(std::vector<TunedKey>{{.key = "momentum", .low = 0.9, .high = 0.99999},
                                                 {.key = "rate", .low = 1.00001, .high = 1.00004}});
  EXPECT_EQ(space.settings({1 - 1e-9, 1 - 1e-9}), (Settings{"momentum=0.99999", "rate=1.00004"}));
  EXPECT_EQ(space.settings({1e-9, 0.5}), (Settings{"momentum=0.9", "rate=1.000025"}));
}

TEST(SettingSpace, FindsThePointOfSettingsAgain) {
  const SettingSpace space(example());
  optim::SearchNumbers numbers(core::RandomStream(1, "test"));
  for (int i = 0; i < 200; ++i) {
    const optim::Point point = space.space().placed(numbers.point(5));
    const Settings settings = space.settings(point);
    const auto found = space.point(settings);
    ASSERT_TRUE(found) << core::join(settings, " ");
    EXPECT_EQ(space.settings(*found), settings);
  }
  EXPECT_FALSE(space.point({"rate=0.01", "filters=3", "kind=sgd", "units=20"}));  // no momentum
  EXPECT_FALSE(space.point({"rate=0.5", "filters=3", "kind=adam", "units=20"}));
  EXPECT_FALSE(space.point({"rate=0.01", "filters=3", "kind=none", "units=20"}));
}

TEST(SettingSpace, ShowsEveryEndAndValueWhereItCounts) {
  std::string all;
  for (const Settings& settings : SettingSpace(example()).examples())
    all += core::join(settings, " ") + "\n";
  for (const char* part : {"rate=1e-4 ", "rate=0.1 ", "filters=2", "filters=5", "kind=adam",
                           "momentum=1e-9 ", "momentum=1 ", "units=10\n", "units=1000\n"})
    EXPECT_NE(all.find(part), std::string::npos) << part << " in\n" << all;
}

TEST(SettingSpace, ChangesNumbersByAFactorAndValuesByAStep) {
  const SettingSpace space(example());
  const optim::Point point = *space.point({"rate=0.01", "filters=3", "kind=adam", "units=100"});
  const auto changed = [&](std::size_t key, bool up) {
    optim::Point next = point;
    next[key] = space.changed(point, key, 2, up);
    return space.value(next, key);
  };
  EXPECT_EQ(changed(0, true), "0.02");
  EXPECT_EQ(changed(0, false), "0.005");
  EXPECT_EQ(changed(1, true), "4");
  EXPECT_EQ(changed(2, true), "sgd");
  EXPECT_EQ(changed(2, false), "adam");  // there is none before it
  EXPECT_EQ(changed(4, true), "200");
}

TEST(SettingSpace, RefusesWhatIsNone) {
  const TunedKey good = {.key = "a", .values = {"x", "y"}};
  const TunedKey range = {.key = "r", .low = 0, .high = 1};
  const std::vector<std::pair<std::vector<TunedKey>, std::string>> wrong = {
      {{{.key = ""}}, "has no key"},
      {{good, good}, "twice"},
      {{{.key = "b"}}, "needs low and high"},
      {{{.key = "b", .low = 2, .high = 2}}, "empty"},
      {{{.key = "b", .low = 2, .high = 1}}, "empty"},
      {{{.key = "b", .low = 0, .high = 1, .log = true}}, "no logarithm"},
      {{{.key = "b", .low = 0.5, .high = 2, .integer = true}}, "whole numbers"},
      {{{.key = "b", .low = 0, .high = 1, .values = {"1"}}}, "values and a range"},
      {{{.key = "b", .low = 0, .high = 1, .when = "b=1"}}, "depends on itself"},
      {{{.key = "b", .low = 0, .high = 1, .when = "a=x"}, good}, "before this one"},
      {{good, {.key = "b", .low = 0, .high = 1, .when = "a"}}, "KEY=VALUE"},
      {{good, {.key = "b", .low = 0, .high = 1, .when = "a=z"}}, "never 'z'"},
      {{range, {.key = "b", .low = 0, .high = 1, .when = "r=1"}}, "is a range"}};
  for (const auto& [keys, words] : wrong) {
    const std::string message =
        testing::message_of<core::ConfigError>([&, &keys = keys] { SettingSpace space(keys); });
    EXPECT_NE(message.find(words), std::string::npos) << words << " in: " << message;
    EXPECT_NE(message.find("tune.space."), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sagips::study
