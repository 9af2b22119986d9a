#include "sagips/core/config/config.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "tests/core/config_example.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::core {
namespace {

using sagips::testing::message_of;
using sagips::testing::Order;
using sagips::testing::RunExample;

std::string refusal(const std::string& yaml) {
  return message_of<ConfigError>(
      [&] { read_config(ConfigDocument::from_text(yaml, "p.yaml"), RunExample{}); });
}

RunExample read_again(const RunExample& run) {
  return read_config(ConfigDocument::from_text(write_config(run), "again.yaml"), RunExample{});
}

TEST(UnknownKey, IsAnsweredWithTheNearestOfItsGroup) {
  EXPECT_EQ(refusal("name: a\noptimizer:\n  generator:\n    learning_rat: 1e-3\n"),
            "p.yaml:4: unknown key 'optimizer.generator.learning_rat', did you mean "
            "'learning_rate'?");
}

TEST(UnknownKey, IsAnsweredWithTheKeysOfThatNameElsewhere) {
  EXPECT_EQ(refusal("learning_rate: 1e-3\n"),
            "p.yaml:1: unknown key 'learning_rate', did you mean "
            "'optimizer.generator.learning_rate' or 'optimizer.discriminator.learning_rate'?");
}

TEST(UnknownKey, IsAnsweredWithTheNearestOfTheWholeTree) {
  EXPECT_EQ(refusal("optimizer: {learning_rates: 1e-3}\n"),
            "p.yaml:1: unknown key 'optimizer.learning_rates', did you mean "
            "'optimizer.generator.learning_rate'?");
}

TEST(UnknownKey, IsAnsweredWithAllKnownWhenNothingIsNear) {
  EXPECT_EQ(refusal("optimizer: {colour: red}\n"),
            "p.yaml:1: unknown key 'optimizer.colour', known: generator, discriminator, order");
}

TEST(UnknownKey, OnTheCommandLineNamesIt) {
  ConfigDocument document;
  document.override_with("epoch=5");
  EXPECT_EQ(message_of<ConfigError>([&] { read_config(document, RunExample{}); }),
            "command line: unknown key 'epoch', did you mean 'epochs'?");
}

TEST(WriteConfig, KeepsTheOrderOfTheList) {
  EXPECT_EQ(write_config(RunExample{}),
            "name: run\nbootstrap: false\nepochs: 100\nwall_clock_s: null\ntruth: [1, 2]\n"
            "widths: [128, 64]\ncuts: []\nreference: {}\noptimizer:\n  generator:\n"
            "    learning_rate: 1e-4\n    beta1: 0.5\n  discriminator:\n"
            "    learning_rate: 1e-4\n    beta1: 0.5\n  order: discriminator_first\n");
}

TEST(WriteConfig, ReadsBackEveryDoubleBitForBit) {
  std::mt19937_64 engine(7);
  RunExample run;
  run.reference.clear();
  for (int i = 0; i < 2000; ++i) {
    const double value = std::bit_cast<double>(engine());
    if (std::isfinite(value)) run.reference[text("n", i)] = value;
  }
  const RunExample again = read_again(run);
  ASSERT_EQ(again.reference.size(), run.reference.size());
  for (const auto& [name, value] : run.reference)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(again.reference.at(name)),
              std::bit_cast<std::uint64_t>(value));
}

TEST(WriteConfig, ReadsBackAnyText) {
  for (const std::string& word : {std::string("plain"),
                                  std::string(""),
                                  std::string("null"),
                                  std::string("Null"),
                                  std::string("~"),
                                  std::string("true"),
                                  std::string("1e5"),
                                  std::string("a: b"),
                                  std::string("# no comment"),
                                  std::string("70 < M < 110"),
                                  std::string("say \"x\" \\ 'y'"),
                                  std::string("two\nlines\ttab"),
                                  std::string("\x01\x7f"),
                                  std::string("M\xc3\xbc\x6f"),
                                  std::string("---"),
                                  std::string("..."),
                                  std::string("- a"),
                                  std::string("a,b]"),
                                  std::string("/data/x.npy"),
                                  std::string("*alias"),
                                  std::string(" blanks ")}) {
    RunExample run;
    run.name = word;
    run.cuts = {word, word};
    run.reference = {{word, 1.0}};
    const RunExample again = read_again(run);
    EXPECT_EQ(again.name, word);
    EXPECT_EQ(again.cuts, run.cuts) << word;
    EXPECT_EQ(again.reference, run.reference) << word;
  }
}

TEST(WriteConfig, ReadsBackEveryOtherType) {
  RunExample run;
  run.bootstrap = true;
  run.epochs = std::numeric_limits<std::int64_t>::max();
  run.wall_clock_s = 0.1;
  run.truth = {};
  run.widths = {1, std::int64_t{1} << 60};
  run.optimizer.order = Order::generator_first;
  run.optimizer.discriminator.beta1 = 1.0 / 3.0;
  const RunExample again = read_again(run);
  EXPECT_EQ(write_config(again), write_config(run));
  EXPECT_EQ(again.epochs, run.epochs);
  EXPECT_EQ(again.wall_clock_s, run.wall_clock_s);
  EXPECT_EQ(again.widths, run.widths);
  EXPECT_EQ(again.optimizer.order, Order::generator_first);
  EXPECT_EQ(again.optimizer.discriminator.beta1, 1.0 / 3.0);
}

TEST(DescribeFields, GivesOneLineAFieldAndAGroup) {
  RunExample run;
  FieldList list;
  run.fields(list);
  const std::vector<FieldDescription> all = describe_fields(list);
  ASSERT_EQ(all.size(), 16u);  // 13 fields, 3 groups
  EXPECT_EQ(all[2].key, "epochs");
  EXPECT_EQ(all[2].type, "whole number");
  EXPECT_EQ(all[2].range, ">= 1");
  EXPECT_EQ(all[2].value, "100");
  EXPECT_EQ(all[2].help, "length of the training");
  EXPECT_EQ(all[9].key, "optimizer.generator");
  EXPECT_EQ(all[9].type, "group");
  EXPECT_EQ(all[15].range, "discriminator_first | generator_first");
}

TEST(DescribeFields, StaysBelowAPrefix) {
  RunExample run;
  FieldList list;
  run.fields(list);
  const std::vector<FieldDescription> one = describe_fields(list, "optimizer.generator.beta1");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].range, ">= 0, < 1");
  EXPECT_EQ(describe_fields(list, "optimizer.generator").size(), 3u);
}

TEST(DescribeFields, SuggestsTheNearestForAnUnknownPrefix) {
  RunExample run;
  FieldList list;
  run.fields(list);
  EXPECT_EQ(message_of<ConfigError>([&] { describe_fields(list, "optimizer.generatr"); }),
            "command line: unknown key 'optimizer.generatr', did you mean "
            "'generator'?");
  EXPECT_EQ(message_of<ConfigError>([&] { describe_fields(list, "beta1"); }),
            "command line: unknown key 'beta1', did you mean 'optimizer.generator.beta1' or "
            "'optimizer.discriminator.beta1'?");
  EXPECT_EQ(message_of<ConfigError>([&] { describe_fields(list, "optimizr.generator.beta1"); }),
            "command line: unknown key 'optimizr', did you mean 'optimizer'?");
  EXPECT_EQ(message_of<ConfigError>([&] { describe_fields(list, "epochs.first"); }),
            "command line: unknown key 'epochs.first'");
}

}  // namespace
}  // namespace sagips::core
