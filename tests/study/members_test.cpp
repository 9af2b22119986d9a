#include "sagips/study/members.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "sagips/record/run_directory.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::study {
namespace {

record::Study two_members(const testing::TemporaryFolder& folder) {
  record::Study study;
  for (const std::string name : {"one", "two"}) {
    study.members.push_back({.name = name, .variant = "all", .varied = "seeds", .folder = name});
    std::filesystem::create_directories(folder.file(name));
  }
  return study;
}

TEST(MemberQueue, SharesOutMembersThatTwoTakersHaveWaitedFor) {
  const testing::TemporaryFolder folder;
  core::Log log({.terminal = false});
  record::Study one = two_members(folder), other = one;
  const std::string claims = folder.file("claims");
  MemberQueue first(folder.path(), one, {0, 1}, claims, log),
      second(folder.path(), other, {0, 1}, claims, log);
  {
    const auto used = record::RunDirectory::lock(folder.file("one")),
               used_too = record::RunDirectory::lock(folder.file("two"));
    ASSERT_TRUE(used && used_too);
    EXPECT_FALSE(first.take());
    EXPECT_FALSE(second.take());
    EXPECT_FALSE(first.is_empty());
    EXPECT_FALSE(second.is_empty()) << "nobody has them yet";
  }
  EXPECT_EQ(first.take(), std::size_t{0});
  EXPECT_EQ(second.take(), std::size_t{1});
  EXPECT_FALSE(first.take());
  EXPECT_TRUE(first.is_empty());
  EXPECT_FALSE(second.take());
  EXPECT_TRUE(second.is_empty());
}

}  // namespace
}  // namespace sagips::study
