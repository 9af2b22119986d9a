#include "sagips/cli/study/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::cli {

namespace {

std::string reason(int code) { return std::system_category().message(code); }

bool of_launcher(std::string_view variable) {
  for (const std::string_view prefix : {"OMPI_", "PMIX_", "PMI_", "SLURM_"})
    if (variable.substr(0, prefix.size()) == prefix) return true;
  return false;
}

bool same_name(std::string_view variable, const std::string& name) {
  return variable.substr(0, name.size() + 1) == name + "=";
}

std::vector<std::string> environment_for(const ChildProgram& program) {
  const bool under_mpi = comm::detect_launch().under_mpi;
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    bool replaced = under_mpi && of_launcher(*variable);
    for (const auto& [name, value] : program.environment)
      replaced = replaced || same_name(*variable, name);
    if (!replaced) variables.emplace_back(*variable);
  }
  for (const auto& [name, value] : program.environment)
    variables.push_back(core::text(name, "=", value));
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// A descriptor that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

// In the child, where only calls that are safe in signal handlers are allowed.
[[noreturn]] void become(char* const* arguments, char* const* environment, int log, int input,
                         int problem, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it died meanwhile
  for (const int number : {SIGINT, SIGTERM}) ::signal(number, SIG_DFL);
  ::signal(SIGUSR1, SIG_IGN);  // until the program listens: one that comes early must not end it
  ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execvpe(arguments[0], arguments, environment);
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(problem, &code, sizeof code);
  ::_exit(127);
}

}  // namespace

Child::Child(const ChildProgram& program) {
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = environment_for(program);
  const std::vector<char*> argument_list = pointers(arguments);
  const std::vector<char*> environment_list = pointers(environment);
  const Descriptor log(
      ::open(program.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (log.get() < 0)
    throw core::StorageError(program.log, core::text("cannot be written (", reason(errno),
                                                     "). Free space or give the right to write."));
  const Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::array<int, 2> pipe{-1, -1};  // tells why exec failed; closed by it otherwise
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    throw core::Error(core::text("cannot start ", arguments[0], " (", reason(errno), ")."));
  const Descriptor listen(pipe[0]);
  {
    const Descriptor tell(pipe[1]);
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0)
      become(argument_list.data(), environment_list.data(), log.get(), input.get(), tell.get(),
             parent);
  }
  int code = 0;
  const bool failed = process_ < 0 || ::read(listen.get(), &code, sizeof code) > 0;
  if (!failed) return;
  if (process_ < 0) code = errno;
  if (process_ > 0) ::waitpid(std::exchange(process_, -1), nullptr, 0);
  throw core::Error(core::text("cannot start '", arguments[0], "' (", reason(code),
                               "). Look at ensemble.launcher."));
}

Child::~Child() {
  if (process_ < 0) return;
  signal(SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::optional<Ending> Child::ended() {
  int status = 0;
  const pid_t found = ::waitpid(process_, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) return std::nullopt;
  process_ = -1;
  if (found < 0) return Ending{1, 0};
  if (WIFSIGNALED(status)) return Ending{0, WTERMSIG(status)};
  return Ending{WEXITSTATUS(status), 0};
}

void Child::signal(int number) const {
  if (process_ > 0) ::kill(-process_, number);
}

std::string own_program() {
  std::error_code problem;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem)
    throw core::Error(core::text("cannot find this program (", problem.message(),
                                 "). It starts itself through /proc/self/exe."));
  return path.string();
}

}  // namespace sagips::cli
