#include "sagips/run/learning_task.hpp"

#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/tensor_file.hpp"
#include "sagips/run/learning_figures.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/training_setup.hpp"

namespace sagips::run {

namespace {

namespace files = record::run_files;

nn::Shape shape_of_rows(const torch::Tensor& rows) {
  return nn::Shape(rows.sizes().begin() + 1, rows.sizes().end());
}

optim::SupervisedConfig scaled(const Job& job, std::int64_t ranks) {
  optim::SupervisedConfig config = job.settings.learning.learner;
  config.optimizer.learning_rate *=
      train::traits_of(job.settings.exchange_choice(), static_cast<int>(ranks))
          .learning_rate_factor;
  check_plateau(config.optimizer, "optimizer", ranks);
  return config;
}

// Each array of a network by its name, in the order of its file.
void for_each_array(
    const nn::Network& network, nn::Replica& replica,
    const std::function<void(const std::string& name, torch::Tensor& values)>& use) {
  nn::Leaves& leaves = replica.leaves();
  for (std::size_t i = 0; i < network.parameters().size(); ++i)
    use(network.parameters()[i].name, leaves.tensors[i]);
  for (std::size_t i = 0; i < network.buffers().size(); ++i)
    use(network.buffers()[i].name, leaves.buffers[i]);
}

void write_network(const std::string& path, const nn::Network& network, nn::Replica& replica) {
  record::TensorFile file;
  for_each_array(network, replica, [&](const std::string& name, torch::Tensor& values) {
    const torch::Tensor dense = values.detach().to(torch::kCPU).contiguous();
    file.tensors[name] = record::StoredTensor::of(
        {dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel())}, dense.sizes().vec());
  });
  record::write_tensor_file(path, file);
}

}  // namespace

data::ExampleSets load_examples(const Job& job) {
  const LearningSettings& learning = job.settings.learning;
  const std::int64_t own = learning.split.seed;
  const std::uint64_t seed = own < 0 ? job.seed() : static_cast<std::uint64_t>(own);
  data::ExampleSets sets = job.examples->load(seed);
  const optim::Loss& loss = optim::loss_named(learning.learner.loss, "loss");
  for (data::Examples* part : {&sets.training, &sets.validation})
    if (part->rows() > 0 && loss.of_classes())
      part->targets = data::class_numbers(part->targets, sets.origin);
    else if (part->rows() > 0 && part->targets.dim() == 1)
      part->targets = part->targets.unsqueeze(1);
  learning.split.apply(sets, core::RandomStream(seed, "rows kept aside"));
  if (shape_of_rows(sets.validation.inputs) != shape_of_rows(sets.training.inputs))
    throw core::ConfigError(
        "data.validation_inputs",
        core::text("has rows of ", nn::written(shape_of_rows(sets.validation.inputs)),
                   ", the inputs have ", nn::written(shape_of_rows(sets.training.inputs)), "."));
  return sets;
}

std::shared_ptr<const nn::Network> make_network(const Job& job, const data::Examples& examples) {
  return std::make_shared<nn::LayeredNetwork>(job.settings.learning.layers,
                                              shape_of_rows(examples.inputs));
}

std::string print_of(const data::ExampleSets& sets) {
  std::uint32_t sum = 0;
  for (const torch::Tensor& numbers : {sets.training.inputs, sets.training.targets,
                                       sets.validation.inputs, sets.validation.targets}) {
    const torch::Tensor dense = numbers.contiguous();
    sum = core::crc32c({static_cast<const char*>(dense.data_ptr()), dense.nbytes()}, sum);
  }
  return core::text(sets.training.rows(), " and ", sets.validation.rows(), " rows, crc32c ", sum);
}

std::unique_ptr<optim::Supervised> make_learner(const Job& job,
                                                std::shared_ptr<const nn::Network> network,
                                                const data::ExampleSets& sets,
                                                const problem::RankPlace& place) {
  auto learner = std::make_unique<optim::Supervised>(
      scaled(job, place.ranks), std::move(network), sets.training, job.seed(),
      nn::device_from_name(job.settings.device), place);
  learner->check_targets(sets.validation);
  return learner;
}

