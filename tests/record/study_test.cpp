#include "sagips/record/study.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"

namespace sagips::record {
namespace {

using State = StudyMember::State;

class StudyFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "sagips_study_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

Study example() {
  Study study{
      "ensemble", "proxy1d", 4, {{"all", {}}, {"batch.samples=8", {"batch.samples=8"}}}, {}};
  study.members = {
      {"seed_001", "all", "seeds", "members/proxy1d/seed_001", State::done},
      {"seed_002", "all", "seeds", "members/proxy1d/seed_002", State::failed, "it \"burnt\", \n"},
      {"bootstrap_001", "all", "bootstraps", "members/proxy1d/bootstrap_001", State::done},
      {"v2_seed_001", "batch.samples=8", "seeds", "members/proxy1d/v2_seed_001", State::pending}};
  return study;
}

TEST_F(StudyFile, ReadsBackAsWritten) {
  write_study(path_, example());
  const Study read = read_study(path_);
  EXPECT_EQ(read.kind, "ensemble");
  EXPECT_EQ(read.ranks, 4);
  ASSERT_EQ(read.variants.size(), 2);
  EXPECT_EQ(read.variants[1].assignments, std::vector<std::string>{"batch.samples=8"});
  ASSERT_EQ(read.members.size(), 4);
  EXPECT_EQ(read.members[1].reason, "it \"burnt\", \n");
  EXPECT_EQ(read.members[1].state, State::failed);
  EXPECT_EQ(read.members[3].state, State::pending);
  EXPECT_EQ(read.members[2].folder, "members/proxy1d/bootstrap_001");
}

TEST_F(StudyFile, GivesTheMembersThatAreDone) {
  const Study study = example();
  EXPECT_EQ(study.done("all").size(), 2);
  ASSERT_EQ(study.done("all", "bootstraps").size(), 1);
  EXPECT_EQ(study.done("all", "bootstraps")[0]->name, "bootstrap_001");
  EXPECT_TRUE(study.done("batch.samples=8").empty());
}

TEST_F(StudyFile, RefusesWhatIsNoStudy) {
  core::write_file(path_, "{\"kind\": \"ensemble\"}");
  EXPECT_THROW(read_study(path_), core::DataError);
  core::write_file(path_, "nonsense");
  EXPECT_THROW(read_study(path_), core::DataError);
  Study odd = example();
  write_study(path_, odd);
  std::string text = core::read_file(path_);
  text.replace(text.find("\"pending\""), 9, "\"perhaps\"");
  core::write_file(path_, text);
  EXPECT_THROW(read_study(path_), core::DataError);
}

}  // namespace
}  // namespace sagips::record
