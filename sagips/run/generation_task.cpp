#include "sagips/run/generation_task.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "sagips/core/error.hpp"
#include "sagips/core/poll.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/node_memory.hpp"
#include "sagips/optim/adversarial/told_apart.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/generation_figures.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/training_setup.hpp"

namespace sagips::run {

namespace {

namespace files = record::run_files;

const GenerationProblem& generation_of(const Job& job) { return *job.as<GenerationProblem>(); }

optim::AdversarialConfig scaled_learner(const Job& job, std::int64_t ranks) {
  optim::AdversarialConfig config = generation_of(job).learner;
  config.norms_over_ranks =
      job.settings.exchanges.batch_norm == comm::ExchangesConfig::BatchNorm::over_ranks;
  const double factor =
      train::traits_of(job.exchange_choice(), static_cast<int>(ranks)).learning_rate_factor;
  for (const auto& [network, update] :
       {std::pair("generator", &config.generator.optimizer),
        std::pair("discriminator", &config.discriminator.optimizer)}) {
    update->learning_rate *= factor;
    check_plateau(*update, core::text(network, ".optimizer"), ranks);
  }
  return config;
}

// Targets of one tensor have no name of their own: they are what the config calls its only condition.
data::ExampleRowsPtr with_names(const optim::HeadConfigs& wanted, const data::ExampleRowsPtr& rows,
                                const data::Reading& reading) {
  const data::Examples one = rows->first(1);
  if (!one.target_tensors().empty() && !wanted.empty()) return rows;
  const std::string name = wanted.empty() ? "" : wanted.front().name;
  const auto change = [name, inputs = one.input_tensors()](data::Examples& examples) {
    torch::Tensor targets = name.empty() ? torch::empty({examples.targets.size(0), 0})
                                         : examples.targets.to(torch::kFloat32);
    if (targets.dim() == 1) targets = targets.unsqueeze(1);
    data::ExampleTensors tensors{inputs, {}};
    if (!name.empty()) tensors.targets.add(name, targets.sizes().slice(1).vec());
    examples.targets = targets;
    examples.tensors = std::make_shared<const data::ExampleTensors>(std::move(tensors));
  };
  return data::with_targets(rows, change, reading);
}

data::ExampleRowsPtr conditioned(const optim::AdversarialConfig& learner,
                                 const data::ExampleRowsPtr& given, const std::string& key,
                                 const data::Reading& reading) {
  if (!given) return given;
  const optim::HeadConfigs wanted = learner.targets();
  const std::vector<std::string> names = given->first(1).target_tensors().names();
  if (names.empty() && wanted.size() > 1)
    throw core::ConfigError(
        learner.reader_of(wanted[1].name),
        core::text("reads '", wanted[1].name, "' beside '", wanted[0].name,
                   "', and the rows have one target without a name. Name several in ", key,
                   ".tensors."));
  for (const optim::HeadConfig& one : wanted)
    if (!names.empty() && std::find(names.begin(), names.end(), one.name) == names.end())
      throw core::ConfigError(learner.reader_of(one.name),
                              core::text("the rows have no target '", one.name,
                                         "'. There are: ", core::join(names, ", "), "."));
  const data::ExampleRowsPtr rows = with_names(wanted, given, reading);
  return wanted.empty() ? rows : optim::with_targets_of(wanted, rows, key, reading);
}

constexpr std::int64_t rows_looked_at = 200;
constexpr double far_from_one = 20;

/// What is far from 1, from which networks learn best: nothing is scaled by itself.
/// throws: DataError where there is nothing to learn
std::vector<std::string> badly_scaled(const data::ExampleSets& sets,
                                      const optim::Adversarial& learner) {
  const data::Examples some = sets.training->first(rows_looked_at);
  const torch::Tensor spread = optim::spread_of(some.inputs.to(torch::kFloat64));
  if (some.rows() > 1 && spread[0].item<double>() == 0)
    throw core::DataError(sets.origin,
                          core::text("the first ", some.rows(),
                                     " examples are all the same: there is nothing to learn. Look "
                                     "at the files, and at what is cut away."));
  std::map<std::string, double> sizes{{"examples", spread.max().item<double>()}};
  for (const optim::Condition& condition : learner.input().conditions())
    if (condition.classes == 0)
      sizes[core::text("the condition ", condition.name)] =
          condition.target.of(some.targets).abs().max().item<double>();
  std::vector<std::string> lines;
  for (const auto& [what, size] : sizes)
    if (size > far_from_one)
      lines.push_back(core::text(what, ": numbers as large as ", core::significant(size, 2),
                                 ", and networks learn best from ones near 1. Nothing is scaled "
                                 "by itself: divide them"));
  return lines;
}

}  // namespace

data::ExampleSets load_conditioned(const Job& job, comm::Ranks* ranks) {
  const GenerationProblem& problem = generation_of(job);
  const data::Reading reading = reading_of(ranks);
  data::ExampleSets sets = problem.examples->load(problem.split.seed_or(job.seed()), reading);
  sets.training = conditioned(problem.learner, sets.training, "data.targets", reading);
  sets.validation =
      conditioned(problem.learner, sets.validation, "data.validation_targets", reading);
  keep_aside(problem.split, job.seed(), sets);
  data::return_freed_memory();
  return sets;
}

std::unique_ptr<optim::Adversarial> make_adversarial(const Job& job, const data::ExampleSets& sets,
                                                     const problem::RankPlace& place) {
  return std::make_unique<optim::Adversarial>(scaled_learner(job, place.ranks), sets.training,
                                              generation_of(job).examples->measures(), job.seed(),
                                              job.settings.made_device(), place);
}

GenerationTask::GenerationTask(const Job& job, comm::Ranks& ranks, core::Log& log)
    : job_(job),
      ranks_(ranks),
      log_(log),
      sets_(load_conditioned(job, &ranks)),
      fingerprint_(fingerprint_of(sets_)),
      learner_(make_adversarial(job, sets_,
                                train::place_of(job.exchange_choice(), ranks.communicator()))),
      best_(learner_->networks()) {
  const std::vector<std::string> scales = badly_scaled(sets_, *learner_);
  if (!ranks.is_first()) return;
  for (const std::string& warning : sets_.warnings) log.warning("examples", warning);
  for (const std::string& line : scales) log.warning("not-near-one", line);
}

std::string GenerationTask::description() const {
  return core::text("a generator of ", description_of(sets_, learner_->weights()));
}

std::string GenerationTask::share() const { return share_of(sets_, job_, ranks_); }

std::vector<std::string> GenerationTask::metric_names() const {
  std::vector<std::string> names;
  if (sets_.validation->rows() == 0) return names;
  const auto compared = comparison();
  for (const auto& [name, value] :
       learner_->metrics(*data::hold(sets_.validation->first(2)),
                         compared.get()))  // a few rows have all of them
    names.push_back(name);
  return names;
}

void GenerationTask::begin(bool resumed) {
  if (resumed) return;
  for (auto& [part, replica] : learner_->networks()) check_equal_start(ranks_, replica);
}

std::optional<record::Evaluated> GenerationTask::evaluate(std::int64_t epoch) {
  record::Evaluated evaluated;
  if (!ranks_.is_first()) return evaluated;
  best_.remember(epoch);
  if (sets_.validation->rows() == 0) return evaluated;
  evaluate_long([&] {
    const std::function<void()> between = [this] { meanwhile(); };
    const core::PollScope polled(between);
    last_compared_ = comparison();
    for (const auto& [name, value] : learner_->metrics(*sets_.validation, last_compared_.get()))
      evaluated.metrics.push_back({name, value});
    polled.rethrow();
  });
  return evaluated;
}

std::unique_ptr<problem::ExampleComparison> GenerationTask::comparison() const {
  if (sets_.validation->rows() == 0) return nullptr;
  return generation_of(job_).examples->comparison(sets_.validation->first(1).target_tensors());
}

// Epochs are evaluated again where a run is stopped within one, times are not.
void GenerationTask::judge(const record::Evaluated& evaluated, const BestNetworks::Score& score) {
  best_.judge(evaluated, score);
  if (best_.evaluated() && best_.evaluated()->time_s == evaluated.time_s)
    best_compared_ = std::move(last_compared_);
}

// Exchanges have ended, so that there is nothing to poll.
std::unique_ptr<problem::ExampleComparison> GenerationTask::compared() const {
  auto compared = comparison();
  if (compared) learner_->metrics(*sets_.validation, compared.get());
  return compared;
}

void GenerationTask::tell_apart(const problem::ExampleComparison& comparison,
                                record::Results& results) {
  const double area = optim::area_told_apart(
      comparison.features(), core::RandomStream(job_.seed(), "classifier of made examples"));
  if (!std::isfinite(area)) return;  // too few rows
  results.numbers.push_back({"classifier_auc_end", area});
  log_.info(
      core::text("a classifier tells real from made examples with an area under its curve of ",
                 core::fixed(area, 3), " (0.5: it cannot)"));
}

torch::Tensor GenerationTask::range_of_targets() const {
  torch::Tensor own = learner_->range_of_targets();
  if (own.numel() == 0) return own;
  torch::Tensor all = torch::empty({ranks_.size(), 2, own.size(1)});
  const auto bytes = [](const torch::Tensor& numbers) {
    return std::as_writable_bytes(
        std::span(numbers.data_ptr<float>(), static_cast<std::size_t>(numbers.numel())));
  };
  ranks_.communicator().all_gather(bytes(own), bytes(all));
  return torch::stack({all.select(1, 0).amin(0), all.select(1, 1).amax(0)});
}

record::Results GenerationTask::write(RunOutputs& outputs, const Training& training,
                                      const std::vector<RankRow>& rows) {
  const torch::Tensor range = range_of_targets();
  if (!ranks_.is_first()) return {};
  const bool restores = job_.settings.early_stop.restore && best_.evaluated();
  record::Results results =
      results_of(job_, training, restores ? *best_.evaluated() : training.record.last);
  results.data_origin = sets_.origin;
  results.method = record::learning_method;
  results.events = sets_.training->rows();
  const record::RunDirectory& folder = outputs.folder();
  const auto write_to = [&](const record::RunFile& file) {
    write_networks(folder.file(file.name), learner_->networks(),
                   arrays_of(learner_->input().conditions(), range));
  };
  best_.conclude(job_, results, log_, [&] { write_to(files::best_network); });
  results.numbers.push_back({"weights", static_cast<double>(learner_->weights())});
  results.numbers.push_back({"ranks", static_cast<double>(ranks_.size())});
  results.numbers.push_back({"analysis_rate", analysis_rate(rows)});
  write_to(files::network);
  GenerationShown shown{*learner_, *sets_.validation, *generation_of(job_).examples};
  const auto conclude = [&] {
    if (!best_compared_) best_compared_ = compared();  // of another process, or there is no best
    shown.comparison = best_compared_.get();
    if (best_compared_) tell_apart(*best_compared_, results);
    outputs.write(results, rows, [&] {
      return draw_generation_figures(folder, job_.settings.figures, shown, log_);
    });
  };
  if (!best_.evaluated()) {
    conclude();
  } else {
    shown.best_epoch = best_.evaluated()->epoch;
    best_.with_best(conclude);
  }
  return results;
}

}  // namespace sagips::run
