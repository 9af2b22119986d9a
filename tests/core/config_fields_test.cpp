#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "tests/core/config_example.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::core {
namespace {

using sagips::testing::message_of;
using sagips::testing::Order;
using sagips::testing::RunExample;

RunExample read_text(const std::string& yaml) {
  return read_config(ConfigDocument::from_text(yaml, "p.yaml"), RunExample{});
}

std::string refusal(const std::string& yaml) {
  return message_of<ConfigError>([&] { read_text(yaml); });
}

TEST(Range, WritesItselfAsAUserWould) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Range{}.text(), "");
  EXPECT_EQ(Range::positive().text(), "> 0");
  EXPECT_EQ(Range::at_least(1).text(), ">= 1");
  EXPECT_EQ(Range::between(0, 1).text(), "0 .. 1");
  EXPECT_EQ((Range{0, 1, true, false}).text(), "> 0, <= 1");
  EXPECT_EQ((Range{0, 1, false, true}).text(), ">= 0, < 1");
  EXPECT_EQ((Range{-infinity, 5, false, true}).text(), "< 5");
  EXPECT_EQ((Range{-infinity, 5, false, false}).text(), "<= 5");
}

TEST(Range, IncludesItsBoundsUnlessTheyAreOpen) {
  const Range half_open{0, 1, true, false};
  EXPECT_FALSE(half_open.contains(0));
  EXPECT_TRUE(half_open.contains(1));
  EXPECT_FALSE((Range{0, 1, false, true}).contains(1));
  EXPECT_FALSE(Range::between(0, 1).contains(1.1));
}

