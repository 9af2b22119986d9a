#include "sagips/study/experiments.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "sagips/analysis/figures/closure.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_directory.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/trials.hpp"
#include "sagips/study/study_figure.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;

std::string place(const std::string& folder) {
  return core::text(folder, "/", files::experiments.name);
}

std::string claims_of(const std::string& folder) { return place(folder) + "/claims"; }

std::string file_of(const std::string& folder, std::int64_t worker) {
  char name[40];
  std::snprintf(name, sizeof name, "/worker_%04lld.jsonl", static_cast<long long>(worker));
  return place(folder) + name;
}

/// The file that one worker alone adds to, for as long as this lives.
struct OwnFile {
  explicit OwnFile(const std::string& folder) {
    for (std::int64_t worker = 0; lock.number() < 0; ++worker) {
      path = file_of(folder, worker);
      lock = record::take_lock(path);
    }
  }
  std::string path;
  core::Descriptor lock;
};

// Kinds of errors in the order in which they were first stated.
std::vector<std::string> kinds_of(const std::vector<record::Experiment>& experiments) {
  std::vector<std::string> kinds;
  for (const record::Experiment& one : experiments)
    for (const record::ExperimentEstimate& estimate : one.estimates)
      if (std::find(kinds.begin(), kinds.end(), estimate.errors_from) == kinds.end())
        kinds.push_back(estimate.errors_from);
  return kinds;
}

std::vector<analysis::Estimate> estimates_of(const std::vector<record::Experiment>& experiments,
                                             const std::string& kind, std::size_t number,
                                             const env::Parameter& parameter) {
  std::vector<analysis::Estimate> found;
  for (const record::Experiment& one : experiments)
    for (const record::ExperimentEstimate& estimate : one.estimates)
      if (estimate.errors_from == kind && number < estimate.values.size())
        found.push_back({parameter.nearest(estimate.values[number], *parameter.truth),
                         estimate.errors.at(number)});
  return found;
}

std::string failures_text(const std::vector<record::Experiment>& experiments) {
  std::map<std::string, int> reasons;
  int failed = 0;
  double time_s = 0, core_s = 0;
  for (const record::Experiment& one : experiments) {
    time_s += one.time_s;
    core_s += one.core_s;
    if (one.failure.empty()) continue;
    ++failed;
    ++reasons[one.failure];
  }
  const auto count = static_cast<double>(experiments.size());
  std::string lines =
      core::text(experiments.size(), " experiments, ", core::significant(core_s / count, 3),
                 " core-seconds and ", core::significant(time_s / count, 3),
                 " s each; failed: ", failed, "\n");
  for (const auto& [reason, times] : reasons) lines += core::text("  ", times, ": ", reason, "\n");
  return lines;
}

std::string warnings_text(const std::vector<record::Experiment>& experiments) {
  std::vector<std::string> counts;
  for (const auto& [code, count] : record::warned(experiments))
    counts.push_back(core::text(code, " in ", count));
  return counts.empty() ? "" : core::text("warnings: ", core::join(counts, ", "), "\n");
}

}  // namespace

void ClosureConfig::fields(core::FieldList& list) {
  list.add("experiments", experiments, "toy data sets, each solved anew; also --experiments",
           core::Range::between(2, 1e7));
  list.add("method", method,
           "what estimates the parameters: gan, or a solver (see `sagips list`); also --method");
  list.add("members", members,
           "with gan: networks of an experiment that differ by their seeds; also --members",
           core::Range::between(2, 1e4));
  list.add("bootstraps", bootstraps,
           "with gan: further networks of an experiment, on its data drawn again; 0: none",
           core::Range::between(0, 1e4));
  core::needs(list, method == "gan", "method=gan", {"members", "bootstraps"});
}

