#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include "sagips/analysis/residuals.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/proposals.hpp"
#include "sagips/run/trained_networks.hpp"

namespace sagips::cli {

namespace {

std::string spread_of(const std::string& file) {
  return file.substr(0, file.rfind(".npy")) + "_spread.npy";
}

// Predictions without deviations, beside which none of others may be left; what lies beside a file that
// the user has named is the user's.
void write_alone(const std::string& file, const torch::Tensor& rows, bool is_named) {
  run::write_rows(file, rows);
  const std::string spread = spread_of(file);
  if (!is_named && std::filesystem::remove(spread))
    std::cout << "removed " << spread << ", which was of other predictions\n";
  else if (std::filesystem::exists(spread))
    std::cout << "warning: " << spread << " is not of these predictions\n";
}

[[noreturn]] void refuse_rest(const std::vector<std::string>& assignments, const char* known) {
  throw core::ConfigError("command line",
                          core::text("'", assignments.front(), "' is not known here (a trained ",
                                     "network keeps its config). Known: ", known));
}

// The rows that a run has not learned from. throws: DataError when its data have changed since
run::LearningRows rows_kept_aside(const Job& job, const std::string& folder) {
  run::LearningRows rows = run::load_examples(job);
  const data::ExampleSets& sets = rows.sets;
  const auto record = record::read_run_record(folder);
  const std::string now = run::print_of(sets);
  if (record && !record->data.empty() && record->data != now)
    throw core::DataError(
        sets.origin,
        core::text("other rows than the network has learned from (", record->data, " -> ", now,
                   "), so none are known to be kept aside. Name rows by ", "inputs=FILE."));
  if (sets.validation->rows() == 0)
    throw core::ConfigError("inputs",
                            "is needed: the run has kept no rows aside (data.held_out=0). "
                            "Name rows by inputs=FILE.");
  return rows;
}

/// What is asked of trained networks.
struct PredictionRequest {
  std::string inputs;  ///< a file; empty: the rows kept aside
  bool best = true;    ///< the networks of the best evaluation, where there is one; else of the end
  std::string out;     ///< a file; empty: in the run's folder

