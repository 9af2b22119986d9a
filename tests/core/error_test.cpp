#include "sagips/core/error.hpp"

#include <gtest/gtest.h>

namespace sagips::core {
namespace {

TEST(Error, PutsThePlaceBeforeTheMessage) {
  EXPECT_STREQ(ConfigError("paper.yaml:12", "wrong").what(), "paper.yaml:12: wrong");
  EXPECT_STREQ(DataError("masses.csv", "wrong").what(), "masses.csv: wrong");
  EXPECT_STREQ(DataError("masses.csv", 12, "wrong").what(), "masses.csv:12: wrong");
  EXPECT_STREQ(ShapeError("detector", "wrong").what(), "stage 'detector': wrong");
  EXPECT_STREQ(StorageError("runs/x", "wrong").what(), "runs/x: wrong");
  EXPECT_STREQ(StateError("wrong").what(), "wrong");
}

TEST(Error, LeavesOutAPlaceThatIsUnknown) {
  EXPECT_STREQ(ConfigError("", "wrong").what(), "wrong");
}

TEST(Error, StaysOneLineWhateverItQuotes) {
  EXPECT_STREQ(DataError("a\nb", "holds '\x1b[31m\t\x7f'").what(), "a b: holds ' [31m  '");
  EXPECT_STREQ(StateError("M\xc3\xbcon").what(), "M\xc3\xbcon");
}

TEST(Error, EndsBadInputWithExitCodeTwo) {
  EXPECT_EQ(ConfigError("a", "b").exit_code(), ExitCode::bad_input);
  EXPECT_EQ(DataError("a", "b").exit_code(), ExitCode::bad_input);
  EXPECT_EQ(DataError("a", 1, "b").exit_code(), ExitCode::bad_input);
  EXPECT_EQ(ShapeError("a", "b").exit_code(), ExitCode::bad_input);
  EXPECT_EQ(StorageError("a", "b").exit_code(), ExitCode::bad_input);
  EXPECT_EQ(StateError("a").exit_code(), ExitCode::bad_input);
  EXPECT_EQ(Error("a").exit_code(), ExitCode::failed);
}

}  // namespace
}  // namespace sagips::core
