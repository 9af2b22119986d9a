#include "sagips/core/config/config_difference.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"

namespace sagips::core {
namespace {

using Lines = std::vector<std::string>;

TEST(ConfigDifferences, NamesEachKeyThatDiffers) {
  const std::string older = "a: 1\ngroup:\n  b: x\n  list: [1, 2]\n  gone: \"\"\n";
  const std::string newer = "a: 1\ngroup:\n  b: y\n  list: [1, 3]\n  come: {k: 2}\n";
  EXPECT_EQ(config_differences(older, newer, "old"),
            (Lines{"group.b: x -> y", "group.list: [1, 2] -> [1, 3]", "group.come.k: nothing -> 2",
                   "group.gone: '' -> nothing"}));
  EXPECT_EQ(config_differences(older, older, "old"), Lines{});
}

TEST(ConfigDifferences, LeavesOutWhatMayDiffer) {
  EXPECT_EQ(config_differences("a: {b: 1, c: 1}", "a: {b: 2, c: 2}", "old", {"a.b"}),
            Lines{"a.c: 1 -> 2"});
}

TEST(ConfigDifferences, KeepsTheOrderOfLists) {
  EXPECT_EQ(config_differences("a: [1, 2]", "a: [2, 1]", "old"), Lines{"a: [1, 2] -> [2, 1]"});
}

TEST(ConfigDifferences, RefusesWhatIsNoConfig) {
  EXPECT_THROW(config_differences("a: [", "a: 1", "old"), ConfigError);
}

TEST(ConfigScalars, AreAllSingleValuesWithTheirKeys) {
  using Scalars = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(config_scalars("a: 1\nlist: [x, {b: y}]\ngroup: {c: {}, d: z}", ""),
            (Scalars{{"a", "1"}, {"list", "x"}, {"list.b", "y"}, {"group.d", "z"}}));
}

TEST(ConfigScalar, FindsOneValueByItsDottedKey) {
  EXPECT_EQ(config_scalar("run: {name: mine}", "", "run.name"), "mine");
  EXPECT_EQ(config_scalar("run: {name: mine}", "", "run.seed"), "");
  EXPECT_EQ(config_scalar("run: {name: mine}", "", "run"), "");
  EXPECT_EQ(config_scalar("run: 5", "", "run.name"), "");
}

}  // namespace
}  // namespace sagips::core
