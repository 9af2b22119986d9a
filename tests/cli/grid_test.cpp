#include "sagips/study/grid.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::study {
namespace {

const std::vector<std::string> commands = {"ensemble", "closure",  "convergence",
                                           "compare",  "simulate", "solve"};

std::vector<std::string> labels(const std::vector<std::string>& grid) {
  std::vector<std::string> all;
  for (const record::StudyVariant& variant : grid_variants(grid, commands))
    all.push_back(variant.label);
  return all;
}

TEST(Grid, IsTheProductOfItsLists) {
  EXPECT_EQ(labels({}), (std::vector<std::string>{"all"}));
  EXPECT_EQ(labels({"a.b=1, 2", "c=x,y"}),
            (std::vector<std::string>{"a.b=1, c=x", "a.b=1, c=y", "a.b=2, c=x", "a.b=2, c=y"}));
  EXPECT_EQ(grid_variants({"a.b=1,2", "c=x"}, commands)[1].assignments,
            (std::vector<std::string>{"a.b=2", "c=x"}));
}

TEST(Grid, LeavesListsAndQuotedTextsWhole) {
  EXPECT_EQ(labels({"a=[1,2],[3]", "b={c: 1, d: 2}"}),
            (std::vector<std::string>{"a=[1,2], b={c: 1, d: 2}", "a=[3], b={c: 1, d: 2}"}));
  EXPECT_EQ(labels({"a='x,y',z"}), (std::vector<std::string>{"a='x,y'", "a=z"}));
}

TEST(Grid, RefusesWhatIsNone) {
  for (const char* wrong : {"a", "=1", "a=", "a=1,,2", "a=1,1"})
    EXPECT_THROW(grid_variants({wrong}, commands), core::ConfigError) << wrong;
}

// Their variants would all be the same training.
TEST(Grid, RefusesKeysThatTheStudySetsOrThatNoTrainingReads) {
  for (const char* key :
       {"run.seed", "run.name", "run.folder", "run.figures", "run.fit", "run.tensorboard",
        "data.seed", "data.bootstrap", "data.bootstrap_seed", "ensemble.ranks", "ensemble",
        "closure.method", "convergence.members", "compare.minutes", "simulate.ranks",
        "solve.method", "workload", "run", "data"}) {
    const std::string list = std::string(key) + "=1,2";
    const std::string message =
        testing::message_of<core::ConfigError>([&] { grid_variants({list}, commands); });
    EXPECT_NE(message.find(std::string("'") + key + "'"), std::string::npos) << message;
  }
  for (const char* good : {"solver.x=1,2", "ensembles=1,2", "run_time=1,2", "data.fraction=0.5,1"})
    EXPECT_EQ(grid_variants({good}, commands).size(), 2u) << good;
}

}  // namespace
}  // namespace sagips::study