void read_network(const std::string& folder, const nn::Network& network, nn::Replica& replica) {
  const std::string path = core::text(folder, "/", files::network.name);
  const record::TensorFile file = record::read_tensor_file(path);
  for_each_array(network, replica, [&](const std::string& name, torch::Tensor& values) {
    const record::StoredTensor& stored = file.tensor(name, path);
    if (stored.shape != values.sizes().vec())
      throw core::DataError(path,
                            core::text("'", name, "' has another shape than the config's ",
                                       "network. The folder's files do not belong together."));
    const torch::NoGradGuard no_grad;
    values.copy_(torch::tensor(stored.numbers(), torch::kFloat64).reshape(stored.shape));
  });
}

LearningTask::LearningTask(const Job& job, comm::Ranks& ranks, core::Log& log)
    : job_(job),
      ranks_(ranks),
      log_(log),
      sets_(load_examples(job)),
      print_(print_of(sets_)),
      network_(make_network(job, sets_.training)),
      learner_(make_learner(job, network_, sets_, {ranks.rank(), ranks.size()})) {}

std::string LearningTask::description() const {
  return core::text(job_.settings.workload, " on ", sets_.origin, ", ",
                    core::with_thousands(sets_.training.rows()), " rows (",
                    core::with_thousands(sets_.validation.rows()), " kept aside), ",
                    core::with_thousands(learner_->replica().size()), " weights");
}

std::string LearningTask::share() const {
  return core::text(core::with_thousands(sets_.training.rows() / ranks_.size()), " rows");
}

// A few rows have all of them.
std::vector<std::string> LearningTask::metric_names() const {
  std::vector<std::string> names;
  const torch::Tensor few =
      torch::arange(std::min<std::int64_t>(2, sets_.validation.rows()), torch::kInt64);
  for (const auto& [name, value] : learner_->metrics(sets_.validation.chosen(few)))
    names.push_back(name);
  return names;
}

bool LearningTask::waits_for_plateau() const {
  return job_.settings.learning.learner.optimizer.waits_for_plateau();
}

void LearningTask::begin(bool resumed) {
  if (!resumed) check_equal_start(ranks_, learner_->replica().shared_weights());
}

record::Evaluated LearningTask::evaluate(std::int64_t) {
  record::Evaluated evaluated;
  if (!ranks_.is_first()) return evaluated;
  for (const auto& [name, value] : learner_->metrics(sets_.validation))
    evaluated.distances.push_back({name, value});
  return evaluated;
}

record::Results LearningTask::write(RunOutputs& outputs, const Training& training,
                                    const std::vector<RankRow>& rows) {
  if (!ranks_.is_first()) return {};
  record::Results results;
  results.workload = job_.settings.workload;
  results.version = std::string(core::version());
  results.git_hash = std::string(core::git_hash());
  results.data_origin = sets_.origin;
  results.method = record::learning_method;
  results.seed = job_.settings.run.seed;
  results.events = sets_.training.rows();
  results.finish_reason = training.record.finished.reason;
  results.complete = training.record.finished.complete;
  results.epochs = training.record.finished.epochs;
  results.time_s = training.record.finished.time_s;
  for (const auto& metric : training.record.first.distances)
    results.numbers.push_back({metric.name + "_start", metric.value});
  for (const auto& metric : training.record.last.distances)
    results.numbers.push_back({metric.name + "_end", metric.value});
  results.numbers.push_back({"weights", static_cast<double>(learner_->replica().size())});
  results.numbers.push_back({"ranks", static_cast<double>(ranks_.size())});
  results.numbers.push_back({"analysis_rate", analysis_rate(rows)});
  const record::RunDirectory& folder = outputs.folder();
  write_network(folder.file(files::network.name), *network_, learner_->replica());
  outputs.write(results, rows, [&] {
    const optim::Loss& loss = optim::loss_named(job_.settings.learning.learner.loss, "loss");
    return draw_learning_figures(folder, job_.settings.figures, loss,
                                 loss.predicted(learner_->outputs(sets_.validation.inputs)), sets_,
                                 log_);
  });
  return results;
}

}  // namespace sagips::run
