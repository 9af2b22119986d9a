#include "sagips/core/process/child_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "sagips/core/file.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::core {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

ChildProgram shell(const std::string& script, const std::string& log = {}) {
  return {.arguments = {"sh", "-c", script}, .log = log};
}

/// What is written into the pipe until all have closed it.
std::string rest_of(Pipe& pipe) {
  pipe.write.close();
  std::string content;
  EXPECT_TRUE(read_all(pipe.read.number(), content));
  return content;
}

/// Whether all that could write into the pipe are gone within some seconds.
bool ends(Pipe& pipe) {
  pipe.write.close();
  pollfd waiting{pipe.read.number(), POLLIN, 0};
  return ::poll(&waiting, 1, 10000) == 1 && (waiting.revents & POLLHUP) != 0;
}

/// Whether the file holds the word within some seconds.
bool says(const std::string& file, const std::string& word) {
  for (int i = 0; i < 2000; ++i, ::usleep(5000))
    if (std::filesystem::exists(file) && read_file(file).find(word) != std::string::npos)
      return true;
  return false;
}

TEST(ChildProcess, TellsHowItEndedAndTellsItAgain) {
  const ChildProcess fails(shell("exit 7"));
  EXPECT_EQ(fails.wait().exit_code, 7);
  EXPECT_EQ(fails.ended()->exit_code, 7);
  const ChildProcess killed(shell("kill -9 $$"));
  EXPECT_EQ(killed.wait().signal, SIGKILL);
  const ChildProcess waits(shell("sleep 1000"));
  EXPECT_FALSE(waits.ended());
}

TEST(ChildProcess, KnowsWhichProgramsThereAre) {
  EXPECT_TRUE(is_program("sh"));
  EXPECT_TRUE(is_program("/bin/sh"));
  EXPECT_FALSE(is_program("no_such_program"));
  EXPECT_FALSE(is_program("/bin")) << "a folder";
  EXPECT_FALSE(is_program(""));
  const TemporaryFolder folder;
  write_file(folder.file("text"), "no program");
  EXPECT_FALSE(is_program(folder.file("text")));
}

TEST(ChildProcess, AddsItsOutputToTheLogAndHasNothingToRead) {
  const TemporaryFolder folder;
  const std::string log = folder.make("log", "before\n");
  ChildProcess(shell("cat; echo out; echo error >&2", log)).wait();
  EXPECT_EQ(read_file(log), "before\nout\nerror\n");
}

TEST(ChildProcess, IsConnectedToWhatItIsGiven) {
  Pipe input, output, messages;
  ChildProgram program = shell("read line; echo got $line; echo complains >&2");
  program.input = input.read.number();
  program.output = output.write.number();
  program.messages = messages.write.number();
  const ChildProcess process(program);
  EXPECT_TRUE(write_all(input.write.number(), "a line\n"));
  EXPECT_EQ(rest_of(output), "got a line\n");
  EXPECT_EQ(rest_of(messages), "complains\n");
}

TEST(ChildProcess, InheritsNoPipeThatItIsNotGiven) {
  Pipe lifeline;
  const ChildProcess process(shell("sleep 1000"));
  EXPECT_TRUE(ends(lifeline));
}

TEST(ChildProcess, SeesVariablesAsAsked) {
  ::setenv("SAGIPS_TEST_A", "7", 1);
  ::setenv("SAGIPS_TEST_B", "8", 1);
  ::setenv("SAGIPS_TEST_HIDDEN", "9", 1);
  const TemporaryFolder folder;
  ChildProgram program = shell("echo $SAGIPS_TEST_A $SAGIPS_TEST_B ${SAGIPS_TEST_HIDDEN-none}");
  program.log = folder.file("log");
  program.environment = {{"SAGIPS_TEST_A", "3"}};
  program.hidden = {"SAGIPS_TEST_HID"};
  ChildProcess(program).wait();
  EXPECT_EQ(read_file(program.log), "3 8 none\n");
}

TEST(ChildProcess, SaysWhyItCannotBeStartedAndWhatToDo) {
  ChildProgram program{.arguments = {"no-such-program-here"}, .advice = "Look at its name."};
  EXPECT_EQ(message_of<StartError>([&] { ChildProcess child(program); }),
            "cannot start 'no-such-program-here' (No such file or directory). Look at its name.");
  const TemporaryFolder folder;
  program.arguments = {folder.make("text", "no program")};
  try {
    const ChildProcess child(program);
    ADD_FAILURE() << "it was started";
  } catch (const StartError& error) {
    EXPECT_EQ(error.code(), EACCES);
  }
  program.log = folder.file("no/such/log");
  EXPECT_EQ(message_of<StorageError>([&] { ChildProcess child(program); }),
            program.log +
                ": cannot be written (No such file or directory). Free space or give the "
                "right to write.");
}

TEST(ChildProcess, IsSignalledWithAllThatItHasStarted) {
  const TemporaryFolder folder;
  const std::string log = folder.file("log");
  const std::string patient =
      "trap 'echo told; exit' TERM; echo ready; "
      "while true; do sleep 0.01; done";
  const ChildProcess process(shell("(" + patient + ") & wait", log));
  EXPECT_TRUE(says(log, "ready"));
  process.signal(SIGTERM);
  EXPECT_TRUE(says(log, "told"));
  EXPECT_EQ(process.wait().signal, SIGTERM);
}

TEST(ChildProcess, IsKilledWithItsObjectAndAllThatItHasStarted) {
  const TemporaryFolder folder;
  Pipe output;
  ChildProgram program = shell("sleep 1000 & echo ready >&2; sleep 1000", folder.file("log"));
  program.output = output.write.number();
  pid_t number = 0;
  {
    const ChildProcess process(program);
    number = process.number();
    EXPECT_TRUE(says(program.log, "ready"));
  }
  EXPECT_TRUE(ends(output));
  EXPECT_EQ(::kill(number, 0), -1) << "nobody waits to be asked how it ended";
}

/// A program that starts another one and is killed when that one is ready.
void start_and_die(const ChildProgram& program) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    const ChildProcess child(program);
    for (;;) ::pause();
  }
  EXPECT_TRUE(says(program.log, "ready"));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
}

TEST(ChildProcess, IsToldWhenTheProgramDies) {
  const TemporaryFolder folder;
  const std::string log = folder.file("log");
  start_and_die(
      shell("trap 'echo told; exit' TERM; echo ready; while true; do sleep 0.01; done", log));
  EXPECT_TRUE(says(log, "told"));
}

TEST(ChildProcess, OutlivesTheProgramWhereItMust) {
  const TemporaryFolder folder;
  Pipe input;
  ChildProgram program = shell("echo ready; read -r line; echo $line", folder.file("log"));
  program.input = input.read.number();
  program.ends_with_us = false;
  start_and_die(program);
  EXPECT_TRUE(write_all(input.write.number(), "goes on\n"));
  EXPECT_TRUE(says(program.log, "goes on"));
}

}  // namespace
}  // namespace sagips::core
