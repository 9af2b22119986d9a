#include "sagips/core/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::core {
namespace {

using sagips::testing::message_of;
using sagips::testing::TemporaryFolder;

template <class Action>
std::string on_standard_error(Action action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

// The clock's digits are all that may differ from one run to the next.
std::string digits_masked(std::string line) {
  std::replace_if(
      line.begin(), line.end(), [](char letter) { return letter >= '0' && letter <= '9'; }, '0');
  return line;
}

TEST(Log, WritesTimeLevelAndLineToStandardError) {
  const std::string seen = on_standard_error([] {
    Log log;
    log.info("one {} line");
    log.warning("second", "two");
    log.error("three");
  });
  EXPECT_EQ(digits_masked(seen),
            "00:00:00 info  one {} line\n00:00:00 warning  two\n00:00:00 error  three\n");
}

TEST(Log, KeepsEachWarningOnce) {
  Log log({.terminal = false});
  for (int i = 0; i < 2; ++i) log.warning("second", "two");
  log.warning("second", "other words");
  EXPECT_EQ(log.warnings(), (std::vector<Warning>{{"second", "two"}, {"second", "other words"}}));
}

TEST(Log, ColoursTheLevelOnlyWhenAsked) {
  const std::string coloured = on_standard_error([] { Log({true, true}).info("x"); });
  EXPECT_NE(coloured.find('\033'), std::string::npos);
  const std::string plain = on_standard_error([] { Log({true, false}).info("x"); });
  EXPECT_EQ(plain.find('\033'), std::string::npos);
}

TEST(Log, AddsTheDateInFilesAndNoColour) {
  const TemporaryFolder folder;
  const std::string path = folder.file("log.txt");
  Log log({false, true});
  log.add_file(path);
  log.info("one");
  const std::string written = read_file(path);  // at once: a crash must not lose the line
  EXPECT_EQ(digits_masked(written), "0000-00-00 00:00:00 info  one\n");
}

TEST(Log, KeepsWritingTheFileWhileTheTerminalIsSilent) {
  const TemporaryFolder folder;
  const std::string path = folder.file("log.txt");
  const std::string seen = on_standard_error([&] {
    Log log;
    log.add_file(path);
    log.set_terminal(false);
    log.info("hidden");
    log.set_terminal(true);
    log.info("shown");
  });
  EXPECT_EQ(seen.find("hidden"), std::string::npos);
  EXPECT_NE(seen.find("shown"), std::string::npos);
  const std::string written = read_file(path);
  EXPECT_NE(written.find("hidden"), std::string::npos);
  EXPECT_NE(written.find("shown"), std::string::npos);
}

TEST(Log, ShowsWarningsAloneWhereItIsQuiet) {
  const TemporaryFolder folder;
  const std::string path = folder.file("log.txt");
  const std::string seen = on_standard_error([&] {
    Log log({.quiet = true});
    log.add_file(path);
    log.set_terminal(log.set_terminal(false));
    log.info("hidden");
    log.warning("shown-one", "shown");
  });
  EXPECT_EQ(seen.find("hidden"), std::string::npos);
  EXPECT_NE(seen.find("shown"), std::string::npos);
  EXPECT_NE(read_file(path).find("hidden"), std::string::npos);
}

TEST(Log, AppendsToAFileThatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder.make("log.txt", "before\n");
  Log log({false, false});
  log.add_file(path);
  log.info("after");
  EXPECT_TRUE(read_file(path).starts_with("before\n"));
  EXPECT_NE(read_file(path).find("after"), std::string::npos);
}

TEST(Log, RefusesAFileThatCannotBeOpened) {
  const TemporaryFolder folder;
  Log log({false, false});
  const std::string message =
      message_of<StorageError>([&] { log.add_file(folder.file("missing/log.txt")); });
  EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
  EXPECT_EQ(folder.entries(), 0u) << "no folder may be made on the way";
}

}  // namespace
}  // namespace sagips::core
