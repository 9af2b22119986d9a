#include "sagips/env/outside/simulator_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

using core::text;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kept_bytes = 2000, shown_bytes = 200, longest_answer = 4096;

[[noreturn]] void refuse_system(const char* what) {
  throw core::Error(text("cannot start a simulator (", what, ": ", std::strerror(errno), ")."));
}

struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) refuse_system("pipe");
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int take(int which) { return std::exchange(ends[which], -1); }
  int ends[2] = {-1, -1};
};

void close_once(int& descriptor) {
  if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

std::string make_folder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "sagips-simulator-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) refuse_system("scratch folder");
  return pattern;
}

// The last two lines that say anything: the very last may be the shell's.
std::string last_lines(const std::string& whole) {
  std::string last, before;
  for (const std::string& line : core::split(whole, '\n')) {
    if (core::trim(line).empty()) continue;
    before = std::exchange(last, core::trim(line).substr(0, shown_bytes));
  }
  return before.empty() ? last : before + " / " + last;
}

/// Writing to a simulator that has ended must give an error, not end this program.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~NoBrokenPipeSignal() {
    const timespec at_once{0, 0};
    while (sigtimedwait(&broken_pipe_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t broken_pipe_{}, before_{};
};

// Between fork and exec, and in the guardian, only what a signal handler may call.
void reset_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(signal, SIG_DFL);
  ::signal(SIGUSR1, SIG_IGN);  // a job may send it to everybody, and a checkpoint is not its affair
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_simulator(const char* command, int input, int output, int messages) {
  ::setpgid(0, 0);  // what it starts ends with it
  reset_signals();
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(messages, STDERR_FILENO);
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

[[noreturn]] void become_guardian(int lifeline, pid_t simulator) {
  ::setpgid(0, 0);  // Ctrl-C is not for it
  reset_signals();
  ::signal(SIGHUP, SIG_IGN);
  ::dup2(lifeline, 0);
  // other simulators' pipes would never end while it holds copies
  if (::syscall(SYS_close_range, 1U, ~0U, 0U) != 0)
    for (int descriptor = 1; descriptor < 65536; ++descriptor) ::close(descriptor);
  char byte;
  while (::read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  ::kill(-simulator, SIGKILL);
  ::_exit(0);
}

void wait_for(pid_t process, int* status = nullptr) {
  while (::waitpid(process, status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

SimulatorProcess::SimulatorProcess(Config config)
    : config_(std::move(config)), folder_(make_folder()) {
  try {
    start();
    ask("hello 1 " + folder_, "hello 1");
  } catch (...) {
    end();
    throw;
  }
}

SimulatorProcess::~SimulatorProcess() { end(); }

void SimulatorProcess::start() {
  Pipe input, output, messages;
  process_ = ::fork();
  if (process_ < 0) refuse_system("fork");
  if (process_ == 0)
    become_simulator(config_.command.c_str(), input.ends[0], output.ends[1], messages.ends[1]);
  ::setpgid(process_, process_);  // whoever comes first; its failure means that it was done
  input_ = input.take(1);
  output_ = output.take(0);
  messages_ = messages.take(0);
  ::fcntl(messages_, F_SETFL, O_NONBLOCK);
  guard();
}

// PR_SET_PDEATHSIG would tie the simulator to the thread that started it, and reach nothing that it
// starts itself.
void SimulatorProcess::guard() {
  Pipe lifeline;
  guardian_ = ::fork();
  if (guardian_ < 0) refuse_system("fork");
  if (guardian_ == 0) become_guardian(lifeline.ends[0], process_);
  lifeline_ = lifeline.take(1);
}

void SimulatorProcess::end() {
  close_once(input_);
  close_once(output_);
  close_once(messages_);
  close_once(lifeline_);
  if (guardian_ > 0) wait_for(std::exchange(guardian_, -1));  // it has killed the whole group
  if (process_ > 0) {
    ::kill(-process_, SIGKILL);  // not waited for yet, so the number is still its own
    wait_for(std::exchange(process_, -1));
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void SimulatorProcess::fail(const std::string& problem, const std::string& advice) const {
  const std::string said = last_lines(last_said_);
  throw core::Error(text("the simulator '", config_.command, "' ", problem, ". ",
                         said.empty() ? std::string("It said nothing on standard error")
                                      : text("It last said: '", said, "'"),
                         ". ", advice));
}

void SimulatorProcess::send(const std::string& line) {
  const NoBrokenPipeSignal quiet;
  const std::string whole = line + "\n";
  for (std::size_t done = 0; done < whole.size();) {
    const ssize_t count = ::write(input_, whole.data() + done, whole.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // it has ended: reading tells how
    done += static_cast<std::size_t>(count);
  }
}

bool SimulatorProcess::read_output() {
  char bytes[4096];
  const ssize_t count = ::read(output_, bytes, sizeof bytes);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  unread_.append(bytes, static_cast<std::size_t>(count));
  return count > 0;
}

void SimulatorProcess::read_messages() {
  char bytes[4096];
  for (ssize_t count; (count = ::read(messages_, bytes, sizeof bytes)) > 0;) {
    last_said_.append(bytes, static_cast<std::size_t>(count));
    if (last_said_.size() > kept_bytes) last_said_.erase(0, last_said_.size() - kept_bytes);
    if (config_.log.empty()) continue;
    const int log = ::open(config_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0 || ::write(log, bytes, static_cast<std::size_t>(count)) < 0)
      throw core::StorageError(config_.log, "the simulator's messages cannot be written there.");
    ::close(log);
  }
}

// Looks without reaping: the number must stay its own until `end` has killed the group.
std::string SimulatorProcess::how_it_ended() const {
  siginfo_t how{};
  for (int tries = 0; tries < 200; ++tries) {
    const int found =
        ::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOHANG | WNOWAIT);
    if (found == 0 && how.si_pid != 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (how.si_pid == 0) return "closed its standard output";
  // a shell reports its child's signal as 128 and more
  const bool by_signal = how.si_code != CLD_EXITED || how.si_status > 128;
  if (!by_signal) return text("ended with exit code ", how.si_status, " instead of answering");
  const int signal = how.si_code == CLD_EXITED ? how.si_status - 128 : how.si_status;
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
    pollfd waiting[2] = {{output_, POLLIN, 0}, {messages_, POLLIN, 0}};
    const int some = ::poll(waiting, messages_ >= 0 ? 2 : 1,
                            static_cast<int>(std::min(left_s, 3600.0) * 1000) + 1);
    if (some <= 0) continue;
    read_messages();
    if (waiting[1].revents & (POLLHUP | POLLERR)) close_once(messages_);
    if (waiting[0].revents != 0 && !read_output()) {
      read_messages();
      fail(how_it_ended(), "It must go on answering until its standard input ends.");
    }
  }
}

void SimulatorProcess::ask(const std::string& request, const std::string& expected) {
  send(request);
  const std::string answer = answer_to(request.substr(0, request.find(' ')));
  if (answer == expected) return;
  if (answer.rfind("error", 0) == 0)
    fail(text("reports: ", answer.substr(0, shown_bytes)), "Correct its input or the simulator.");
  fail(text("answered '", answer.substr(0, shown_bytes), "' where '", expected, "' was expected"),
       "Answers alone may go to its standard output, everything else to standard error.");
}

}  // namespace sagips::env
