#include "sagips/run/fit.hpp"

#include "sagips/nn/device.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/found_results.hpp"
#include "sagips/run/loading.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/run_environment.hpp"

namespace sagips::run {

Fitted fit(const Job& job, comm::Ranks& ranks, core::Log& log) {
  const int threads = nn::set_threads(job.settings.threads);
  problem::DataSettings data = job.inverse().data;
  data.needs_gradient = false;  // the density's is taken, not the pipeline's
  const problem::LoadedData loaded = problem::load_data(*job.inverse().workload, data, job.seed());
  warn_of_data(loaded, log);
  const env::Environment environment = loaded.all();
  const optim::FitResult fitted =
      optim::fit_maximum_likelihood(environment, job.inverse().solvers.fit, job.seed());
  const record::RunDirectory folder = new_run(job, log);
  record::write_environment(folder.file(record::run_files::environment.name),
                            run_environment(ranks, threads));
  record::Results results = fit_results(job, environment, fitted, log);
  warn_of_doubts(fitted, log);
  FoundResults found(job, folder, log);
  found.begin(environment, results, fitted.covariance);
  found.finish(environment, results);
  return {folder.path(), std::move(results), fitted.negative_log_likelihood, found.figures(),
          found.page()};
}

}  // namespace sagips::run