  explicit PredictionRequest(std::vector<std::string> assignments)
      : out(take_rows_file(assignments)) {
    inputs = take_assignment(assignments, "inputs");
    const std::string network = take_assignment(assignments, "network");
    if (!assignments.empty()) refuse_rest(assignments, "inputs=FILE, network=last, out=FILE.npy");
    best = network != "last";
    if (best && !network.empty() && network != "best")
      throw core::ConfigError("command line",
                              core::text("network=", network, " is neither best nor last."));
  }
};

/// What a network says of the rows of a file, or of those that were kept aside.
struct Predictions {
  std::string network;  ///< its file
  std::int64_t rows = 0;
  optim::Loss loss{};
  torch::Tensor predicted{}, targets{}, weights{};  ///< in the data's units
  std::map<std::string, double> metrics{};          ///< where there are targets
  std::vector<std::string> names{};                 ///< of classes or targets
  torch::Tensor
      numbers{};         ///< of rows kept aside among all; undefined: they have files of their own
  std::int64_t all = 0;  ///< how many these are
};

Predictions predictions_of(const Job& job, const std::string& folder,
                           const PredictionRequest& request) {
  const std::string& inputs = request.inputs;
  Predictions predictions;
  predictions.network = run::network_file(folder, request.best);
  data::RowStatistics statistics;
  data::ExampleRowsPtr rows;
  if (inputs.empty()) {
    run::LearningRows known = rows_kept_aside(job, folder);
    rows = known.sets.validation, statistics = known.statistics;
    predictions.names = known.sets.names();
    if (const auto& kept = known.sets.kept_aside) {
      predictions.numbers = kept->rows_of(torch::arange(kept->count(), torch::kInt64));
      predictions.all = kept->count() + known.sets.training->rows();
    }
  } else {
    rows = job.examples->inputs_of(inputs, run::reading_of());
  }
  std::vector<optim::WeightedNetwork> networks;
  try {
    networks = run::read_networks(job, *rows, predictions.network);
  } catch (const core::Error& error) {
    if (inputs.empty()) throw;
    throw core::DataError(
        inputs, core::text("has rows of ", nn::written(nn::shape_of_rows(rows->first(1).inputs)),
                           ", which do not fit the network of ", folder, ": ", error.what()));
  }
  const optim::SupervisedConfig& learner = job.settings.learning.learner;
  if (!inputs.empty()) {
    statistics = run::read_standards(predictions.network);
    rows = run::standardised(rows, statistics.inputs);
  }
  // without targets nothing weighs classes
  predictions.loss =
      optim::loss_of(learner.loss, inputs.empty() ? learner.loss_options : optim::LossOptions(),
                     statistics, networks.back().part.network->output()[0]);
  const auto [outputs, targets, weights] = optim::prediction_of(networks, *rows);
  predictions.rows = rows->rows();
  predictions.predicted = predictions.loss.predicted(outputs);
  predictions.targets = targets, predictions.weights = weights;
  if (targets.defined())
    predictions.metrics = optim::metrics(predictions.loss, outputs, targets, weights, learner.top_k,
                                         predictions.names);
  return predictions;
}

core::ExitCode predict_rows(const Job& job, const std::string& folder,
                            const PredictionRequest& request) {
  const Predictions predictions = predictions_of(job, folder, request);
  const std::string file = request.out.empty() ? folder + "/predictions.npy" : request.out;
  write_alone(file, predictions.predicted, !request.out.empty());
  if (predictions.targets.defined()) {
    std::vector<std::vector<std::string>> table;
    for (const auto& [name, value] : predictions.metrics)
      table.push_back({name, core::significant(value, 4)});
    std::cout << analysis::plain_table({"metric", "rows kept aside"}, table);
  }
  std::cout << "network: " << predictions.network << '\n'
            << core::with_thousands(predictions.rows)
            << (predictions.loss.of_classes() ? " rows of probabilities: " : " rows: ") << file
            << std::endl;
  return core::ExitCode::done;
}

/// What networks say of a row that have not learned from it, together.
class JointPredictions {
 public:
  void add(const Predictions& predictions) {
    const torch::Tensor values = predictions.predicted.to(torch::kFloat64);
    const torch::Tensor places = predictions.numbers.defined()
                                     ? predictions.numbers
                                     : torch::arange(predictions.rows, torch::kInt64);
    if (!sums_.defined()) {
      std::vector<std::int64_t> shape = values.sizes().vec();
      shape[0] = predictions.numbers.defined() ? predictions.all : predictions.rows;
      sums_ = torch::zeros(shape, torch::kFloat64);
      squares_ = sums_.clone();
      networks_ = torch::zeros({shape[0]}, torch::kFloat64);
      first_ = predictions;
    }
    const auto keep = [&](torch::Tensor& all, const torch::Tensor& some) {
      if (!some.defined()) return;
      std::vector<std::int64_t> shape = some.sizes().vec();
      shape[0] = sums_.size(0);
      if (!all.defined()) all = torch::zeros(shape, some.options());
      all.index_copy_(0, places, some);
    };
    sums_.index_add_(0, places, values);
    squares_.index_add_(0, places, values.square());
    networks_.index_add_(0, places, torch::ones({predictions.rows}, torch::kFloat64));
    keep(targets_, predictions.targets);
    keep(weights_, predictions.weights);
    for (const auto& [name, value] : predictions.metrics) members_[name].push_back(value);
  }

  torch::Tensor mean() const { return sums_ / counts(); }  ///< NaN where all have learned from it
  /// Of one network among the others; NaN where fewer than two say anything.
  torch::Tensor deviation() const {
    const torch::Tensor square = (squares_ / counts() - mean().square()).clamp_min(0);
    return (square * (counts() / (counts() - 1)))
        .sqrt()
        .where(counts() > 1, torch::full_like(square, NAN));
  }
  bool has_deviation() const { return networks_.max().item<double>() > 1; }
  std::int64_t rows() const { return networks_.gt(0).sum().item<std::int64_t>(); }
  bool of_classes() const { return first_.loss.of_classes(); }

