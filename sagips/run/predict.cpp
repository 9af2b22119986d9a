#include "sagips/run/predict.hpp"

#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "sagips/analysis/residuals.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/optim/learn/heads.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/files_read.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/proposals.hpp"
#include "sagips/run/trained_networks.hpp"

namespace sagips::run {

namespace {

namespace files = record::run_files;

[[noreturn]] void refuse(const std::string& key, const char* known) {
  throw core::ConfigError(
      key, core::text("is not known here (a trained network keeps its config). Known: ", known));
}

void refuse_seed(const PredictOptions& options, const char* known) {
  if (options.seed) refuse("seed", known);
}

void refuse_samples(const PredictOptions& options) {
  if (!options.out.empty()) check_rows_file(options.out);
  refuse_seed(options, "inputs=FILE, network=last, out=FILE.npy");
  if (options.samples) refuse("samples", "inputs=FILE, network=last, out=FILE.npy");
}

std::vector<std::string> files_of(const data::InputFiles& inputs) {
  std::vector<std::string> files;
  for (const auto& [name, file] : inputs) files.push_back(file);
  return files;
}

std::string spread_of(const std::string& file) {
  return file.substr(0, file.rfind(".npy")) + "_spread.npy";
}

std::string of_head(const std::string& file, const std::string& head) {
  return core::text(file.substr(0, file.rfind(".npy")), "_", head, ".npy");
}

// Before anything is computed. Deviations are written beside values by several networks; those beside the
// usual file are removed where there are none.
void check_files(const LearningProblem* learning, const std::string& folder,
                 const PredictOptions& options, bool has_deviations) {
  const std::string file = options.file_of(folder);
  std::vector<std::string> written;
  if (learning)
    for (const optim::HeadConfig& head : learning->learner.heads)
      written.push_back(of_head(file, head.name));
  if (written.empty()) written = {file};
  if (has_deviations || options.out.empty())
    for (std::size_t i = written.size(); i-- > 0;) written.push_back(spread_of(written[i]));
  options.check_written(folder, written);
}

// One alone has the file itself; heads have "predictions_kind.npy" and so on.
std::vector<PredictedOutput> outputs_of(const optim::Loss& loss, const torch::Tensor& values,
                                        const torch::Tensor& deviations, const std::string& file) {
  if (!loss.heads) return {{file, values, {}, deviations}};
  std::vector<PredictedOutput> outputs;
  for (const optim::Head& head : *loss.heads)
    outputs.push_back({of_head(file, head.name),
                       head.outputs_of(values),
                       {},
                       deviations.defined() ? head.outputs_of(deviations) : deviations});
  return outputs;
}

// Writes what is predicted; what lies beside a file that the user has named is the user's.
void write(Predicted& predicted, const optim::Loss& loss, const torch::Tensor& values,
           const torch::Tensor& deviations, const std::string& folder,
           const PredictOptions& options) {
  predicted.outputs = outputs_of(loss, values, deviations, options.file_of(folder));
  for (PredictedOutput& output : predicted.outputs) {
    write_rows(output.file, output.values);
    const std::string spread = spread_of(output.file);
    if (output.deviations.defined()) {
      output.spread_file = spread;
      write_rows(spread, output.deviations);
    } else if (options.out.empty() && std::filesystem::remove(spread)) {
      predicted.removed_spreads.push_back(spread);
    } else if (std::filesystem::exists(spread)) {
      predicted.foreign_spreads.push_back(spread);
    }
  }
}

// The rows that a run has not learned from. throws: DataError when its data have changed since
LearningRows rows_kept_aside(const Job& job, const std::string& folder) {
  LearningRows rows = load_examples(job);
  const data::ExampleSets& sets = rows.sets;
  const auto record = record::read_run_record(folder);
  const std::string now = fingerprint_of(sets);
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

/// What a network says of the rows of a file, or of those that were kept aside.
struct OfNetwork {
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

// The networks of a run for rows of other files, which may not fit them.
std::vector<optim::WeightedNetwork> networks_for(const Job& job, const data::ExampleRows& rows,
                                                 const std::string& folder,
                                                 const std::string& network,
                                                 const data::InputFiles& inputs) {
  try {
    return read_networks(job, rows, network);
  } catch (const core::Error& error) {
    core::pass_on_raised();
    if (inputs.empty()) throw;
    throw core::DataError(
        core::join(files_of(inputs), ", "),
        core::text("has rows of ", nn::written(nn::shape_of_rows(rows.first(1).inputs)),
                   ", which do not fit the network of ", folder, ": ", error.what()));
  }
}

OfNetwork predictions_of(const Job& job, const std::string& folder, const PredictOptions& options) {
  const data::InputFiles& inputs = options.inputs;
  OfNetwork predictions;
  predictions.network = network_file(folder, options.best.value_or(true));
  data::RowStatistics statistics;
  data::ExampleRowsPtr rows;
  if (inputs.empty()) {
    LearningRows known = rows_kept_aside(job, folder);
    rows = known.sets.validation, statistics = known.statistics;
    predictions.names = known.sets.names();
    if (const auto& kept = known.sets.kept_aside) {
      predictions.numbers = kept->rows_of(torch::arange(kept->count(), torch::kInt64));
      predictions.all = kept->count() + known.sets.training->rows();
    }
  } else {
    rows = job.learning().examples->inputs_of(inputs, reading_of());
  }
  auto networks = networks_for(job, *rows, folder, predictions.network, inputs);
  const optim::SupervisedConfig& learner = job.learning().learner;
  if (!inputs.empty()) {
    statistics = read_standards(predictions.network);
    rows = data::standardised(rows, statistics.inputs);
  }
  predictions.loss = (inputs.empty() ? learner : learner.without_targets())
                         .loss_for(*networks.back().part.network, statistics);
  const auto [outputs, targets, weights] = optim::prediction_of(networks, *rows);
  predictions.rows = rows->rows();
  predictions.predicted = predictions.loss.predicted(outputs);
  predictions.targets = targets, predictions.weights = weights;
  if (targets.defined())
    predictions.metrics = optim::metrics(predictions.loss, outputs, targets, weights, learner.top_k,
                                         predictions.names);
  return predictions;
}

Predicted predict_rows(const Job& job, const std::string& folder, const PredictOptions& options) {
  refuse_samples(options);
  check_files(&job.learning(), folder, options, false);
  const OfNetwork predictions = predictions_of(job, folder, options);
  Predicted predicted;
  if (predictions.loss.of_classes()) predicted.what = Predicted::What::probabilities;
  predicted.rows = predictions.rows;
  predicted.networks = {predictions.network};
  for (const auto& [name, value] : predictions.metrics)
    predicted.metrics.push_back({name, value, value, 0});
  write(predicted, predictions.loss, predictions.predicted, {}, folder, options);
  return predicted;
}

/// What networks say of a row that have not learned from it, together.
class Together {
 public:
  void add(const OfNetwork& predictions) {
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
  /// The deviation of one network among the others; NaN where fewer than two say anything.
  torch::Tensor deviation() const {
    const torch::Tensor square = (squares_ / counts() - mean().square()).clamp_min(0);
    return (square * (counts() / (counts() - 1)))
        .sqrt()
        .where(counts() > 1, torch::full_like(square, NAN));
  }
  bool has_deviation() const { return networks_.max().item<double>() > 1; }
  std::int64_t rows() const { return networks_.gt(0).sum().item<std::int64_t>(); }
  const optim::Loss& loss() const { return first_.loss; }

  // What is told of probabilities and values is judged as logits that mean them, since networks may differ
  // in what their outputs stand for. Losses would not be those that were made small.
  std::vector<PredictedMetric> metrics(std::int64_t top_k) const {
    if (!targets_.defined()) return {};
    const torch::Tensor there = networks_.gt(0).nonzero().flatten();
    const auto of = [&](const torch::Tensor& all) {
      return all.defined() ? all.index_select(0, there) : all;
    };
    const auto together = judged(loss(), of(mean()).to(torch::kFloat32), of(targets_), of(weights_),
                                 top_k, first_.names);
    std::vector<PredictedMetric> metrics;
    for (const auto& [name, found] : members_)
      if (together.contains(name))
        metrics.push_back(
            {name, together.at(name), analysis::mean(found), analysis::standard_deviation(found)});
    return metrics;
  }

 private:
  static std::map<std::string, double> judged(const optim::Loss& loss, const torch::Tensor& values,
                                              const torch::Tensor& targets,
                                              const torch::Tensor& weights, std::int64_t top_k,
                                              const std::vector<std::string>& names) {
    std::map<std::string, double> all;
    if (loss.heads) {
      for (const optim::Head& head : *loss.heads)
        for (const auto& [name, value] :
             judged(head.loss, head.outputs_of(values), head.targets_of(targets), weights, top_k,
                    head.names))
          all[core::text(head.name, ".", name)] = value;
      return all;
    }
    const bool yes_or_no = loss.targets == optim::Loss::Targets::yes_or_no;
    const char* const form = loss.of_classes() ? "cross_entropy"
                             : yes_or_no       ? "binary_cross_entropy"
                                               : "mean_square";
    all = optim::metrics(optim::loss_named(form, "loss"),
                         loss.of_classes() ? values.log()
                         : yes_or_no       ? values.logit()
                                           : values,
                         targets, weights, top_k, names);
    all.erase("loss");
    return all;
  }

  torch::Tensor counts() const {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(sums_.dim()), 1);
    shape[0] = -1;
    return networks_.reshape(shape);
  }

  OfNetwork first_;
  torch::Tensor sums_, squares_, networks_, targets_, weights_;
  std::map<std::string, std::vector<double>> members_;  ///< metrics of each
};

// The device of the training may be elsewhere.
Job job_of(const Workloads& workloads, const std::string& folder, const PredictOptions& options) {
  Job job = read_job_of_networks(workloads, core::text(folder, "/", files::config.name));
  job.settings.device = options.device;
  return job;
}

// The mean of an ensemble's networks; of folds and of other rows kept aside, each row by those that have not
// learned from it.
Predicted predict_members(const Workloads& known, const std::string& folder,
                          const PredictOptions& options) {
  refuse_samples(options);
  const Workloads workloads = keeping_examples(known);
  const record::Study study = record::read_study(core::text(folder, "/", files::study.name));
  const auto members = study.done(study.variants.front().label);
  if (study.variants.size() > 1 || members.empty())
    throw core::ConfigError(
        folder, core::text("holds ", study.variants.size(), " variants and ", members.size(),
                           " finished networks of the first (an ensemble of one variant is "
                           "predicted together). Give the folder of one."));
  Together together;
  Predicted predicted;
  std::int64_t top_k = 0;
  for (const record::StudyMember* member : members) {
    const std::string own = folder + "/" + member->folder;
    const Job job = job_of(workloads, own, options);
    if (!job.as<LearningProblem>())
      throw core::ConfigError(
          folder, core::text("has trained generators, whose ensemble its ensemble.csv and "
                             "results.json tell of. Give a member's folder, such as ",
                             own, "."));
    if (member == members.front()) check_files(&job.learning(), folder, options, true);
    nn::set_threads(job.settings.threads);
    top_k = job.learning().learner.top_k;
    const OfNetwork predictions = predictions_of(job, own, options);
    predicted.networks.push_back(predictions.network);
    together.add(predictions);
  }
  if (together.loss().of_classes()) predicted.what = Predicted::What::probabilities;
  predicted.rows = together.rows();
  predicted.metrics = together.metrics(top_k);
  write(predicted, together.loss(), together.mean(),
        together.has_deviation() ? together.deviation() : torch::Tensor(), folder, options);
  return predicted;
}

// The ranks of a run are one prediction: the mean of theirs (SAGIPS paper, Sec. VI-A).
torch::Tensor proposals_of(const Job& job, const std::string& folder,
                           const env::ParameterSet& parameters, std::int64_t rows) {
  optim::Generator generator(job.inverse().gan.generator, job.inverse().gan.dense, parameters,
                             job.seed(), job.settings.made_device());
  const torch::Tensor weights = read_generators(folder, generator.replica());
  torch::Tensor proposals;
  for (std::int64_t rank = 0; rank < weights.size(0); ++rank) {
    torch::NoGradGuard no_grad;
    generator.replica().weights().copy_(weights[rank]);
    const torch::Tensor of_rank = generator.predict(rows);
    proposals = proposals.defined() ? proposals + of_rank : of_rank;
  }
  return (proposals / weights.size(0)).contiguous();
}

Predicted predict_proposals(const Job& job, const std::string& folder,
                            const PredictOptions& options) {
  constexpr std::int64_t usual = 1000, most = 1'000'000'000;
  if (!options.out.empty()) check_rows_file(options.out);
  if (!options.inputs.empty()) refuse("inputs", "samples=N, out=FILE.npy");
  refuse_seed(options, "samples=N, out=FILE.npy");
  if (options.best) refuse("network", "samples=N, out=FILE.npy");
  Predicted predicted{.what = Predicted::What::proposals};
  predicted.rows = options.samples.value_or(usual);
  if (predicted.rows < 2 || predicted.rows > most)
    throw core::ConfigError("samples",
                            core::text(predicted.rows, " is no whole number from 2 to 1e9."));
  check_files(nullptr, folder, options, false);
  const env::ParameterSet parameters(job.inverse().workload->parameters());
  const torch::Tensor proposals = proposals_of(job, folder, parameters, predicted.rows);
  write(predicted, {}, proposals, {}, folder, options);
  const auto found =
      analysis::predict({proposals.data_ptr<float>(), static_cast<std::size_t>(proposals.numel())},
                        static_cast<std::size_t>(parameters.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const env::Parameter& parameter = parameters.all()[i];
    predicted.parameters.push_back(
        {parameter.name, parameter.unit, found[i].mean, found[i].spread});
  }
  return predicted;
}

}  // namespace

void PredictOptions::check_written(const std::string& folder,
                                   const std::vector<std::string>& written) const {
  refuse_to_replace({.files = files_of(inputs), .runs = {folder}}, "out", written);
}

namespace {

void warn_of_failure(const std::string& folder, core::Log& log) {
  const auto known = record::read_run_record(folder);
  if (!known || known->status != record::RunStatus::failed) return;
  const std::string file = core::text(folder, "/", files::results.name);
  const std::string why =
      std::filesystem::exists(file) ? record::read_results_json(file).finish_reason : "";
  log.warning("failed_training",
              core::text(folder, ": its training ", why.starts_with("failed") ? why : "failed."));
}

}  // namespace

Predicted predict(const Workloads& workloads, const std::string& folder,
                  const PredictOptions& options, core::Log& log) {
  if (std::filesystem::exists(core::text(folder, "/", files::study.name)))
    return predict_members(workloads, folder, options);
  const std::string config = core::text(folder, "/", files::config.name);
  if (!std::filesystem::exists(config))
    throw core::ConfigError(folder, core::text("is no run folder (it has no ", files::config.name,
                                               "). Give the folder of a finished run."));
  const Job job = job_of(workloads, folder, options);
  nn::set_threads(job.settings.threads);  // as in training, so that sums run in the same order
  Predicted made = job.problem->predict(job, folder, options, log);
  warn_of_failure(folder, log);
  return made;
}

Predicted InverseProblem::predict(const Job& job, const std::string& folder,
                                  const PredictOptions& options, core::Log&) const {
  return predict_proposals(job, folder, options);
}

Predicted LearningProblem::predict(const Job& job, const std::string& folder,
                                   const PredictOptions& options, core::Log&) const {
  return predict_rows(job, folder, options);
}

}  // namespace sagips::run
