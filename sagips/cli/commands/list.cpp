#include <algorithm>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/comm/exchanges.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/outside/stage_config.hpp"

namespace sagips::cli {

namespace {

void list_workloads(const Workloads& workloads) {
  std::size_t widest = 0;
  for (const std::string& name : workloads.names())
    for (const auto& settings : workloads.get(name, "list").settings)
      widest = std::max(widest, name.size() + 1 + settings.first.size());
  for (const std::string& name : workloads.names()) {
    const problem::Entry& entry = workloads.get(name, "list");
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
}

void show_line(const std::string& name, const std::string& summary) {
  std::cout << "  " << name << std::string(20 - std::min<std::size_t>(19, name.size()), ' ')
            << summary << '\n';
}

void show_summaries(const auto& known) {
  for (const std::string& name : known.names()) show_line(name, known.get(name, "list").summary);
}

void list_exchanges(const Workloads&) {
  std::cout << "exchanges between ranks (mpirun -n 4 sagips train NAME exchange=...):\n";
  show_summaries(comm::known_exchanges());
}

void list_solvers(const Workloads&) {
  std::cout << "solvers (sagips solve NAME solve.method=...):\n";
  show_summaries(optim::solvers());
}

// A kind of stage is named by its first key; the others are its options.
void list_stages(const Workloads&) {
  std::cout
      << "stages (pipeline: [{KIND: ..., OPTION: ...}] of a YAML file; sagips explain KIND):\n";
  for (env::StageConfig& kind : env::StageConfig::kinds()) {
    core::FieldList list;
    kind.fields(list);
    const std::vector<core::FieldDescription> fields = core::describe_fields(list);
    std::vector<std::string> options;
    for (std::size_t i = 1; i < fields.size(); ++i)
      options.push_back(fields[i].key.substr(fields[i].key.find('.') + 1));
    show_line(fields[0].key,
              fields[0].help + (options.empty() ? "" : "; options: " + core::join(options, ", ")));
  }
}

struct Part {
  const char* name;
  void (*show)(const Workloads&);
};
constexpr Part parts[] = {{"workloads", list_workloads},
                          {"exchanges", list_exchanges},
                          {"solvers", list_solvers},
                          {"stages", list_stages}};

}  // namespace

core::ExitCode list(const Workloads& workloads, const Arguments& arguments) {
  const std::string& wanted = arguments.source;
  std::vector<std::string> names;
  for (const Part& part : parts) names.emplace_back(part.name);
  if (!wanted.empty() && std::find(names.begin(), names.end(), wanted) == names.end())
    throw core::ConfigError("command line",
                            core::text("'", core::excerpt(wanted), "' cannot be listed",
                                       core::suggestion(wanted, names)));
  for (const auto& [name, show] : parts) {
    if (!wanted.empty() && name != wanted) continue;
    show(workloads);
    if (wanted.empty()) std::cout << '\n';
  }
  if (wanted.empty())
    std::cout << "Solve one with `sagips solve NAME`, train networks with `sagips train NAME`, "
                 "look at one with `sagips check NAME`.\n";
  std::cout.flush();
  return core::ExitCode::done;
}

}  // namespace sagips::cli
