#include "sagips/core/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::core {
namespace {

using sagips::testing::message_of;
using sagips::testing::TemporaryFolder;

TEST(ReadFile, GivesAllBytes) {
  const TemporaryFolder folder;
  std::string bytes(3'000'000, 'x');
  bytes[1'500'000] = '\0';
  EXPECT_EQ(read_file(folder.make("a", bytes)), bytes);
  EXPECT_EQ(read_file(folder.make("empty", "")), "");
}

TEST(ReadFile, NamesThePathAndTheReason) {
  const TemporaryFolder folder;
  const std::string path = folder.file("missing");
  const std::string message = message_of<DataError>([&] { read_file(path); });
  EXPECT_TRUE(message.starts_with(path + ": cannot be read (No such file or directory)"))
      << message;
}

TEST(ReadFile, RefusesAFolder) {
  const TemporaryFolder folder;
  const std::string message = message_of<DataError>([&] { read_file(folder.path()); });
  EXPECT_NE(message.find("Is a directory"), std::string::npos) << message;
}

TEST(WriteFile, ReplacesTheWholeContentAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_file(path, "a long first text");
  write_file(path, "short");
  EXPECT_EQ(read_file(path), "short");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteFile, KeepsAReadersOldFileWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.make("a", "old");
  std::ifstream reader(path);
  write_file(path, "new");
  std::string seen;
  reader >> seen;
  EXPECT_EQ(seen, "old");
}

TEST(WriteFile, GivesTheUsualPermissions) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(022);
  write_file(folder.file("a"), "x");
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(folder.file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST(WriteFile, FollowsALinkInsteadOfReplacingIt) {
  const TemporaryFolder folder;
  folder.make("target", "old");
  std::filesystem::create_symlink("target", folder.file("link"));
  write_file(folder.file("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(read_file(folder.file("target")), "new");
}

// As a signal's handler does it: between any two instructions, and the writer may go on for a moment.
TEST(WriteFile, LeavesNothingBesideWhereASignalEndsIt) {
  const TemporaryFolder folder;
  const std::string path = folder.make("a", "old");
  const FileAside other(folder.file("b"));
  std::vector<std::size_t> entries;
  EXPECT_THROW(write_pieces(path,
                            [&](std::size_t number) {
                              if (number == 1) remove_unfinished_files();
                              entries.push_back(folder.entries());
                              return std::string_view(number < 2 ? "new" : "");
                            }),
               StorageError);
  EXPECT_EQ(entries, (std::vector<std::size_t>{3, 1, 1}));
  EXPECT_EQ(read_file(path), "old");
  write_file(path, "new");
  EXPECT_EQ(read_file(path), "new");
}

TEST(WriteFile, RefusesAMissingFolder) {
  const TemporaryFolder folder;
  const std::string path = folder.file("missing/a");
  const std::string message = message_of<StorageError>([&] { write_file(path, "x"); });
  EXPECT_TRUE(message.starts_with(path + ": cannot be written (No such file or directory)"))
      << message;
}

TEST(WriteFile, RefusesAFolderOrADeviceAsTarget) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_file(folder.path(), "x"), StorageError);
  EXPECT_THROW(write_file("/dev/null", "x"), StorageError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

// Root may write everywhere, so it becomes another user for the one call.
TEST(WriteFile, RefusesAFolderWithoutPermission) {
  const TemporaryFolder folder;
  constexpr uid_t nobody = 65534;
  const bool is_root = ::geteuid() == 0;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  if (is_root) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  const std::string message = message_of<StorageError>([&] { write_file(folder.file("a"), "x"); });
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  EXPECT_NE(message.find("Permission denied"), std::string::npos) << message;
}

// A limit on the size of files stands in for a full disk: write(2) fails half-way in both.
TEST(WriteFile, LeavesTheOldFileAndNoRemainsWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const std::string path = folder.make("a", "old");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      message_of<StorageError>([&] { write_file(path, std::string(5000, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace
}  // namespace sagips::core
