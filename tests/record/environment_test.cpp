#include "sagips/record/environment.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using Rows = std::vector<std::vector<std::string>>;

TEST(Environment, KeepsFactsInTheirOrder) {
  const TemporaryFolder folder;
  write_environment(folder.file("e.json"), {{"host", "a \"b\""}, {"command", "sagips train"}});
  const auto facts = read_environment(folder.file("e.json"));
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].name, "host");
  EXPECT_EQ(facts[0].value, "a \"b\"");
  EXPECT_EQ(facts[1].value, "sagips train");
}

TEST(Environment, RefusesForeignFiles) {
  const TemporaryFolder folder;
  for (const char* content : {"", "[1]", "{\"a\": 1}", "{"})
    EXPECT_NE(message_of<core::DataError>([&] {
                read_environment(folder.make("e", content));
              }).find("holds no facts"),
              std::string::npos);
}

}  // namespace
}  // namespace sagips::record
