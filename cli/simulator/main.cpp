// One simulation in a process of its own: SimGrid takes a process whole, and `sagips simulate` runs
// several side by side.

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/simulate/replay.hpp"

namespace {

constexpr const char* usage =
    "usage: sagips-simulator replay JOB.yaml RESULT.yaml\n"
    "One simulation of an exchange; `sagips simulate` writes the jobs and reads the results.\n";

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "replay") {
    namespace core = sagips::core;
    namespace simulate = sagips::simulate;
    const simulate::ReplayConfig defaults;  // a temporary one makes g++ 12 warn of its strings
    const auto job = core::read_config(core::ConfigDocument::from_file(words[1]), defaults);
    core::write_file(words[2], core::write_config(simulate::replay(job)));
    return 0;
  }
  const bool asked = words.size() == 1 && words[0] == "--help";
  (asked ? std::cout : std::cerr) << usage;
  return asked ? 0 : static_cast<int>(sagips::core::ExitCode::bad_input);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const sagips::core::Error& error) {
    std::cerr << "sagips-simulator: error: " << error.what() << '\n';
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::cerr << "sagips-simulator: error: " << error.what() << '\n';
    return static_cast<int>(sagips::core::ExitCode::failed);
  }
}
