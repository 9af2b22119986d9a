#include "sagips/data/file_cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "tests/record/full_disk.hpp"

namespace sagips::data {
namespace {

using core::text;
namespace files = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& what) {
  std::ofstream(path, std::ios::binary) << what;
}

FileCache::Maker hundred_bytes(char letter) {
  return [letter](const std::string& path) { write(path, std::string(100, letter)); };
}

/// The process that runs it ends with 0 when it throws nothing.
pid_t begin_process(const std::function<void()>& work) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  int code = 1;
  try {
    work();
    code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  ::_exit(code);
}

int ending_of(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return status;
}

class FileCacheTest : public ::testing::Test {
 protected:
  FileCacheTest() {
    files::remove_all(folder_);
    files::create_directories(folder_);
  }
  ~FileCacheTest() override { files::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  /// A command that runs a script, in which $1 is the source and $2 the place of the copy.
  std::string command(const std::string& script) const {
    write(path("script"), script);
    return text("sh '", path("script"), "' {} {}");
  }
  /// Counts its calls.
  std::string counting(const std::string& script) const {
    return command(text("echo >> '", path("calls"), "'; ", script));
  }
  std::size_t calls() const { return content(path("calls")).size(); }

  FileCacheConfig config(const std::string& copy = {}) const {
    return {.folder = path("cache"), .copy = copy};
  }
  FileCacheConfig limited(double bytes) const {
    return {.folder = path("cache"), .limit_GB = bytes * 1e-9};
  }

  /// The names in the cache but the folder's own lock.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& file : files::directory_iterator(path("cache")))
      if (file.path().filename() != "lock") found.push_back(file.path().filename().string());
    return found;
  }
  /// How many of them end so.
  std::ptrdiff_t count(const std::string& ending) const {
    const std::vector<std::string> all = names();
    return std::count_if(all.begin(), all.end(),
                         [&](const std::string& name) { return name.ends_with(ending); });
  }

  /// Of what is made, at a moment when no process adds a file.
  std::size_t bytes_of_all() const {
    const core::Descriptor alone(::open(path("cache/lock").c_str(), O_RDWR | O_CLOEXEC));
    while (::flock(alone.number(), LOCK_EX) != 0) {
    }
    std::size_t sum = 0;
    for (const auto& file : files::directory_iterator(path("cache"))) {
      std::error_code gone;
      const std::size_t size = file.file_size(gone);
      if (!gone && file.path().extension() != ".tmp") sum += size;
    }
    return sum;
  }

