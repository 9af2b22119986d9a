#include <gtest/gtest.h>

#include "sagips/core/config/config.hpp"
#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::core {
namespace {

using sagips::testing::message_of;

struct Named {
  std::string name{};
  double low = 0, high = 1;
  void fields(FieldList& list) {
    list.add("low", low, "lower end");
    list.add("high", high, "upper end", Range::positive());
  }
};

/// Two kinds of stage, told apart by their first key.
struct Step {
  std::string kind{};
  std::string file{};
  double width = 1;
  static Step from(const GivenItem& given) {
    for (const std::string& key : given.keys)
      if (key == "script" || key == "smear") return {key, {}, 1};
    throw ConfigError(given.where, given.key + " is of no kind that is known.");
  }
  void fields(FieldList& list) {
    if (kind == "script") list.add("script", file, "a file");
    if (kind == "smear") list.add("smear", width, "a width", Range::positive());
  }
};

struct Chain {
  std::vector<Named> parameters{};
  std::vector<Step> steps{};
  void fields(FieldList& list) {
    list.named_groups("parameters", parameters, "what is looked for");
    list.list("steps", steps, "one after the other");
  }
};

const std::string whole =
    "parameters:\n  life time: {low: 0.1, high: 5}\n  n: {high: 2}\n"
    "steps:\n  - {script: \"a b.pt\"}\n  - {smear: 0.5}\n";

Chain read_chain(const std::string& yaml, const std::vector<std::string>& assignments = {}) {
  ConfigDocument document = ConfigDocument::from_text(yaml, "c.yaml");
  for (const std::string& assignment : assignments) document.override_with(assignment);
  return read_config(document, Chain{});
}

std::string chain_refusal(const std::string& yaml,
                          const std::vector<std::string>& assignments = {}) {
  return message_of<ConfigError>([&] { read_chain(yaml, assignments); });
}

TEST(ConfigItems, AreReadInTheUsersOrder) {
  const Chain chain = read_chain(whole);
  ASSERT_EQ(chain.parameters.size(), 2U);
  EXPECT_EQ(chain.parameters[0].name, "life time");
  EXPECT_EQ(chain.parameters[0].high, 5);
  EXPECT_EQ(chain.parameters[1].low, 0);
  ASSERT_EQ(chain.steps.size(), 2U);
  EXPECT_EQ(chain.steps[0].file, "a b.pt");
  EXPECT_EQ(chain.steps[1].width, 0.5);
}

TEST(ConfigItems, AreWrittenSoThatTheyReadBack) {
  const Chain chain = read_chain(whole);
  const std::string yaml = write_config(chain);
  const Chain again = read_chain(yaml);
  EXPECT_EQ(write_config(again), yaml);
  ASSERT_EQ(again.steps.size(), 2U) << yaml;
  EXPECT_EQ(again.steps[1].width, 0.5);
  EXPECT_EQ(again.parameters[0].name, "life time") << yaml;
  EXPECT_EQ(write_config(read_chain(write_config(Chain{}))), write_config(Chain{}));
}

TEST(ConfigItems, AreWrittenAsTheyAreAfterReadingThroughTheSameList) {
  Chain chain;
  FieldList list;
  chain.fields(list);
  read_fields(ConfigDocument::from_text(whole, "c.yaml"), list);
  EXPECT_EQ(write_fields(list), write_config(chain));
}

TEST(ConfigItems, TakeOverridesOfOneValue) {
  const Chain chain = read_chain(whole, {"parameters.n.low=-1", "steps.1.smear=2"});
  EXPECT_EQ(chain.parameters[1].low, -1);
  EXPECT_EQ(chain.parameters[1].high, 2);
  EXPECT_EQ(chain.steps[0].file, "a b.pt");
  EXPECT_EQ(chain.steps[1].width, 2);
  EXPECT_EQ(read_chain(whole, {"steps=[{smear: 3}]"}).steps.size(), 1U);
}

TEST(ConfigItems, NameAnItemThatIsNotThere) {
  const std::string message = chain_refusal(whole, {"steps.2.smear=2"});
  EXPECT_NE(message.find("'steps' is a list of 2 at c.yaml:4"), std::string::npos) << message;
  EXPECT_NE(chain_refusal(whole, {"steps.first.smear=2"}).find("'first'"), std::string::npos);
}

TEST(ConfigItems, RefuseUnknownKeysWithPlaceAndNearestName) {
  const std::string parameter = chain_refusal("parameters:\n  n: {hihg: 2}\n");
  EXPECT_NE(parameter.find("c.yaml:2"), std::string::npos) << parameter;
  EXPECT_NE(parameter.find("'parameters.n.hihg', did you mean 'high'"), std::string::npos)
      << parameter;
  const std::string step = chain_refusal("steps:\n  - {smear: 1, width: 2}\n");
  EXPECT_NE(step.find("unknown key 'steps.0.width'"), std::string::npos) << step;
  EXPECT_NE(chain_refusal("steps:\n  - {smaer: 1}\n").find("c.yaml:2"), std::string::npos);
}

TEST(ConfigItems, RefuseValuesOfTheWrongShapeOrRange) {
  EXPECT_NE(chain_refusal("steps: 3").find("list of groups"), std::string::npos);
  EXPECT_NE(chain_refusal("steps: [a.pt]").find("steps.0 must be a group"), std::string::npos);
  EXPECT_NE(chain_refusal("parameters: [n]").find("groups by name"), std::string::npos);
  EXPECT_NE(chain_refusal("parameters: {n: 3}").find("parameters.n must be a group"),
            std::string::npos);
  EXPECT_NE(chain_refusal("steps: [{smear: -1}]").find("steps.0.smear"), std::string::npos);
}

TEST(ConfigItems, ChangeNothingWhenOneValueIsBad) {
  Chain chain = read_chain(whole);
  FieldList list;
  chain.fields(list);
  const auto document = ConfigDocument::from_text("parameters: {m: {}}\nsteps: [{smear: -1}]", "d");
  EXPECT_THROW(read_fields(document, list), ConfigError);
  EXPECT_EQ(chain.parameters.size(), 2U);
  EXPECT_EQ(chain.steps.size(), 2U);
}

TEST(ConfigItems, TellWhatAnItemMayHoldWhereThereIsNone) {
  Chain chain;
  FieldList list;
  chain.fields(list);
  EXPECT_EQ(describe_fields(list, "parameters.NAME.high").at(0).range, "> 0");
  EXPECT_EQ(describe_fields(list, "parameters").size(), 3U);
  EXPECT_EQ(write_fields(list), "parameters: {}\nsteps: []\n") << "they are no items";
  struct Kinds {
    struct Kind : Step {
      static std::vector<Kind> kinds() {
        return {{{"script", {}, 1}}, {{"smear", {}, 1}}, {{"smear", {}, 2}}};
      }
      static Kind from(const GivenItem& given) { return {Step::from(given)}; }
    };
    std::vector<Kind> steps{};
    void fields(FieldList& fields) { fields.list("steps", steps, "one after the other"); }
  } kinds;
  FieldList other;
  kinds.fields(other);
  const auto described = describe_fields(other);
  ASSERT_EQ(described.size(), 3U) << "a key that two kinds have is told once";
  EXPECT_EQ(described[1].key, "steps.N.script");
  EXPECT_EQ(described[2].key, "steps.N.smear");
  EXPECT_NE(
      message_of<ConfigError>([&] { describe_fields(other, "steps.N.smaer"); }).find("'smear'"),
      std::string::npos);
}

/// An item that holds a list of its kind.
struct Nested {
  double width = 1;
  std::vector<Nested> inside{};
  static std::vector<Nested> kinds() { return std::vector<Nested>(1); }
  void fields(FieldList& list) {
    list.add("width", width, "a width");
    list.list("inside", inside, "further ones");
  }
};

TEST(ConfigItems, MayHoldItemsOfTheirKind) {
  struct All {
    std::vector<Nested> items{};
    void fields(FieldList& list) { list.list("items", items, "all"); }
  };
  All all = read_config(ConfigDocument::from_text(
                            "items: [{width: 2, inside: [{inside: [{width: 3}]}]}]\n", "n.yaml"),
                        All{});
  EXPECT_EQ(all.items[0].inside[0].inside[0].width, 3);
  All none;
  FieldList list;
  none.fields(list);
  std::vector<std::string> keys;
  for (const auto& field : describe_fields(list)) keys.push_back(field.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"items", "items.N.width", "items.N.inside"}));
  FieldList given;
  all.fields(given);
  EXPECT_EQ(write_fields(given),
            "items: [{width: 2, inside: [{width: 1, inside: [{width: 3, inside: []}]}]}]\n");
}

TEST(ConfigItems, ExplainThemselves) {
  Chain chain = read_chain(whole);
  FieldList list;
  chain.fields(list);
  const auto low = describe_fields(list, "parameters.n.high");
  ASSERT_EQ(low.size(), 1U);
  EXPECT_EQ(low[0].value, "2");
  EXPECT_EQ(describe_fields(list, "steps.1").size(), 2U);
  EXPECT_EQ(describe_fields(list, "steps").front().value, "[{script: \"a b.pt\"}, {smear: 0.5}]");
}

}  // namespace
}  // namespace sagips::core
