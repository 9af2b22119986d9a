#include "sagips/run/found_results.hpp"

#include <filesystem>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/run_figures.hpp"
#include "sagips/run/run_report.hpp"

namespace sagips::run {

namespace files = record::run_files;

void require_free_name(const Job& job) {
  const record::RunConfig& run = job.settings.run;
  const std::string path = core::text(run.folder, "/", job.settings.workload, "/", run.name);
  const std::string results = core::text(path, "/", files::results.name);
  if (!record::RunDirectory::is_name(run.name) || !std::filesystem::exists(path)) return;
  if (!std::filesystem::exists(results) ||
      core::read_file(core::text(path, "/", files::config.name)) != job.effective_config ||
      record::read_results_json(results).complete)
    throw record::RunDirectory::taken(path);
  const auto folder = record::RunDirectory::lock(path);
  if (!folder) throw record::RunDirectory::taken(path);
  folder->discard();
}

record::RunDirectory new_run(const Job& job, core::Log& log) {
  require_free_name(job);
  record::RunDirectory folder(job.settings.run, job.settings.workload);
  core::write_file(folder.file(files::config.name), job.effective_config);
  log.add_file(folder.file(files::log.name));
  return folder;
}

void FoundResults::write(const record::Results& results) const {
  write_results(folder_.file(files::results.name), results, log_);
}

void FoundResults::begin(const env::Environment& environment, const record::Results& results,
                         const torch::Tensor& covariance) {
  write(results);
  record::write_summary_csv(folder_.file(files::summary.name), results);
  record::write_covariance(folder_.path(), results);
  if (!job_.settings.run.figures) return;
  draw_.emplace(folder_, job_.settings.figures, log_);
  draw_fit_figures(*draw_, job_, environment, results, covariance);
}

void FoundResults::finish(const env::Environment& environment, const record::Results& results) {
  if (!job_.inverse().data.data.bootstrap) warn_of_equal_events(environment, log_);
  if (draw_) draw_->finish();
  write(results);
}

std::string FoundResults::figures() const {
  return draw_ ? folder_.file(files::figures.name) : std::string();
}

std::string FoundResults::page() const {
  return job_.settings.run.figures ? write_run_report(folder_.path(), log_) : std::string();
}

}  // namespace sagips::run