bool await_earlier_workers(const std::string& folder, const run::Requests& requests,
                           core::Log& log) {
  bool told = false;
  for (std::int64_t worker = 0; std::filesystem::exists(file_of(folder, worker)); ++worker)
    while (record::take_lock(file_of(folder, worker)).number() < 0) {
      if (requests.stop()) return false;
      if (!std::exchange(told, true))
        log.info(core::text(folder,
                            ": a worker of an earlier start still makes an experiment, and is "
                            "waited for"));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  forget_claims(folder);
  return true;
}

void forget_claims(const std::string& folder) { std::filesystem::remove_all(claims_of(folder)); }

std::map<std::int64_t, int> attempts_of(const std::string& folder) {
  std::map<std::int64_t, int> attempts;
  for (const record::Experiment& one : record::read_experiments(place(folder)))
    attempts[one.number] = one.attempts;
  return attempts;
}

void forget_unfinished(const std::string& folder, const std::map<std::int64_t, int>& before) {
  forget_claims(folder);
  record::TrialStore claims(claims_of(folder), 0);
  for (const auto& [number, attempts] : attempts_of(folder)) {
    const auto found = before.find(number);
    if (found == before.end() || attempts > found->second) claims.claim({.number = number + 1});
  }
}

bool make_experiments(const run::Job& job, const std::string& folder,
                      const run::Requests& requests) {
  const OwnFile own(folder);
  record::TrialStore claims(claims_of(folder), 0);
  std::set<std::int64_t> known;
  for (const record::Experiment& one : record::read_experiments(place(folder)))
    if (one.failure.empty()) known.insert(one.number);
  for (std::int64_t number = 0; number < job.of<ClosureConfig>().experiments; ++number) {
    if (known.count(number) > 0) continue;
    if (requests.stop()) return false;
    if (!claims.claim({.number = number + 1})) continue;
    const auto experiment = run_experiment(job, number, requests);
    if (!experiment) return false;
    record::append_experiment(own.path, *experiment);
  }
  return true;
}

ExperimentCount count_experiments(const std::string& folder) {
  const auto experiments = record::read_experiments(place(folder));
  const auto failed = std::count_if(experiments.begin(), experiments.end(),
                                    [](const auto& one) { return !one.failure.empty(); });
  return {experiments.size(), static_cast<std::size_t>(failed)};
}

ClosureEnd write_experiments(const run::Job& job, const std::string& folder, core::Log& log) {
  const auto experiments = record::read_experiments(place(folder));
  ClosureEnd results;
  if (experiments.empty()) return results;
  const env::ParameterSet parameters =
      env::ParameterSet(job.inverse().workload->parameters()).at_toy_values();
  std::vector<analysis::ClosureSummary>& summaries = results.summaries;
  for (const std::string& kind : kinds_of(experiments))
    for (const std::size_t p : parameters.free())
      summaries.push_back(
          analysis::summarise_closure(parameters.all()[p].name, kind, *parameters.all()[p].truth,
                                      estimates_of(experiments, kind, p, parameters.all()[p])));
  std::size_t unusable = 0;
  for (const analysis::ClosureSummary& one : summaries) unusable += one.unusable;
  if (!summaries.empty()) {
    analysis::write_closure_csv(core::text(folder, "/", files::closure.name), summaries);
    results.tables = analysis::closure_table(summaries);
    if (unusable > 0)
      results.tables +=
          core::text(unusable, " estimates without an error above 0 are not among them\n");
  }
  results.tables += failures_text(experiments) + warnings_text(experiments);
  const bool drawable = std::any_of(summaries.begin(), summaries.end(),
                                    [](const auto& one) { return one.experiments >= 2; });
  if (job.settings.run.figures && drawable) {
    draw_figure(analysis::closure_pulls(summaries), job.settings.figures, folder, "closure_pulls",
                log);
    results.figure = draw_figure(analysis::closure_coverage(summaries), job.settings.figures,
                                 folder, "closure_coverage", log);
  }
  return results;
}

}  // namespace sagips::study
