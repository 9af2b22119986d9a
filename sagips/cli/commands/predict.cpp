#include <filesystem>
#include <iostream>

#include "sagips/analysis/residuals.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/proposals.hpp"
#include "sagips/run/trained_networks.hpp"

namespace sagips::cli {

namespace {

[[noreturn]] void refuse_rest(const std::vector<std::string>& assignments, const char* known) {
  throw core::ConfigError("command line",
                          core::text("'", assignments.front(), "' is not known here (a trained ",
                                     "network keeps its config). Known: ", known));
}

// The rows that a run has not learned from. throws: DataError when its data have changed since
data::ExampleRowsPtr rows_kept_aside(const Job& job, const std::string& folder) {
  data::ExampleSets sets = run::load_examples(job);
  const auto record = record::read_run_record(folder);
  const std::string now = run::print_of(sets);
  if (record && !record->data.empty() && record->data != now)
    throw core::DataError(
        sets.origin,
        core::text("other rows than the network has learned from (", record->data, " -> ", now,
                   "), so none are known to be kept aside. Name rows by ", "inputs=FILE."));
  return sets.validation;
}

// What a network says of the rows of a file, or of those that were kept aside.
core::ExitCode predict_rows(Job& job, const std::string& folder,
                            std::vector<std::string> assignments) {
  const std::string out = take_rows_file(assignments);
  const std::string inputs = take_assignment(assignments, "inputs");
  const std::string which = take_assignment(assignments, "network");
  if (!assignments.empty()) refuse_rest(assignments, "inputs=FILE, network=last, out=FILE.npy");
  if (!which.empty() && which != "best" && which != "last")
    throw core::ConfigError("command line",
                            core::text("network=", which, " is neither best nor last."));
  const std::string network = run::network_file(folder, which != "last");
  const data::ExampleRowsPtr rows = inputs.empty()
                                        ? rows_kept_aside(job, folder)
                                        : job.examples->inputs_of(inputs, run::reading_of());
  std::vector<optim::WeightedNetwork> networks;
  try {
    networks = run::read_networks(job, *rows, network);
  } catch (const core::Error& error) {
    if (inputs.empty()) throw;
    throw core::DataError(
        inputs, core::text("has rows of ", nn::written(nn::shape_of_rows(rows->first(1).inputs)),
                           ", which do not fit the network of ", folder, ": ", error.what()));
  }
  const optim::SupervisedConfig& learner = job.settings.learning.learner;
  const optim::Loss& loss = optim::loss_named(learner.loss, "loss");
  const auto [outputs, targets, weights] = optim::prediction_of(networks, *rows);
  const std::string file = out.empty() ? folder + "/predictions.npy" : out;
  run::write_rows(file, loss.predicted(outputs));
  if (targets.defined()) {
    std::vector<std::vector<std::string>> table;
    for (const auto& [name, value] : optim::metrics(loss, outputs, targets, weights, learner.top_k))
      table.push_back({name, core::significant(value, 4)});
    std::cout << analysis::plain_table({"metric", "rows kept aside"}, table);
  }
  std::cout << "network: " << network << '\n'
            << core::with_thousands(rows->rows())
            << (loss.of_classes() ? " rows of probabilities: " : " rows: ") << file << std::endl;
  return core::ExitCode::done;
}

}  // namespace

core::ExitCode predict(const Workloads& workloads, const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  const std::string config = arguments.source + "/" + record::run_files::config.name;
  if (!std::filesystem::exists(config))
    throw core::ConfigError(
        "command line",
        core::text("'", arguments.source, "' is no run folder (it has no ",
                   record::run_files::config.name, "). Give the folder of a finished run."));
  Job job = run::read_job_of_networks(workloads, config);
  nn::set_threads(job.settings.threads);  // as in training, so that sums run in the same order
  if (job.examples) return predict_rows(job, arguments.source, std::move(assignments));
  const std::string out = take_rows_file(assignments);
  const std::string count = take_assignment(assignments, "samples");
  double rows = 1000;
  if (!count.empty() && (!core::parse_number(count, rows) || rows < 2 || rows > 1e9 ||
                         rows != static_cast<double>(static_cast<std::int64_t>(rows))))
    throw core::ConfigError("command line",
                            core::text("samples=", count, " is no whole number from 2 to 1e9."));
  if (!assignments.empty()) refuse_rest(assignments, "samples=N, out=FILE.npy");
  const env::ParameterSet parameters(job.workload->parameters());
  optim::Generator generator(job.settings.gan.generator, job.settings.gan.dense, parameters,
                             job.seed(), torch::kCPU);
  const torch::Tensor weights = run::read_generators(arguments.source, generator.replica());
  // the ranks of a run are one prediction: the mean of theirs (SAGIPS paper, Sec. VI-A)
  torch::Tensor proposals;
  for (std::int64_t rank = 0; rank < weights.size(0); ++rank) {
    torch::NoGradGuard no_grad;
    generator.replica().weights().copy_(weights[rank]);
    const torch::Tensor of_rank = generator.predict(static_cast<std::int64_t>(rows));
    proposals = proposals.defined() ? proposals + of_rank : of_rank;
  }
  proposals = (proposals / weights.size(0)).contiguous();

  const std::string file = out.empty() ? arguments.source + "/predictions.npy" : out;
  run::write_rows(file, proposals);
  const auto predictions =
      analysis::predict({proposals.data_ptr<float>(), static_cast<std::size_t>(proposals.numel())},
                        static_cast<std::size_t>(parameters.size()));
  std::vector<std::vector<std::string>> table;
  for (std::size_t i = 0; i < predictions.size(); ++i)
    table.push_back({parameters.all()[i].name, parameters.all()[i].unit,
                     core::significant(predictions[i].mean, 6),
                     core::significant(predictions[i].spread, 3)});
  std::cout << analysis::plain_table({"parameter", "unit", "mean", "spread"}, table)
            << "spread: over noise vectors, no error of the parameter\n"
            << core::with_thousands(proposals.size(0)) << " proposals: " << file << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli
