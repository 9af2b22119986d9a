#include "sagips/analysis/drawing/gnuplot.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <regex>
#include <sstream>
#include <system_error>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

extern char** environ;

namespace sagips::analysis::drawing {
namespace {

[[noreturn]] void fail(const std::string& action, int code) {
  throw core::Error(core::text("figure: cannot ", action, " (",
                               std::system_category().message(code),
                               "). Free memory or processes on this machine."));
}

/// A nameless file in memory. Unlike pipes, three of them cannot lock each other up when gnuplot
/// complains before it has read everything.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("gnuplot", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("open a file in memory", errno);
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int descriptor() const { return descriptor_; }

  void write(const std::string& content) {
    for (std::size_t done = 0; done < content.size();) {
      const auto count = ::write(descriptor_, content.data() + done, content.size() - done);
      if (count < 0 && errno != EINTR) fail("hand data to gnuplot", errno);
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    ::lseek(descriptor_, 0, SEEK_SET);
  }

  std::string read() {
    ::lseek(descriptor_, 0, SEEK_SET);
    std::string content;
    std::array<char, 65536> buffer;
    for (;;) {
      const auto count = ::read(descriptor_, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("read what gnuplot wrote", errno);
      if (count == 0) return content;
      content.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int descriptor_;
};

/// Starts gnuplot on these three files and waits; its wait status, empty when it is not there.
std::optional<int> spawn_and_wait(MemoryFile& input, MemoryFile& output, MemoryFile& complaints) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, complaints.descriptor(), STDERR_FILENO);
  char program[] = "gnuplot", no_user_settings[] = "-d", from_input[] = "-";
  char* const arguments[] = {program, no_user_settings, from_input, nullptr};
  pid_t process = 0;
  const int problem = ::posix_spawnp(&process, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem == ENOENT) return std::nullopt;
  if (problem != 0) fail("start gnuplot", problem);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) fail("wait for gnuplot", errno);
  return status;
}

/// gnuplot echoes the command, points at the place, then says "line 12: what is wrong".
std::string first_complaint(const std::string& complaints) {
  static const std::regex message("line [0-9]+: (.+)");
  std::istringstream lines(complaints);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_search(line, found, message)) return found[1];
    if (first.empty()) first = core::trim(line);
  }
  return first.empty() ? "it ended without a word" : first;
}

}  // namespace

std::optional<std::string> run_gnuplot(const std::string& script) {
  MemoryFile input, output, complaints;
  input.write(script);
  const std::optional<int> status = spawn_and_wait(input, output, complaints);
  if (!status) return std::nullopt;
  std::string picture = output.read();
  if (*status != 0 || picture.empty())
    throw core::Error(core::text("figure: gnuplot failed: ", first_complaint(complaints.read()),
                                 ". Check that gnuplot 5.4 or newer with cairo is installed."));
  return picture;
}

}  // namespace sagips::analysis::drawing
