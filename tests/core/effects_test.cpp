#include "sagips/core/config/effects.hpp"

#include <gtest/gtest.h>

namespace sagips::core {
namespace {

struct Inner {
  double momentum = 0, decay = 0.9;
  bool enabled = true;
  void fields(FieldList& list) {
    list.add("enabled", enabled, "on");
    list.add("momentum", momentum, "of earlier steps");
    list.add("decay", decay, "of squares");
    needs(list, enabled, "enabled=true", {"momentum", "decay"});
    needs(list, momentum > 0, "a momentum", {"decay"});
  }
};

struct Item {
  std::string name;
  double weight = 1;
  bool enabled = true;
  void fields(FieldList& list) {
    list.add("enabled", enabled, "on");
    list.add("weight", weight, "what it counts");
    needs(list, enabled, "enabled=true", {"weight"});
  }
};

struct Outer {
  Inner inner;
  std::vector<Item> items;
  std::string rule = "plain";
  void fields(FieldList& list) {
    list.add("rule", rule, "how");
    list.group("inner", inner, "group");
    list.named_groups("items", items, "by name");
    needs(list, rule != "none", "another rule than none", {"inner", "nowhere.is_a_key"});
  }
};

std::string said(const std::string& yaml, const std::string& usual = {}) {
  Outer now = read_config(ConfigDocument::from_text(yaml, "test"), Outer{}),
        before = read_config(ConfigDocument::from_text(usual, "usual"), Outer{});
  FieldList list, others;
  now.fields(list);
  before.fields(others);
  std::string all;
  for (const auto& [key, needed] : keys_without_effect(list, others))
    all += key + " (" + needed + ") ";
  return all;
}

TEST(Effects, NameAKeyThatIsSetWithoutWhatItNeeds) {
  EXPECT_EQ(said("inner: {decay: 0.5}"), "inner.decay (a momentum) ");
  EXPECT_EQ(said("inner: {decay: 0.5, momentum: 0.1}"), "");
}

TEST(Effects, TellTheFirstConditionThatDoesNotHold) {
  EXPECT_EQ(said("inner: {decay: 0.5, enabled: false}"), "inner.decay (enabled=true) ");
}

TEST(Effects, OfAGroupAreThoseOfAllInIt) {
  EXPECT_EQ(said("{rule: none, inner: {enabled: false, momentum: 0.1}}"),
            "inner.enabled (another rule than none) inner.momentum (another rule than none) ");
}

TEST(Effects, PassOverWhatIsAsUsual) {
  EXPECT_EQ(said("inner: {decay: 0.9}"), "") << "as by default";
  EXPECT_EQ(said("inner: {decay: 0.5}", "inner: {decay: 0.5}"), "");
}

TEST(Effects, ReachIntoGroupsByName) {
  EXPECT_EQ(said("items: {one: {enabled: false, weight: 2}, two: {weight: 3}}",
                 "items: {one: {}, two: {}}"),
            "items.one.weight (enabled=true) ");
  EXPECT_EQ(said("items: {one: {enabled: false}, two: {enabled: false, weight: 3}}"),
            "items.two.weight (enabled=true) ")
      << "a new item's usual values are those that it begins with";
}

}  // namespace
}  // namespace sagips::core
