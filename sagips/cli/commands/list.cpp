#include <algorithm>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/comm/exchanges.hpp"

namespace sagips::cli {

core::ExitCode list(const Workloads& workloads, const Arguments&) {
  std::size_t widest = 0;
  for (const std::string& name : workloads.names())
    for (const auto& settings : workloads.get(name, "list").settings)
      widest = std::max(widest, name.size() + 1 + settings.first.size());
  for (const std::string& name : workloads.names()) {
    const problem::WorkloadEntry& entry = workloads.get(name, "list");
    std::cout << name << std::string(widest - name.size() + 2, ' ') << entry.summary << '\n';
    for (const auto& settings : entry.settings)
      if (settings.first != "default") {
        const std::string whole = name + "/" + settings.first;
        const std::string first_line = settings.second.substr(0, settings.second.find('\n'));
        std::cout << whole << std::string(widest - whole.size() + 2, ' ')
                  << (first_line.rfind("# ", 0) == 0 ? first_line.substr(2) : std::string())
                  << '\n';
      }
  }
  const auto show_summaries = [](const auto& known) {
    for (const std::string& name : known.names())
      std::cout << "  " << name << std::string(20 - std::min<std::size_t>(19, name.size()), ' ')
                << known.get(name, "list").summary << '\n';
  };
  std::cout << "\nexchanges between ranks (mpirun -n 4 sagips train NAME exchange=...):\n";
  show_summaries(comm::known_exchanges());
  std::cout << "\nsolvers (sagips solve NAME solve.method=...):\n";
  show_summaries(optim::solvers());
  std::cout << "\nSolve one with `sagips solve NAME`, train networks with `sagips train NAME`, "
               "look at one with `sagips check NAME`."
            << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli
