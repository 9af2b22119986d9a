#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/compare.hpp"

namespace sagips::cli {

namespace {

std::string table(const run::Compared& compared) {
  std::vector<std::vector<std::string>> rows;
  for (const run::Attempt& attempt : compared.attempts) {
    const std::vector<double>& distance = attempt.learning_curve.distance;
    rows.push_back({attempt.method, core::significant(attempt.time_s, 3),
                    distance.empty() ? std::string() : core::significant(distance.back(), 3),
                    attempt.end});
  }
  return analysis::plain_table({"method", "time [s]", compared.distance, "end"}, rows);
}

// What each method says about each parameter.
std::string answers(const run::Compared& compared) {
  std::vector<std::string> header = {"parameter", "true"};
  for (const run::Attempt& attempt : compared.attempts) header.push_back(attempt.method);
  header.push_back("floor");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < compared.known.parameters.size(); ++i) {
    const record::ParameterResult& known = compared.known.parameters[i];
    if (known.fixed) continue;
    std::vector<std::string> row = {analysis::name_text(known),
                                    known.truth ? core::significant(*known.truth, 5) : ""};
    for (const run::Attempt& attempt : compared.attempts)
      row.push_back(attempt.visits.empty() ? std::string()
                                           : core::significant(attempt.visits.back().values[i], 5));
    row.push_back(known.floor ? core::significant(*known.floor * std::abs(*known.truth), 2) : "");
    rows.push_back(std::move(row));
  }
  return analysis::plain_table(header, rows);
}

}  // namespace

core::ExitCode compare(const Workloads& workloads, const Arguments& arguments) {
  Job job = run::read_job(workloads, arguments.source, arguments.assignments);
  const run::CompareConfig& config = job.of<run::CompareConfig>();
  config.check();
  const bool trains = std::count(config.methods.begin(), config.methods.end(), "gan") > 0;
  core::Log log;
  run::warn_without_effect(workloads, job,
                           {.command = "compare", .trains = trains, .methods = config.methods},
                           *arguments.ranks, log);
  std::optional<InterruptGuard> interrupt;
  run::Requests asked = requests();
  asked.begun = [&interrupt] { interrupt.emplace(); };
  const run::Compared compared = run::compare(job, asked, log);
  std::cout << answers(compared) << '\n' << table(compared);
  if (compared.floor > 0)
    std::cout << "floor: " << core::significant(compared.floor, 3)
              << " (what the data allow on average, Cramer-Rao)\n";
  if (!compared.figure.empty()) std::cout << "distance over time: " << compared.figure << '\n';
  std::cout << "run folder: " << compared.folder << std::endl;
  if (compared.attempts.empty()) return core::ExitCode::failed;
  return compared.complete ? core::ExitCode::done : core::ExitCode::stopped_early;
}

}  // namespace sagips::cli
