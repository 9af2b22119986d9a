#include <gtest/gtest.h>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "tests/core/config_example.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::core {
namespace {

using sagips::testing::message_of;
using sagips::testing::RunExample;
using sagips::testing::TemporaryFolder;

TEST(ConfigDocument, KnowsWhereEachValueWasSet) {
  ConfigDocument document =
      ConfigDocument::from_text("name: a\n\noptimizer:\n  generator:\n    beta1: 0.9\n", "p.yaml");
  document.override_with("epochs=5");
  EXPECT_EQ(document.where("name"), "p.yaml:1");
  EXPECT_EQ(document.where("optimizer"), "p.yaml:3");
  EXPECT_EQ(document.where("optimizer.generator.beta1"), "p.yaml:5");
  EXPECT_EQ(document.where("epochs"), "command line");
  EXPECT_EQ(document.where("optimizer.order"), "");
  EXPECT_EQ(document.where("name.deeper"), "");
}

TEST(ConfigDocument, GivesTopLevelScalars) {
  const ConfigDocument document =
      ConfigDocument::from_text("workload: proxy1d\nlist: [1]\nnothing:\n", "p.yaml");
  EXPECT_EQ(document.scalar("workload"), "proxy1d");
  EXPECT_EQ(document.scalar("seed"), std::nullopt);
  EXPECT_EQ(document.scalar("nothing"), std::nullopt);
  EXPECT_EQ(message_of<ConfigError>([&] { document.scalar("list"); }),
            "p.yaml:2: 'list' must be a single value.");
}

TEST(ConfigDocument, LaysOverridesOverTheFile) {
  ConfigDocument document =
      ConfigDocument::from_text("optimizer:\n  generator: {beta1: 0.9}\n", "p.yaml");
  document.override_with("optimizer.generator.learning_rate=1e-3");
  document.override_with(" truth = [3, 4.5] ");
  document.override_with("cuts=[70 < M < 110, 'pt1 > 20']");
  document.override_with("name=");
  const RunExample run = read_config(document, RunExample{});
  EXPECT_EQ(run.optimizer.generator.beta1, 0.9);
  EXPECT_EQ(run.optimizer.generator.learning_rate, 1e-3);
  EXPECT_EQ(run.truth, (std::vector<double>{3, 4.5}));
  EXPECT_EQ(run.cuts, (std::vector<std::string>{"70 < M < 110", "pt1 > 20"}));
  EXPECT_EQ(run.name, "");
}

TEST(ConfigDocument, TakesTheLastOfTwoOverrides) {
  ConfigDocument document;
  document.override_with("epochs=5");
  document.override_with("epochs=6");
  EXPECT_EQ(read_config(document, RunExample{}).epochs, 6);
}

TEST(ConfigDocument, LaysDocumentsOverEachOtherAndKeepsPlaces) {
  ConfigDocument lower = ConfigDocument::from_text(
      "epochs: 5\ntruth: [1, 2]\nreference: {a: 1, b: 2}\noptimizer: {order: generator_first}\n",
      "lower.yaml");
  const ConfigDocument upper = ConfigDocument::from_text(
      "# upper\nepochs: 7\ntruth: [9]\nreference: {b: 3}\noptimizer:\n", "upper.yaml");
  lower.lay_over(upper);
  const RunExample run = read_config(lower, RunExample{});
  EXPECT_EQ(run.epochs, 7);
  EXPECT_EQ(run.truth, std::vector<double>{9});
  EXPECT_EQ(run.reference, (std::map<std::string, double>{{"a", 1}, {"b", 3}}));
  EXPECT_EQ(run.optimizer.order, sagips::testing::Order::generator_first);
  EXPECT_EQ(lower.where("epochs"), "upper.yaml:2");
  EXPECT_EQ(lower.where("optimizer.order"), "lower.yaml:4");
}

TEST(ConfigDocument, CopiesAreIndependent) {
  ConfigDocument first = ConfigDocument::from_text("epochs: 5\n", "p.yaml");
  ConfigDocument second = first;
  second.override_with("epochs=6");
  first = ConfigDocument(first);
  EXPECT_EQ(first.scalar("epochs"), "5");
  EXPECT_EQ(second.scalar("epochs"), "6");
}

TEST(ConfigDocument, ReadsAFileAndNamesItInErrors) {
  const TemporaryFolder folder;
  const std::string path = folder.make("p.yaml", "epochs: 5\n");
  EXPECT_EQ(ConfigDocument::from_file(path).where("epochs"), path + ":1");
}

TEST(ConfigDocument, RefusesAMissingFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.yaml");
  const std::string message = message_of<ConfigError>([&] { ConfigDocument::from_file(path); });
  EXPECT_TRUE(message.starts_with(path + ": cannot be read (No such file or directory)"))
      << message;
}

TEST(ConfigDocument, TakesAnEmptyFile) {
  for (const char* yaml : {"", "# only a comment\n", "---\n", "{}"})
    EXPECT_EQ(read_config(ConfigDocument::from_text(yaml, "p.yaml"), RunExample{}).epochs, 100);
}

TEST(ConfigDocument, PlacesSyntaxErrors) {
  const std::string message = message_of<ConfigError>(
      [] { ConfigDocument::from_text("epochs: 5\ntruth: [1, 2\nname: a\n", "p.yaml"); });
  EXPECT_TRUE(message.starts_with("p.yaml:")) << message;
  EXPECT_NE(message.find("is not valid YAML"), std::string::npos) << message;
  const std::string tabs = message_of<ConfigError>(
      [] { ConfigDocument::from_text("optimizer:\n\tbeta1: 1\n", "p.yaml"); });
  EXPECT_TRUE(tabs.starts_with("p.yaml:2: ")) << tabs;
}

TEST(ConfigDocument, RefusesAKeyTwice) {
  const std::string message = message_of<ConfigError>(
      [] { ConfigDocument::from_text("epochs: 5\nname: a\nepochs: 6\n", "p.yaml"); });
  EXPECT_EQ(message, "p.yaml:3: 'epochs' is set twice (first at p.yaml:1). Keep one of them.");
}

TEST(ConfigDocument, RefusesWhatIsNoListOfKeys) {
  for (const char* yaml : {"just a text", "- a\n- b\n", "[a]: 1\n", "a: 1\n---\nb: 2\n"})
    EXPECT_THROW(ConfigDocument::from_text(yaml, "p.yaml"), ConfigError) << yaml;
}

// One line of aliases of aliases can stand for billions of values, or for itself.
TEST(ConfigDocument, RefusesAliases) {
  EXPECT_EQ(message_of<ConfigError>(
                [] { ConfigDocument::from_text("a: &x 1\nb: [1,\n *x]\n", "p.yaml"); }),
            "p.yaml:3: aliases ('*name') are not followed. Write the value out.");
}

TEST(ConfigDocument, RefusesTextBehindTheFirstDocument) {
  const std::string message =
      message_of<ConfigError>([] { ConfigDocument::from_text("a: 1\n---\nb: 2\n", "p.yaml"); });
  EXPECT_TRUE(message.starts_with("p.yaml:2: is not valid YAML: something follows")) << message;
  for (const char* stray : {",", ",,", ", a", "- a\n, b\n"})
    EXPECT_THROW(ConfigDocument::from_text(stray, "p.yaml"), ConfigError) << stray;
  EXPECT_EQ(ConfigDocument::from_text("a: 1\n...\n", "p.yaml").scalar("a"), "1");
}

TEST(ConfigDocument, RefusesDeepNesting) {
  const std::string deep = std::string(2000, '[') + std::string(2000, ']');
  EXPECT_THROW(ConfigDocument::from_text("a: " + deep, "p.yaml"), ConfigError);
}

TEST(ConfigDocument, RefusesAnOverrideWithoutKeyOrValueSign) {
  ConfigDocument document;
  EXPECT_EQ(message_of<ConfigError>([&] { document.override_with("epochs"); }),
            "command line: 'epochs' is no setting. Write key=value.");
  for (const char* wrong : {"=5", "a..b=5", ".a=5", "a.=5"})
    EXPECT_EQ(message_of<ConfigError>([&] { document.override_with(wrong); }),
              std::string("command line: '") + wrong + "' names no key. Write key=value.");
}

TEST(ConfigDocument, PlacesBrokenOverridesOnTheCommandLine) {
  ConfigDocument document;
  const std::string message =
      message_of<ConfigError>([&] { document.override_with("truth=[1, 2"); });
  EXPECT_TRUE(message.starts_with("command line 'truth=[1, 2': is not valid YAML")) << message;
}

TEST(ConfigDocument, RefusesAGroupOverAValue) {
  ConfigDocument document = ConfigDocument::from_text("optimizer: adam\n", "p.yaml");
  EXPECT_EQ(message_of<ConfigError>([&] { document.override_with("optimizer.order=a"); }),
            "command line: 'optimizer' is a group here and a single value at p.yaml:1. "
            "Correct one of them.");
}

TEST(ConfigDocument, TakesWordsOfTheCommandLineAsTheyAre) {
  for (const std::string word : {"-6:", ":-6", "0:40, 3:", "*.h5", "&a", "# x", "%x"}) {
    ConfigDocument document;
    document.override_with("name=" + word);
    EXPECT_EQ(read_config(document, RunExample{}).name, word);
  }
  ConfigDocument document;
  document.override_with("name='quoted: text'");
  EXPECT_EQ(read_config(document, RunExample{}).name, "quoted: text");
}

}  // namespace
}  // namespace sagips::core