TEST(Range, NeverHoldsNonFiniteNumbers) {
  EXPECT_FALSE(Range{}.contains(std::nan("")));
  EXPECT_FALSE(Range{}.contains(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(Range{}.contains(-std::numeric_limits<double>::infinity()));
}

TEST(ConfigFields, ReadEveryType) {
  const RunExample run = read_text(
      "name: a run\nbootstrap: true\nepochs: 7\nwall_clock_s: 2.5\ntruth: [3, 4e0]\n"
      "widths: [1, 2]\ncuts: ['70 < M < 110', pt1 > 20]\nreference: {norm_1: 1.5}\n"
      "optimizer:\n  order: generator_first\n  generator:\n    learning_rate: 1e-3\n");
  EXPECT_EQ(run.name, "a run");
  EXPECT_TRUE(run.bootstrap);
  EXPECT_EQ(run.epochs, 7);
  EXPECT_EQ(run.wall_clock_s, 2.5);
  EXPECT_EQ(run.truth, (std::vector<double>{3, 4}));
  EXPECT_EQ(run.widths, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(run.cuts, (std::vector<std::string>{"70 < M < 110", "pt1 > 20"}));
  EXPECT_EQ(run.reference, (std::map<std::string, double>{{"norm_1", 1.5}}));
  EXPECT_EQ(run.optimizer.order, Order::generator_first);
  EXPECT_EQ(run.optimizer.generator.learning_rate, 1e-3);
  EXPECT_EQ(run.optimizer.discriminator.learning_rate, 1e-4);
}

TEST(ConfigFields, TakeWholeNumbersInScientificForm) {
  EXPECT_EQ(read_text("epochs: 1e5\n").epochs, 100000);
  EXPECT_EQ(read_text("epochs: 100000\n").epochs, 100000);
  EXPECT_EQ(read_text("epochs: 2.0\n").epochs, 2);
  EXPECT_EQ(read_text("epochs: +3\n").epochs, 3);
  EXPECT_EQ(read_text("epochs: 9223372036854775807\n").epochs,
            std::numeric_limits<std::int64_t>::max());
}

TEST(ConfigFields, RefuseWhatIsNoWholeNumber) {
  EXPECT_EQ(refusal("epochs: 1.5\n"), "p.yaml:1: epochs = 1.5 is not a whole number.");
  for (const char* wrong : {"1e300", "9223372036854775808", "ten", "'5'", "true", "5 s", "nan"})
    EXPECT_NE(refusal(std::string("epochs: ") + wrong).find("is not a whole number"),
              std::string::npos)
        << wrong;
}

TEST(ConfigFields, RefuseNumbersOutOfRange) {
  EXPECT_EQ(refusal("optimizer:\n  generator:\n    learning_rate: -1\n"),
            "p.yaml:3: optimizer.generator.learning_rate = -1 is out of range (> 0)");
  EXPECT_EQ(refusal("epochs: 0\n"), "p.yaml:1: epochs = 0 is out of range (>= 1)");
  EXPECT_EQ(refusal("truth:\n  - 1\n  - 11\n"),
            "p.yaml:3: truth[1] = 11 is out of range (0 .. 10)");
  EXPECT_EQ(refusal("reference: {a: inf}\n"),
            "p.yaml:1: reference.a = inf is out of range (a finite number)");
  EXPECT_EQ(refusal("wall_clock_s: 0\n"), "p.yaml:1: wall_clock_s = 0 is out of range (> 0)");
}

TEST(ConfigFields, RefuseWrongTypes) {
  EXPECT_EQ(refusal("bootstrap: yes\n"), "p.yaml:1: bootstrap = yes is not true or false.");
  EXPECT_EQ(refusal("bootstrap: 'true'\n"), "p.yaml:1: bootstrap = 'true' is not true or false.");
  EXPECT_EQ(refusal("truth: {a: 5}\n"),
            "p.yaml:1: truth is a group of keys, it must be a list, such as [a, b].");
  EXPECT_EQ(refusal("truth: [1, x]\n"), "p.yaml:1: truth[1] = x is not a number.");
  EXPECT_EQ(refusal("truth: [1, [2]]\n"), "p.yaml:1: truth[1] is a list, it must be a number.");
  EXPECT_EQ(refusal("name: [a]\n"), "p.yaml:1: name is a list, it must be a text.");
  EXPECT_EQ(refusal("name:\n"),
            "p.yaml:1: name has no value, it must be a text ('' for an empty one).");
  EXPECT_EQ(refusal("epochs:\n"), "p.yaml:1: epochs has no value, it must be a whole number.");
  EXPECT_EQ(refusal("reference: 3\n"), "p.yaml:1: reference = 3 is not a group of named numbers.");
  EXPECT_EQ(refusal("wall_clock_s: soon\n"),
            "p.yaml:1: wall_clock_s = soon is not a number or null.");
}

TEST(ConfigFields, QuoteOneLineOfWhatTheyRefuse) {
  EXPECT_EQ(refusal("epochs: |\n  two\n  lines\n"),
            "p.yaml:1: epochs = 'two lines ' is not a whole number.");
  EXPECT_LT(refusal("epochs: " + std::string(10'000, 'x') + "\n").size(), 120u);
}

TEST(ConfigFields, RefuseAValueForAGroupAndTheReverse) {
  EXPECT_EQ(refusal("optimizer: adam\n"),
            "p.yaml:1: optimizer is a group of keys (generator, discriminator, order), not a "
            "value. Set one of them.");
  EXPECT_EQ(refusal("optimizer: [a]\n").find("p.yaml:1: optimizer is a group of keys"), 0u);
  EXPECT_EQ(refusal("epochs: {value: 5}\n"),
            "p.yaml:1: epochs is a group of keys, it must be a whole number.");
}

TEST(ConfigFields, RefuseUnknownWordsOfAChoice) {
  EXPECT_EQ(refusal("optimizer: {order: both}\n"),
            "p.yaml:1: optimizer.order = both is not one of discriminator_first, "
            "generator_first.");
  EXPECT_EQ(refusal("optimizer: {order: [a]}\n"),
            "p.yaml:1: optimizer.order is a list, it must be one of discriminator_first, "
            "generator_first.");
}

TEST(ConfigFields, TakeNullAsNoNumberWhereThatIsAllowed) {
  for (const char* none : {"null", "~", ""}) {
    RunExample run;
    run.wall_clock_s = 5.0;
    const ConfigDocument document =
        ConfigDocument::from_text(std::string("wall_clock_s: ") + none, "p.yaml");
    EXPECT_EQ(read_config(document, run).wall_clock_s, std::nullopt) << none;
  }
}

TEST(ConfigFields, ReplaceListsAndNamedNumbersAsAWhole) {
  RunExample run;
  run.reference = {{"a", 1}, {"b", 2}};
  const ConfigDocument document =
      ConfigDocument::from_text("reference: {c: 3}\ntruth: []\n", "p.yaml");
  const RunExample read = read_config(document, run);
  EXPECT_EQ(read.reference, (std::map<std::string, double>{{"c", 3}}));
  EXPECT_TRUE(read.truth.empty());
}

TEST(ConfigFields, ChangeNothingWhenOneOfThemIsWrong) {
  RunExample run;
  FieldList list;
  run.fields(list);
  const ConfigDocument document = ConfigDocument::from_text(
      "epochs: 7\noptimizer: {order: generator_first}\ntruth: [x]\n", "p.yaml");
  EXPECT_THROW(read_fields(document, list), ConfigError);
  EXPECT_EQ(run.epochs, 100);
  EXPECT_EQ(run.optimizer.order, Order::discriminator_first);
}

TEST(ConfigFields, TakeAWordInPlaceOfNumbers) {
  struct Padded {
    std::vector<std::int64_t> padding{0};
    void fields(FieldList& list) {
      list.add_numbers_or("padding", "same", padding, "zeros", Range::at_least(0));
    }
  };
  const auto read = [](const std::string& value) {
    return read_config(ConfigDocument::from_text("padding: " + value + "\n", "p.yaml"), Padded{});
  };
  EXPECT_EQ(read("same").padding, std::vector<std::int64_t>());
  EXPECT_EQ(write_config(read("same")), "padding: same\n");
  EXPECT_EQ(read("[1, 2]").padding, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(write_config(read("3")), "padding: [3]\n");
  for (const char* wrong : {"sane", "[]", "[-1]", "[same]"})
    EXPECT_NE(message_of<ConfigError>([&] { read(wrong); }).find("padding"), std::string::npos)
        << wrong;
}

TEST(ConfigFields, RefuseAFieldListedTwice) {
  double value = 0.0;
  FieldList list;
  list.add("a", value, "help");
  EXPECT_THROW(list.add("a", value, "help"), Error);
}

}  // namespace
}  // namespace sagips::core
