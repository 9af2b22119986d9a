#include "sagips/run/run_environment.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>

#include <torch/version.h>

#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/nn/device.hpp"

namespace sagips::run {

namespace {

// What /proc says under a key such as "model name"; empty where it says nothing.
std::string proc_value(const char* file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(key, 0) == 0 && line.find(':') != std::string::npos)
      return core::trim(std::string_view(line).substr(line.find(':') + 1));
  return {};
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command{std::istreambuf_iterator<char>(file), {}};
  for (char& letter : command)
    if (letter == '\0') letter = ' ';
  return core::trim(command);
}

std::string memory() {
  double kilobytes = 0;
  const std::string text = proc_value("/proc/meminfo", "MemTotal");
  if (!core::parse_number(text.substr(0, text.find(' ')), kilobytes)) return {};
  return core::text(core::significant(kilobytes / (1024 * 1024), 3), " GiB");
}

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char buffer[64];
  return {buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S %z", &parts)};
}

}  // namespace

std::vector<record::NamedText> run_environment(const comm::Ranks& ranks, int threads,
                                               const torch::Device& device) {
  utsname system{};
  ::uname(&system);
  std::vector<record::NamedText> facts{
      {"command", command_line()},
      {"started", local_time()},
      {"SAGIPS", core::text(core::version(), " (", core::git_hash(), ")")},
      {"LibTorch", TORCH_VERSION},
      {"compiler", core::text("g++ ", __VERSION__)},
      {"ranks", core::text(ranks.size())},
      {"ranks talk through", ranks.size() > 1 ? ranks.communicator().description() : ""},
      {"threads a rank", threads > 0 ? core::text(threads) : ""},
      {"device", nn::described(device)},
      {"host", system.nodename},
      {"processor", proc_value("/proc/cpuinfo", "model name")},
      {"processors allowed", core::text(nn::allowed_processors())},
      {"memory", memory()},
      {"system", core::text(system.sysname, " ", system.release, " ", system.machine)}};
  std::erase_if(facts, [](const record::NamedText& fact) { return fact.value.empty(); });
  return facts;
}

}  // namespace sagips::run