  // What is told of probabilities and values is judged as logits that mean them, since networks may differ
  // in what their outputs stand for. Losses would not be those that were made small.
  std::string table(std::int64_t top_k) const {
    if (!targets_.defined()) return {};
    const torch::Tensor there = networks_.gt(0).nonzero().flatten();
    const auto of = [&](const torch::Tensor& all) {
      return all.defined() ? all.index_select(0, there) : all;
    };
    const torch::Tensor values = of(mean()).to(torch::kFloat32);
    const bool yes_or_no = first_.loss.targets == optim::Loss::Targets::yes_or_no;
    const char* const form = of_classes() ? "cross_entropy"
                             : yes_or_no  ? "binary_cross_entropy"
                                          : "mean_square";
    const auto together = optim::metrics(optim::loss_named(form, "loss"),
                                         of_classes() ? values.log()
                                         : yes_or_no  ? values.logit()
                                                      : values,
                                         of(targets_), of(weights_), top_k, first_.names);
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, found] : members_)
      if (name != "loss" && together.contains(name))
        rows.push_back({name, core::significant(together.at(name), 4),
                        core::significant(analysis::mean(found), 4),
                        core::significant(analysis::standard_deviation(found), 2)});
    return analysis::plain_table({"metric", "together", "mean of each", "deviation"}, rows);
  }

 private:
  torch::Tensor counts() const {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(sums_.dim()), 1);
    shape[0] = -1;
    return networks_.reshape(shape);
  }

  Predictions first_;
  torch::Tensor sums_, squares_, networks_, targets_, weights_;
  std::map<std::string, std::vector<double>> members_;  ///< metrics of each
};

// The mean of an ensemble's networks; of folds and of other rows kept aside, each row by those that have not
// learned from it.
core::ExitCode predict_members(const Workloads& workloads, const std::string& folder,
                               std::vector<std::string> assignments) {
  const PredictionRequest request(std::move(assignments));
  const record::Study study =
      record::read_study(core::text(folder, "/", record::run_files::study.name));
  const auto members = study.done(study.variants.front().label);
  if (study.variants.size() > 1 || members.empty())
    throw core::ConfigError(
        "command line",
        core::text("'", folder, "' holds ", study.variants.size(), " variants and ", members.size(),
                   " finished networks of the first (an ensemble of "
                   "one variant is predicted together). Give the folder of one."));
  JointPredictions predictions;
  std::int64_t top_k = 0;
  for (const record::StudyMember* member : members) {
    const std::string own = folder + "/" + member->folder;
    const Job job =
        run::read_job_of_networks(workloads, core::text(own, "/", record::run_files::config.name));
    if (!job.examples)
      throw core::ConfigError("command line",
                              core::text("'", folder,
                                         "' has trained generators, whose ensemble its "
                                         "ensemble.csv and results.json tell of. Give a member's "
                                         "folder, such as ",
                                         own, "."));
    nn::set_threads(job.settings.threads);
    top_k = job.settings.learning.learner.top_k;
    predictions.add(predictions_of(job, own, request));
  }
  const std::string file = request.out.empty() ? folder + "/predictions.npy" : request.out;
  if (predictions.has_deviation()) {
    run::write_rows(file, predictions.mean());
    run::write_rows(spread_of(file), predictions.deviation());
  } else {
    write_alone(file, predictions.mean(), !request.out.empty());
  }
  std::cout << predictions.table(top_k) << core::with_thousands(predictions.rows())
            << (predictions.of_classes() ? " rows of probabilities" : " rows") << ", means of "
            << members.size() << " networks"
            << (request.inputs.empty() ? ", of each row those that have not learned from it: "
                                       : ": ")
            << file;
  if (request.inputs.empty() && request.best)
    std::cout << "\nnetworks: the best of each, chosen by these rows (a little too good; "
                 "network=last: those of the end)";
  if (predictions.has_deviation())
    std::cout << "\ndeviations among the networks: " << spread_of(file);
  std::cout << std::endl;
  return core::ExitCode::done;
}

}  // namespace

core::ExitCode predict(const Workloads& workloads, const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  if (std::filesystem::exists(core::text(arguments.source, "/", record::run_files::study.name)))
    return predict_members(workloads, arguments.source, std::move(assignments));
  const std::string config = arguments.source + "/" + record::run_files::config.name;
  if (!std::filesystem::exists(config))
    throw core::ConfigError(
        "command line",
        core::text("'", arguments.source, "' is no run folder (it has no ",
                   record::run_files::config.name, "). Give the folder of a finished run."));
  Job job = run::read_job_of_networks(workloads, config);
  nn::set_threads(job.settings.threads);  // as in training, so that sums run in the same order
  if (job.examples)
    return predict_rows(job, arguments.source, PredictionRequest(std::move(assignments)));
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
  write_alone(file, proposals, !out.empty());
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
