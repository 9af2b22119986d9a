#include "sagips/core/process/child_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {

namespace {

std::string reason(int code) { return std::system_category().message(code); }

std::vector<std::string> environment_for(const ChildProgram& program) {
  std::vector<std::string> variables, left_out = program.hidden;
  for (const auto& [name, value] : program.environment) {
    variables.push_back(text(name, "=", value));
    left_out.push_back(name + "=");
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view ours = *variable;
    if (std::none_of(left_out.begin(), left_out.end(),
                     [&](const std::string& beginning) { return ours.starts_with(beginning); }))
      variables.emplace_back(ours);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all(texts.size() + 1, nullptr);
  for (std::size_t i = 0; i < texts.size(); ++i) all[i] = texts[i].data();
  return all;
}

Descriptor open_log(const std::string& path) {
  Descriptor log(::open(path.empty() ? "/dev/null" : path.c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (log.number() < 0)
    throw StorageError(path, text("cannot be written (", reason(errno),
                                  "). Free space or give the right to write."));
  return log;
}

// In the child, where only calls that are safe in signal handlers are allowed.
[[noreturn]] void become(char* const* arguments, char* const* environment,
                         const std::array<int, 3>& connections, int report, pid_t parent) {
  ::setpgid(0, 0);
  if (parent > 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);  // it died meanwhile
  }
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  // A job may send it to everybody, and it asks for a checkpoint: whoever does not listen, or does
  // not listen yet, must not end by it.
  ::signal(SIGUSR1, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number = 0; number < 3; ++number) ::dup2(connections[number], number);
  ::execvpe(arguments[0], arguments, environment);
  const char code = static_cast<char>(errno);
  [[maybe_unused]] const auto written = ::write(report, &code, 1);
  ::_exit(127);
}

std::optional<Ending> look_at(pid_t process, int options) {
  siginfo_t how{};
  while (::waitid(P_PID, static_cast<id_t>(process), &how, WEXITED | WNOWAIT | options) != 0)
    if (errno != EINTR) return Ending{1, 0};
  if (how.si_pid == 0) return std::nullopt;
  return how.si_code == CLD_EXITED ? Ending{how.si_status, 0} : Ending{0, how.si_status};
}

}  // namespace

StartError::StartError(const ChildProgram& program, int code)
    : Error(
          text("cannot start '", program.arguments[0], "' (", reason(code), "). ", program.advice)),
      code_(code) {}

ChildProcess::ChildProcess(const ChildProgram& program) {
  std::vector<std::string> arguments = program.arguments, environment = environment_for(program);
  const std::vector<char*> argument_list = pointers(arguments);
  const std::vector<char*> environment_list = pointers(environment);
  const Descriptor log = open_log(program.log), nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::array connections{program.input < 0 ? nothing.number() : program.input,
                               program.output < 0 ? log.number() : program.output,
                               program.messages < 0 ? log.number() : program.messages};
  Pipe report;  // tells why exec failed; closed by it otherwise
  const pid_t parent = program.ends_with_us ? ::getpid() : 0;
  number_ = ::fork();
  if (number_ == 0)
    become(argument_list.data(), environment_list.data(), connections, report.write.number(),
           parent);
  if (number_ < 0) throw StartError(program, errno);
  report.write.close();
  std::string code;
  read_all(report.read.number(), code);
  if (code.empty()) return;
  ::waitpid(number_, nullptr, 0);
  throw StartError(program, code.front());
}

ChildProcess::~ChildProcess() {
  signal(SIGKILL);
  while (::waitpid(number_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<Ending> ChildProcess::ended() const { return look_at(number_, WNOHANG); }

Ending ChildProcess::wait() const { return *look_at(number_, 0); }

void ChildProcess::signal(int number) const { ::kill(-number_, number); }

std::string shell_word(const std::string& word) {
  std::string result = "'";
  for (const char letter : word)
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

bool is_program(const std::string& name) {
  const auto is_here = [](const std::string& path) {
    return std::filesystem::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return is_here(name);
  const char* const folders = std::getenv("PATH");
  if (name.empty() || folders == nullptr) return false;
  const std::vector<std::string> all = split(folders, ':');
  return std::any_of(all.begin(), all.end(), [&](const std::string& folder) {
    return is_here(text(folder.empty() ? "." : folder, "/", name));
  });
}

std::string own_program() {
  std::error_code problem;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem)
    throw Error(text("cannot find this program (", problem.message(),
                     "). It starts itself through /proc/self/exe."));
  return path.string();
}

std::string own_image() {
  Dl_info image{};
  link_map* map = nullptr;
  void* const here = reinterpret_cast<void*>(&own_image);  // NOLINT: what dladdr asks for
  const int found = dladdr1(here, &image, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  return found != 0 && map != nullptr && *map->l_name != '\0' ? map->l_name : own_program();
}

}  // namespace sagips::core
