#include "sagips/cli/study/grid.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"

namespace sagips::cli {
namespace {

std::vector<std::string> labels(const std::vector<std::string>& grid) {
  std::vector<std::string> all;
  for (const record::StudyVariant& variant : grid_variants(grid)) all.push_back(variant.label);
  return all;
}

TEST(Grid, IsTheProductOfItsLists) {
  EXPECT_EQ(labels({}), (std::vector<std::string>{"all"}));
  EXPECT_EQ(labels({"a.b=1, 2", "c=x,y"}),
            (std::vector<std::string>{"a.b=1, c=x", "a.b=1, c=y", "a.b=2, c=x", "a.b=2, c=y"}));
  EXPECT_EQ(grid_variants({"a.b=1,2", "c=x"})[1].assignments,
            (std::vector<std::string>{"a.b=2", "c=x"}));
}

TEST(Grid, LeavesListsAndQuotedTextsWhole) {
  EXPECT_EQ(labels({"a=[1,2],[3]", "b={c: 1, d: 2}"}),
            (std::vector<std::string>{"a=[1,2], b={c: 1, d: 2}", "a=[3], b={c: 1, d: 2}"}));
  EXPECT_EQ(labels({"a='x,y',z"}), (std::vector<std::string>{"a='x,y'", "a=z"}));
}

TEST(Grid, RefusesWhatIsNone) {
  for (const char* wrong : {"a", "=1", "a=", "a=1,,2", "a=1,1", "run.seed=1,2", "run.name=a,b",
                            "ensemble.ranks=1,2", "data.seed=1"})
    EXPECT_THROW(grid_variants({wrong}), core::ConfigError) << wrong;
}

}  // namespace
}  // namespace sagips::cli
