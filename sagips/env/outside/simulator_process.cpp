#include "sagips/env/outside/simulator_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

using core::text;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kept_bytes = 2000, shown_bytes = 200, longest_answer = 4096;

// The last two lines that say anything: the very last may be the shell's.
std::string last_lines(const std::string& whole) {
  std::string last, before;
  for (const std::string& line : core::split(whole, '\n')) {
    if (core::trim(line).empty()) continue;
    before = std::exchange(last, core::trim(line).substr(0, shown_bytes));
  }
  return before.empty() ? last : before + " / " + last;
}

// PR_SET_PDEATHSIG would tie a simulator to the thread that started it, and reach nothing that it
// starts itself.
core::ChildProgram shell(const std::string& command, const core::Pipe& input, int output = -1,
                         int messages = -1, const std::string& first_argument = {}) {
  return {.arguments = {"/bin/sh", "-c", command, "/bin/sh", first_argument},
          .input = input.read.number(),
          .output = output,
          .messages = messages,
          .ends_with_us = false};
}

}  // namespace

SimulatorProcess::ScratchFolder::ScratchFolder()
    : path((std::filesystem::temp_directory_path() / "sagips-simulator-XXXXXX").string()) {
  if (::mkdtemp(path.data()) == nullptr)
    throw core::Error(
        text("cannot start a simulator (scratch folder: ", std::strerror(errno), ")."));
}

SimulatorProcess::ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

SimulatorProcess::SimulatorProcess(Config config)
    : config_(std::move(config)),
      process_(shell("cd -- \"$1\" || exit; " + config_.command, input_, output_.write.number(),
                     messages_.write.number(), std::filesystem::absolute(config_.folder).string())),
      guardian_(shell(text("trap '' HUP; read -r end; kill -s KILL -- -", process_.number(),
                           "; rm -rf -- \"$1\""),
                      lifeline_, -1, -1, folder_.path)) {
  output_.write.close();
  messages_.write.close();
  lifeline_.read.close();
  ::fcntl(messages_.read.number(), F_SETFL, O_NONBLOCK);
  ask("hello 1 " + folder(), "hello 1");
}

void SimulatorProcess::fail(const std::string& problem, const std::string& advice) const {
  const std::string said = last_lines(last_said_);
  throw core::Error(text("the simulator '", config_.command, "' ", problem, ". ",
                         said.empty() ? std::string("It said nothing on standard error")
                                      : text("It last said: '", said, "'"),
                         ". ", advice));
}

bool SimulatorProcess::read_output() {
  char bytes[4096];
  const ssize_t count = ::read(output_.read.number(), bytes, sizeof bytes);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  unread_.append(bytes, static_cast<std::size_t>(count));
  return count > 0;
}

void SimulatorProcess::read_messages() {
  char bytes[4096];
  for (ssize_t count; (count = ::read(messages_.read.number(), bytes, sizeof bytes)) > 0;) {
    last_said_.append(bytes, static_cast<std::size_t>(count));
    if (last_said_.size() > kept_bytes) last_said_.erase(0, last_said_.size() - kept_bytes);
    if (config_.log.empty()) continue;
    const core::Descriptor log(
        ::open(config_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (log.number() < 0 ||
        !core::write_all(log.number(), {bytes, static_cast<std::size_t>(count)}))
      throw core::StorageError(config_.log, "the simulator's messages cannot be written there.");
  }
}

std::string SimulatorProcess::how_it_ended() const {
  std::optional<core::Ending> ending = process_.ended();
  for (int tries = 1; !ending && tries < 200; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ending = process_.ended();
  }
  if (!ending) return "closed its standard output";
  // a shell reports its child's signal as 128 and more
  const int signal = ending->exit_code > 128 ? ending->exit_code - 128 : ending->signal;
  if (signal == 0) return text("ended with exit code ", ending->exit_code, " instead of answering");
  return text("was ended by signal ", signal, " (", ::strsignal(signal), ") instead of answering");
}

std::string SimulatorProcess::answer_to(const std::string& request) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(config_.timeout_s);
  for (;;) {
    if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = core::trim(unread_.substr(0, end));
      unread_.erase(0, end + 1);
      return line;
    }
    if (unread_.size() > longest_answer) return unread_;
    const double left_s = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (left_s <= 0)
      fail(text("gave no answer to '", request, "' within ", config_.timeout_s,
                " s (it hangs or needs longer)"),
           "Raise timeout_s, or find out where it waits.");
    pollfd waiting[2] = {{output_.read.number(), POLLIN, 0}, {messages_.read.number(), POLLIN, 0}};
    const int some = ::poll(waiting, messages_.read.number() >= 0 ? 2 : 1,
                            static_cast<int>(std::min(left_s, 3600.0) * 1000) + 1);
    if (some <= 0) continue;
    read_messages();
    if (waiting[1].revents & (POLLHUP | POLLERR)) messages_.read.close();
    if (waiting[0].revents != 0 && !read_output()) {
      read_messages();
      fail(how_it_ended(), "It must go on answering until its standard input ends.");
    }
  }
}

void SimulatorProcess::ask(const std::string& request, const std::string& expected) {
  core::write_all(input_.write.number(), request + "\n");
  const std::string answer = answer_to(request.substr(0, request.find(' ')));
  if (answer == expected) return;
  if (answer.rfind("error", 0) == 0)
    fail(text("reports: ", answer.substr(0, shown_bytes)), "Correct its input or the simulator.");
  fail(text("answered '", answer.substr(0, shown_bytes), "' where '", expected, "' was expected"),
       "Answers alone may go to its standard output, everything else to standard error.");
}

}  // namespace sagips::env