  /// What a call is refused with: "CODE: message".
  static std::string refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const core::Error& error) {
      return text(static_cast<int>(error.exit_code()), ": ", error.what());
    }
    return "nothing was refused";
  }
  /// Copying is refused with these words and exit code 2, and nothing is left behind.
  void expect_refused(const FileCacheConfig& how, const std::string& words) const {
    FileCache cache(how);
    const std::string said = refusal([&] { cache.copied("s3://bucket/file.npy"); });
    EXPECT_TRUE(said.starts_with("2: ")) << said;
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_TRUE(names().empty()) << names().front();
  }

 private:
  std::string folder_ = ::testing::TempDir() + "file cache " +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(FileCacheTest, CopiesOnceForAllObjects) {
  const FileCacheConfig how = config(counting("printf '%s' \"$1\" > \"$2\""));
  FileCache first(how), second(how);
  const std::string remote = "root://host//folder/events.npy?rights=all";
  const std::string copy = first.copied(remote);
  EXPECT_EQ(content(copy), remote);
  EXPECT_TRUE(copy.ends_with("-events.npy")) << copy;
  EXPECT_EQ(second.copied(remote), copy);
  EXPECT_EQ(first.copied(remote), copy);
  EXPECT_EQ(calls(), 1U);
  EXPECT_EQ(names().size(), 2U);
  EXPECT_NE(second.copied("root://host//other/events.npy"), copy);
  EXPECT_EQ(calls(), 2U);
  struct stat status {};
  ASSERT_EQ(::stat(path("cache").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(FileCacheTest, WithoutACommandFilesAreReadInPlace) {
  EXPECT_EQ(FileCache(config()).copied("data.npy"), "data.npy");
  EXPECT_FALSE(files::exists(path("cache")));
}

TEST_F(FileCacheTest, ALocalFileThatChangesIsCopiedAnew) {
  FileCache cache(config(counting("cp \"$1\" \"$2\"")));
  const std::string source = path("data.npy");
  write(source, "one");
  const auto time = files::last_write_time(source);
  const std::string first = cache.copied(source);
  EXPECT_EQ(cache.copied(source), first);
  EXPECT_EQ(calls(), 1U);
  write(source, "two");
  files::last_write_time(source, time + std::chrono::seconds(1));
  EXPECT_EQ(content(cache.copied(source)), "two");
  write(source, "three");
  files::last_write_time(source, time);
  EXPECT_EQ(content(cache.copied(source)), "three");
  EXPECT_EQ(content(first), "one");
  EXPECT_EQ(calls(), 3U);
}

TEST_F(FileCacheTest, ProcessesThatAskTogetherShareOneCopy) {
  // The copy ends when both have come so far that only the call is left.
  const std::string both = text("while ! [ -e '", path("0"), "' -a -e '", path("1"),
                                "' ]; do sleep 0.01; done; sleep 0.2; echo copy > \"$2\"");
  const FileCacheConfig how = config(counting(both));
  std::vector<pid_t> processes;
  for (const char* name : {"0", "1"})
    processes.push_back(begin_process([&, name] {
      FileCache cache(how);
      write(path(name), "");
      if (content(cache.copied("s3://bucket/file")) != "copy\n") throw core::Error("no copy");
    }));
  for (const pid_t process : processes) EXPECT_EQ(ending_of(process), 0);
  EXPECT_EQ(calls(), 1U);
  EXPECT_EQ(names().size(), 2U);
}

TEST_F(FileCacheTest, TheLeastRecentlyUsedGoesAndNeverOneInUse) {
  for (const std::uint64_t bytes : {0, 100}) {
    const FileCacheConfig how = limited(250);
    FileCache user(how);
    const std::string a = user.made("a", bytes, hundred_bytes('a'));
    const auto age = [](const std::string& copy, int hours) {
      files::last_write_time(copy + ".lock",
                             files::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    std::string b, c, d;
    b = FileCache(how).made("b", bytes, hundred_bytes('b'));
    age(a, 3);
    age(b, 2);
    c = FileCache(how).made("c", bytes, hundred_bytes('c'));  // a is older, but in use
    EXPECT_TRUE(files::exists(a));
    EXPECT_FALSE(files::exists(b));
    EXPECT_FALSE(files::exists(b + ".lock"));
    user = FileCache(how);
    age(c, 2);
    EXPECT_EQ(FileCache(how).made("a", bytes, hundred_bytes('x')), a);  // counts as a use
    d = FileCache(how).made("d", bytes, [&](const std::string& path) {
      EXPECT_EQ(files::exists(c), bytes == 0);  // room is made before where the size is known
      hundred_bytes('d')(path);
    });
    EXPECT_EQ(content(a), std::string(100, 'a'));
    EXPECT_FALSE(files::exists(c));
    EXPECT_TRUE(files::exists(d));
    files::remove_all(path("cache"));
  }
}

TEST_F(FileCacheTest, RefusesWhatTheLimitHasNoRoomFor) {
  for (const std::uint64_t bytes : {0, 100}) {
    bool called = false;
    const auto make = [&](const std::string& path) {
      called = true;
      hundred_bytes('n')(path);
    };
    {
      FileCache cache(limited(50));
      const std::string said = refusal([&] { cache.made("large", bytes, make); });
      EXPECT_EQ(said, text("2: data.cache.limit_GB: 'large' takes 1e-07 GB, and '", path("cache"),
                           "' may hold 5e-08 GB. Raise the limit if the disk has room, or use less "
                           "at a time."));
      EXPECT_EQ(called, bytes == 0);
      EXPECT_TRUE(names().empty());
    }
    // What could go is kept where that would not help.
    FileCache(limited(150)).made("small", bytes, hundred_bytes('s'));
    EXPECT_TRUE(
        refusal([&] { FileCache(limited(50)).made("large", 100, make); }).starts_with("2: "));
    EXPECT_EQ(names().size(), 2U);
    FileCache user(limited(150)), other(limited(150));
    const std::string used = user.made("used", bytes, hundred_bytes('u'));
    const std::string said = refusal([&] { other.made("next", bytes, make); });
    EXPECT_NE(said.find("of which 1e-07 GB are in use"), std::string::npos) << said;
    EXPECT_EQ(content(used), std::string(100, 'u'));
    EXPECT_EQ(names().size(), 2U);
    files::remove_all(path("cache"));
  }
}

TEST_F(FileCacheTest, CountsAndRemovesNothingThatIsNotItsOwn) {
  files::create_directories(path("cache"));
  const std::string foreign = path("cache/0123456789abcdef.lock"), other = path("cache/notes");
  write(foreign, std::string(1000, 'x'));
  write(other, std::string(1000, 'x'));
  FileCache(limited(150)).made("a", 100, hundred_bytes('a'));
  FileCache(limited(150)).made("b", 100, hundred_bytes('b'));
  EXPECT_EQ(names().size(), 4U);
  EXPECT_TRUE(files::exists(foreign));
  EXPECT_TRUE(files::exists(other));
}

TEST_F(FileCacheTest, SaysHowACommandFailed) {
  expect_refused(config(command("printf '10 %%\\r20 %%\\r'; echo >&2 no ticket; exit 54")),
                 "s3://bucket/file.npy: was not copied: 'sh' ended with 54 (no ticket). Check "
                 "data.cache.copy.");
  expect_refused(config(command("echo half > \"$2\"; exit 1")), "'sh' ended with 1. Check");
  expect_refused(config(command("kill -KILL $$")), "'sh' was ended by signal 9. Check");
  expect_refused(config(command("mkdir \"$2\"")), "'sh' ended well and left no file. Check");
  expect_refused(config("/nowhere/xrdcp {} {}"),
                 "data.cache.copy: cannot start '/nowhere/xrdcp' (No such file or directory)");
  FileCacheConfig hanging = config(command("echo half > \"$2\"; echo waits; exec sleep 1000"));
  hanging.copy_minutes = 0.01;
  expect_refused(hanging,
                 "'sh' had not ended after the 0.01 minutes of data.cache.copy_minutes (waits)");
  // And after all that, the same name can be copied.
  FileCache cache(config(command("echo whole > \"$2\"")));
  EXPECT_EQ(content(cache.copied("s3://bucket/file.npy")), "whole\n");
}

TEST_F(FileCacheTest, RefusesCommandsWithoutTwoPlaces) {
  const auto says = [&](const std::string& copy, const std::string& words) {
    const std::string said = refusal([&] { FileCache cache(config(copy)); });
    EXPECT_TRUE(said.starts_with("2: data.cache.copy: ")) << said;
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  says("cp", "has 0 {} instead of two");
  says(" ", "has 0 {} instead of two");
  says("cp {}", "has 1 {} instead of two");
  says("cp {} {}{}", "has 3 {} instead of two");
  says("cp {} '{}", "does not close it. Add '.");
}

TEST_F(FileCacheTest, QuotesKeepWordsTogether) {
  const std::string copy =
      R"(sh -c 'printf "%s|" "$@" > "$2"' name	"{}"  {} "it's one" two' 'words "" end={)";
  FileCache cache(config(copy));
  const std::string source = "s3://bucket/with {} and ' \" $HOME";
  const std::string said = content(cache.copied(source));
  EXPECT_TRUE(said.starts_with(source + "|" + path("cache") + "/")) << said;
  EXPECT_TRUE(said.ends_with(".tmp|it's one|two words||end={|")) << said;
}

TEST_F(FileCacheTest, RemovesWhatAKilledProcessLeft) {
  const auto die = [&](const std::string& name) {
    const int status = ending_of(begin_process([&] {
      FileCache(config()).made(name, 0, [](const std::string& path) {
        write(path, std::string(80, 'h'));
        ::raise(SIGKILL);
      });
    }));
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(count(".tmp"), 1);
  };
  die("a");
  EXPECT_EQ(content(FileCache(config()).made("a", 0, hundred_bytes('a'))), std::string(100, 'a'));
  EXPECT_EQ(names().size(), 2U);
  // One for which nobody asks again goes when its room is needed.
  die("b");
  FileCache user(config());
  user.made("a", 0, hundred_bytes('a'));
  FileCache(limited(250)).made("c", 0, hundred_bytes('c'));
  EXPECT_EQ(names().size(), 4U);
  EXPECT_EQ(count(".tmp"), 0);
}

TEST_F(FileCacheTest, AMakerThatFailsLeavesNothing) {
  FileCache cache(config());
  const auto fails = [](const std::string& path) {
    write(path, "half");
    throw core::DataError("source.h5", "is broken.");
  };
  EXPECT_EQ(refusal([&] { cache.made("name", 4, fails); }), "2: source.h5: is broken.");
  EXPECT_TRUE(names().empty());
  const std::string said = refusal([&] { cache.made("name", 0, [](const std::string&) {}); });
  EXPECT_NE(said.find("name: no file came of it"), std::string::npos) << said;
  EXPECT_TRUE(names().empty());
  EXPECT_EQ(content(cache.made("name", 0, hundred_bytes('a'))), std::string(100, 'a'));
}

// The message of a command may have no room either: the cache looks for itself.
TEST_F(FileCacheTest, AFullDiskIsNamedAndLeavesNothing) {
  const FileCacheConfig how = config(command("head -c 200000 /dev/zero > \"$2\""));
  const std::string words = text("2: data.cache.folder: '", path("cache"), "' has no room for '"),
                    advice =
                        "' (File too large). Free space there, choose another folder, or lower "
                        "data.cache.limit_GB, so that older copies make room.";
  {
    const sagips::testing::FullDisk disk(100'000);
    FileCache cache(how);
    EXPECT_EQ(refusal([&] { cache.copied("s3://bucket/file.npy"); }),
              words + "s3://bucket/file.npy" + advice);
    EXPECT_TRUE(names().empty()) << names().front();
    const auto half = [](const std::string& path) {
      write(path, std::string(200'000, 'x'));
      throw core::DataError(path, "came to no end.");
    };
    EXPECT_EQ(refusal([&] { cache.made("table.csv\n123", 0, half); }),
              words + "table.csv" + advice);
    EXPECT_TRUE(names().empty()) << names().front();
  }
  EXPECT_EQ(files::file_size(FileCache(how).copied("s3://bucket/file.npy")), 200'000U);
}

TEST_F(FileCacheTest, MakesAgainWhatWasRemovedByHand) {
  FileCache cache(config());
  const std::string copy = cache.made("name", 0, hundred_bytes('a'));
  files::remove_all(path("cache"));
  EXPECT_EQ(cache.made("name", 0, hundred_bytes('b')), copy);
  EXPECT_EQ(content(copy), std::string(100, 'b'));
  files::remove(copy);
  EXPECT_EQ(cache.made("name", 0, hundred_bytes('c')), copy);
  EXPECT_EQ(content(copy), std::string(100, 'c'));
}

TEST_F(FileCacheTest, NamesOfAnyKindAreSafe) {
  FileCache cache(config());
  for (const std::string& name : {std::string("a/b/.lock"), std::string("x.lock"),
                                  std::string("x.lock.lock"), std::string(1000, 'n') + ".npy",
                                  std::string("\n; rm\t*"), std::string("folder/"), std::string()})
    EXPECT_EQ(content(cache.made(name, 0, hundred_bytes('a'))), std::string(100, 'a')) << name;
  EXPECT_EQ(count(".lock"), 7);
  EXPECT_EQ(names().size(), 14U);
  EXPECT_EQ(count("nnn.npy"), 1);
}

TEST_F(FileCacheTest, NamesAFolderThatCannotBeUsed) {
  write(path("file"), "");
  for (const std::string& folder : {path("file"), path("file/below"), path("file/far/below")}) {
    FileCache cache({.folder = folder});
    const std::string said = refusal([&] { cache.made("name", 0, hundred_bytes('a')); });
    EXPECT_EQ(said, text("2: data.cache.folder: '", folder,
                         "' cannot be used (Not a directory). Choose a folder with free space and "
                         "the right to write."));
  }
}

TEST_F(FileCacheTest, TheUsualFolderIsOnesOwn) {
  const char* before = ::getenv("TMPDIR");
  const std::optional<std::string> kept =
      before == nullptr ? std::nullopt : std::optional<std::string>(before);
  ::setenv("TMPDIR", path("").c_str(), 1);
  const std::string usual = path(text("sagips-cache-", ::geteuid()));
  EXPECT_TRUE(FileCache({}).made("name", 0, hundred_bytes('a')).starts_with(usual + "/"));
  files::rename(usual, path("elsewhere"));
  files::create_directory_symlink(path("elsewhere"), usual);
  const std::string said = refusal([] { FileCache({}).made("name", 0, hundred_bytes('a')); });
  EXPECT_NE(said.find("it is no folder of this user"), std::string::npos) << said;
  if (kept)
    ::setenv("TMPDIR", kept->c_str(), 1);
  else
    ::unsetenv("TMPDIR");
}

// Each process uses one file at a time, and all files that can be in use together just fit.
TEST_F(FileCacheTest, ManyProcessesNeverSeeAFileOfOthersGo) {
  constexpr int processes = 4, rounds = 25;
  constexpr std::size_t most = 400;  // 100 for each process
  std::vector<pid_t> all;
  for (int process = 0; process < processes; ++process)
    all.push_back(begin_process([&, process] {
      for (int round = 0; round < rounds; ++round) {
        const char letter = static_cast<char>('a' + (process * 5 + round * (process + 1)) % 7);
        FileCache cache(limited(most));
        const std::string copy =
            cache.made({letter}, round % 2 == 0 ? 0 : 100, hundred_bytes(letter));
        const std::size_t sum = bytes_of_all();
        if (sum > most) throw core::Error(text("the files have ", sum, " bytes"));
        if (content(copy) != std::string(100, letter)) throw core::Error(text("lost ", copy));
      }
    }));
  for (const pid_t process : all) EXPECT_EQ(ending_of(process), 0);
  EXPECT_LE(names().size(), 8U);
}

}  // namespace
}  // namespace sagips::data
