#include "sagips/run/learning_task.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>

#include "sagips/comm/outbox.hpp"
#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/poll.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/data/node_memory.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/python_function.hpp"
#include "sagips/nn/script.hpp"
#include "sagips/optim/learn/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/tensor_file.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/learning_figures.hpp"
#include "sagips/run/once_a_node.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/training_setup.hpp"

namespace sagips::run {

namespace {

namespace files = record::run_files;

optim::SupervisedConfig scaled(const Job& job, std::int64_t ranks) {
  optim::SupervisedConfig config = job.learning().learner;
  config.optimizer.learning_rate *=
      train::traits_of(job.exchange_choice(), static_cast<int>(ranks)).learning_rate_factor;
  config.norms_over_ranks =
      job.settings.exchanges.batch_norm == comm::ExchangesConfig::BatchNorm::over_ranks;
  check_plateau(config.optimizer, "optimizer", ranks);
  return config;
}

// Each array that standardises rows by its name beside those of networks.
void for_each_standard(
    data::RowStatistics& statistics,
    const std::function<void(const std::string& name, torch::Tensor& values)>& use) {
  for (const auto& [name, standard] :
       {std::pair("inputs", &statistics.inputs), std::pair("targets", &statistics.targets)}) {
    use(core::text(name, ".mean"), standard->mean);
    use(core::text(name, ".deviation"), standard->deviation);
  }
}

// What standardises the rows that networks see, by its names in their file.
std::map<std::string, torch::Tensor> standards_of(data::RowStatistics statistics) {
  std::map<std::string, torch::Tensor> arrays;
  for_each_standard(statistics, [&](const std::string& name, torch::Tensor& values) {
    if (values.defined()) arrays[name] = values;
  });
  return arrays;
}

// Networks that are a TorchScript module and nothing else, as modules for Python.
void write_scripts(const record::RunDirectory& folder, std::span<optim::WeightedNetwork> networks,
                   const record::RunFile& file, core::Log& log) {
  for (auto& one : networks) {
    const auto& layers = one.part.network->layers();
    if (layers.size() != 1 || layers[0].script.empty()) continue;
    std::vector<nn::NamedTensor> tensors;
    for_each_array({&one, 1}, [&](const std::string& name, torch::Tensor& values) {
      tensors.push_back({name.substr(name.find('.') + 1), values});  // after "layer0."
    });
    std::string name = file.name;
    if (networks.size() > 1) name.replace(0, std::string("network").size(), one.part.name);
    try {
      nn::save_script(layers[0].script, folder.file(name), tensors);
    } catch (const core::DataError& problem) {  // the file has changed: weights are written already
      log.warning("not-written", core::text(name, " is not written: ", problem.what()));
    }
  }
}

void warn_of_targets(const optim::HeadConfigs& heads, data::ExampleSets& sets) {
  const core::RowTensors targets = sets.training->first(1).target_tensors();
  for (const core::RowTensor& target : targets)
    if (std::none_of(heads.begin(), heads.end(), [&](const optim::HeadConfig& head) {
          return head.target_name() == target.name;
        }))
      sets.warnings.push_back(core::text("no effect in this run: data.targets.tensors.",
                                         target.name, " (no head learns it)"));
}

// Leaves of the rows' targets what the loss, or its heads, compare, in the form that these want.
void take_targets(const optim::SupervisedConfig& learner, data::ExampleSets& sets,
                  data::ExampleRowsPtr& rows, const char* key, const data::Reading& reading) {
  if (!rows) return;
  if (!learner.heads.empty()) {
    rows = optim::with_targets_of(learner.heads, rows, key, reading);
    return;
  }
  const bool of_classes = learner.has_classes();
  const data::Examples one = rows->first(1);
  if (const core::RowTensors named = one.target_tensors(); !named.empty())
    throw core::ConfigError(key, core::text("holds the tensors ", named.written(),
                                            ", and one loss compares one. Name heads for them."));
  if (const std::int64_t width = one.targets.numel(); of_classes && width > 1) {
    if (sets.one_hot > 0 && width != sets.one_hot)
      throw core::ConfigError(key, core::text("has rows of ", width, " numbers, data.targets of ",
                                              sets.one_hot, ". A class needs the same in both."));
    sets.one_hot = width;
  }
  const auto change = [=, is_part = !rows->in_memory()](data::Examples& examples) {
    if (of_classes)
      examples.targets = data::class_numbers(examples.targets, key, is_part);
    else if (examples.targets.dim() == 1)
      examples.targets = examples.targets.unsqueeze(1);
  };
  rows = data::with_targets(rows, change, reading);
}

// Rows are looked at before the training only where something asks for it.
LearningRows with_statistics(const LearningProblem& learning, data::ExampleSets sets,
                             const data::Reading& reading) {
  using Standardise = LearningProblem::Standardise;
  const optim::SupervisedConfig& learner = learning.learner;
  const auto any_head = [&](const auto& is) {
    return std::any_of(learner.heads.begin(), learner.heads.end(), is);
  };
  const bool has_units = learner.heads.empty()
                             ? optim::loss_named(learner.loss, "loss").has_units()
                             : any_head([](const auto& head) { return head.has_units(); });
  const bool weighs_classes =
      !learner.loss_options.class_weights.empty() ||
      any_head([](const auto& head) { return !head.loss_options.class_weights.empty(); });
  if (learning.standardise == Standardise::targets && !has_units)
    throw core::ConfigError(
        "data.standardise",
        core::text("targets of ", learner.heads.empty() ? "loss=" + learner.loss : "these heads",
                   " have no units. Set inputs or false."));
  const bool of_inputs = learning.standardise == Standardise::inputs ||
                         learning.standardise == Standardise::both,
             of_targets = learning.standardise == Standardise::targets ||
                          (learning.standardise == Standardise::both && has_units);
  const auto has_weights = [](const data::ExampleRowsPtr& rows) {
    return rows->rows() > 0 && rows->first(1).weights.defined();
  };
  LearningRows rows{std::move(sets)};
  if (has_weights(rows.sets.validation))
    data::statistics_of(*rows.sets.validation, false, false, reading);
  if (of_inputs || of_targets || has_weights(rows.sets.training) || weighs_classes)
    rows.statistics =
        optim::statistics_of(learner.heads, rows.sets.training, of_inputs, of_targets, reading);
  for (data::ExampleRowsPtr* part : {&rows.sets.training, &rows.sets.validation})
    *part = data::standardised(*part, rows.statistics.inputs);
  return rows;
}

// Whether something is so on every rank. collective
bool all_hold(comm::Ranks& ranks, bool here) {
  const std::vector<std::byte> mine{static_cast<std::byte>(here ? 1 : 0)};
  const auto told = comm::gather(ranks, comm::ControlTag::node, mine, "with its data");
  const bool all = std::all_of(told.begin(), told.end(),
                               [](const auto& one) { return one.at(0) != std::byte{0}; });
  return ranks.broadcast(all ? "all" : "") == "all";
}

// All rows as their source gives them, or as the job has kept them.
data::ExampleSets read_once(const Job& job, comm::Ranks* ranks, const data::Reading& reading) {
  problem::ExampleSource& source = *job.learning().examples;
  const std::uint64_t seed = job.learning().split.seed_or(job.seed());  // of what is drawn
  if (!job.kept) return source.load(seed, reading);
  core::FieldList fields;
  source.fields(fields);
  const std::string origin = core::text(job.settings.workload, '\n', core::write_fields(fields),
                                        source.is_drawn() ? seed : 0);
  const bool is_kept = job.kept->origin == origin;
  if (ranks ? all_hold(*ranks, is_kept) : is_kept) return job.kept->sets;
  *job.kept = {};  // what is not asked for any more goes before other rows come
  data::ExampleSets sets = source.load(seed, reading);
  *job.kept = {origin, sets};
  return sets;
}

}  // namespace

data::Reading reading_of(comm::Ranks* ranks) {
  data::Reading reading;
  if (ranks)
    reading.once = [ranks](const data::Reading::Text& say) {
      std::string said;
      if (ranks->is_first()) {  // files may be long
        ranks->status().expect_silence(true);
        said = say();
        ranks->status().expect_silence(false);
      }
      return ranks->broadcast(said);
    };
  if (ranks)
    reading.once_a_node = [ranks](const data::Reading::Make& make) {
      return once_a_node(*ranks, make);
    };
  reading.function = [](const std::string& path) -> data::Reading::RowFunction {
    if (!nn::is_python(path)) return nn::script_function(path);
    const nn::PythonFunction function = nn::python_function(path, "rows", "script");
    return [call = function.call](const torch::Tensor& rows) { return call({rows}); };
  };
  return reading;
}

void keep_aside(const data::ExampleSplit& split, std::uint64_t seed_of_run,
                data::ExampleSets& sets) {
  split.apply(sets, core::RandomStream(split.seed_or(seed_of_run), "rows kept aside"));
  const auto shape = [](const data::ExampleRowsPtr& rows) {
    return nn::shape_of_rows(rows->first(1).inputs);
  };
  if (sets.validation->rows() > 0 && shape(sets.validation) != shape(sets.training))
    throw core::ConfigError(
        "data.validation_inputs",
        core::text("has rows of ", nn::written(shape(sets.validation)), ", the inputs have ",
                   nn::written(shape(sets.training)), "."));
}

std::string description_of(const data::ExampleSets& sets, std::int64_t weights) {
  return core::text(sets.origin, ", ", core::with_thousands(sets.training->rows()), " rows (",
                    core::with_thousands(sets.validation->rows()), " kept aside), ",
                    core::with_thousands(weights), " weights");
}

std::string share_of(const data::ExampleSets& sets, const Job& job, comm::Ranks& ranks) {
  const auto place = train::place_of(job.exchange_choice(), ranks.communicator());
  return core::text(core::with_thousands(sets.training->rows() / place.ranks), " rows");
}

LearningRows load_examples(const Job& job, comm::Ranks* ranks) {
  const LearningProblem& learning = job.learning();
  const data::Reading reading = reading_of(ranks);
  data::ExampleSets sets = read_once(job, ranks, reading);
  warn_of_targets(learning.learner.heads, sets);
  take_targets(learning.learner, sets, sets.training, "data.targets", reading);
  take_targets(learning.learner, sets, sets.validation, "data.validation_targets", reading);
  keep_aside(learning.split, job.seed(), sets);
  LearningRows rows = with_statistics(learning, std::move(sets), reading);
  data::return_freed_memory();
  return rows;
}

void read_for_all(const Job& job, const std::vector<std::string>& varied, comm::Ranks& ranks) {
  const bool is_same = std::none_of(varied.begin(), varied.end(), [](const std::string& key) {
    return key.starts_with("data.");
  });
  const auto* const learning = job.as<LearningProblem>();
  if (job.kept && learning && is_same && !learning->examples->is_drawn())
    read_once(job, &ranks, reading_of(&ranks));
}

std::vector<optim::NetworkPart> make_networks(const Job& job, const data::ExampleRows& rows) {
  const LearningProblem& learning = job.learning();
  const optim::HeadConfigs& heads = learning.learner.heads;
  const data::Examples one = rows.first(1);
  nn::Shape shape = nn::shape_of_rows(one.inputs);
  core::RowTensors tensors = one.input_tensors();
  if (learning.networks.empty())
    return {{.network = std::make_shared<nn::LayeredNetwork>(
                 optim::with_heads(learning.layers, heads), shape, "network.layers", tensors)}};
  if (!learning.layers.empty())
    throw core::ConfigError("networks", "stand in place of network.layers. Leave either out.");
  std::vector<optim::NetworkPart> parts;
  for (const PartSettings& part : learning.networks) {
    const bool is_last = &part == &learning.networks.back();
    auto network = std::make_shared<nn::LayeredNetwork>(
        is_last ? optim::with_heads(part.layers, heads) : part.layers, shape,
        core::text("networks.", part.name, ".layers"), tensors);
    shape = network->output();
    tensors = network->output_tensors();
    parts.push_back({part.name, std::move(network), part.rate});
  }
  return parts;
}

std::string fingerprint_of(const data::ExampleSets& sets) {
  const std::uint32_t sum = sets.validation->fingerprint(sets.training->fingerprint(0));
  return core::text(sets.training->rows(), " and ", sets.validation->rows(), " rows, crc32c ", sum);
}

std::unique_ptr<optim::Supervised> make_learner(const Job& job,
                                                const std::vector<optim::NetworkPart>& networks,
                                                const LearningRows& rows,
                                                const problem::RankPlace& place) {
  const data::ExampleSets& sets = rows.sets;
  auto learner = std::make_unique<optim::Supervised>(
      scaled(job, place.ranks), networks, sets.training, job.seed(), job.settings.made_device(),
      place, rows.statistics);
  sets.validation->look_at_targets(
      [&](const data::Examples& some) { learner->check_targets(some); });
  if (learner->loss().heads && !sets.classes.empty())
    throw core::ConfigError("data.classes",
                            "names classes, and there are heads. Name them there: "
                            "heads.NAME.names.");
  if (learner->loss().heads) return learner;
  const auto named = static_cast<std::int64_t>(sets.classes.size()),
             outputs = networks.back().network->output()[0];
  if (sets.one_hot > 0 && sets.one_hot != outputs)
    throw core::ConfigError(
        "data.targets",
        core::text("has rows of ", sets.one_hot, " numbers, one for each class, and ",
                   "the network has ", outputs, " outputs. Change either."));
  if (named > 0 && named != outputs)
    throw core::ConfigError(
        "data.classes", core::text("names ", named, " classes, and the network ", "has ", outputs,
                                   " outputs. Change either."));
  return learner;
}

StepOfRanks step_of_ranks(optim::Optimizer& learner, std::int64_t rows, std::int64_t batch) {
  StepOfRanks step{{},
                   /*of_rows=*/true,
                   [rows, batch](std::int64_t ranks) {
                     return static_cast<double>(std::min(rows, batch * ranks));
                   },
                   [rows, batch](std::int64_t ranks) {
                     return optim::BatchRows::steps_per_epoch(rows, batch, ranks);
                   }};
  for (const optim::Action& action : learner.schedule())
    if (action.kind == optim::Action::Kind::update)
      for (const nn::ParameterTensor& tensor : learner.steps()[action.index].replica->parameters())
        step.tensors.push_back(tensor.size());
  return step;
}

std::vector<std::string> warnings_of(const Job& job, const optim::Supervised& learner,
                                     const data::ExampleSets& sets) {
  std::vector<std::string> warnings = sets.warnings;
  const auto& parts = job.learning().networks;
  if (!parts.empty() &&
      std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.rate == 0; }))
    warnings.push_back("networks: all have a rate of 0, so nothing is learned");
  using Standardise = LearningProblem::Standardise;
  const Standardise standardise = job.learning().standardise;
  if ((standardise == Standardise::inputs || standardise == Standardise::both) &&
      learner.networks().front().part.network->skips_empty())
    warnings.emplace_back(
        "skip_empty: data.standardise moves the zeros that particles which are not there consist "
        "of, so that none is skipped. Leave one of them out, or scale the rows in the file.");
  const optim::SupervisedConfig& config = job.learning().learner;
  const std::vector<std::string> names = metric_names(learner, sets);
  const std::string top = core::text("top_", config.top_k, "_accuracy");
  if (config.has_classes() && config.top_k != optim::SupervisedConfig().top_k &&
      std::none_of(names.begin(), names.end(),
                   [&](const std::string& name) { return name.ends_with(top); }))
    warnings.push_back("no effect in this run: top_k (needs rows kept aside, and more classes)");
  const train::EarlyStopConfig& watched = job.settings.early_stop;
  if (!sets.validation->in_memory() || sets.validation->rows() == 0 ||
      (!watched.watches() && !job.learning().learner.optimizer.waits_for_plateau()))
    return warnings;
  // of any outputs: whether there is a number depends on targets and weights, but for a precision
  const torch::Tensor outputs =
      torch::zeros_like(learner.predict(*data::hold(sets.validation->first(1))).outputs)
          .repeat_interleave(sets.validation->rows(), 0);
  std::vector<torch::Tensor> targets, weights;
  sets.validation->look_at_targets([&](const data::Examples& some) {
    targets.push_back(some.targets);
    if (some.weights.defined()) weights.push_back(some.weights);
  });
  const optim::Prediction told{outputs, torch::cat(targets),
                               weights.empty() ? torch::Tensor() : torch::cat(weights)};
  for (const auto& [name, value] : learner.metrics(told))
    if (name == watched.metric && std::isnan(value) && !name.starts_with("precision/"))
      warnings.push_back(
          core::text("early_stop.metric: the rows kept aside have no ", name,
                     " (it needs rows of more than one class), so nothing is "
                     "stopped by it. Keep other rows aside, or watch another metric."));
  return warnings;
}

std::vector<std::string> remarks_on_lengths(const Job& job, std::int64_t rows, std::int64_t ranks) {
  std::vector<std::string> remarks;
  const optim::SupervisedConfig& learner = job.learning().learner;
  const std::int64_t together = learner.batch * ranks,
                     updates = job.settings.loop.epochs * ((rows + together - 1) / together);
  std::string line = remark_on_updates(job, "optimizer", learner.optimizer, updates, ranks);
  if (!line.empty()) remarks.push_back(std::move(line));
  line = remark_on_batch(learner.batch, rows, ranks);
  if (!line.empty()) remarks.push_back(std::move(line));
  return remarks;
}

std::string remark_on_batch(std::int64_t batch, std::int64_t rows, std::int64_t ranks) {
  if (batch * ranks <= rows) return {};
  return core::text("batch=", batch, ": a rank has ", rows / ranks,
                    " rows, and takes no more than those in a step");
}

// A few rows have all of them.
std::vector<std::string> metric_names(const optim::Supervised& learner,
                                      const data::ExampleSets& sets) {
  std::vector<std::string> names;
  if (sets.validation->rows() == 0) return names;
  const data::ExampleRowsPtr few = data::hold(sets.validation->first(2));
  for (const auto& [name, value] : learner.metrics(learner.predict(*few), sets.names()))
    names.push_back(name);
  return names;
}

data::RowStatistics read_standards(const std::string& file) {
  const record::TensorFile content = record::read_tensor_file(file);
  data::RowStatistics statistics;
  for_each_standard(statistics, [&](const std::string& name, torch::Tensor& values) {
    if (!content.tensors.contains(name)) return;
    const record::StoredTensor& stored = content.tensor(name, file);
    values = torch::tensor(stored.numbers(), torch::kFloat64).reshape(stored.shape);
  });
  return statistics;
}

LearningTask::LearningTask(const Job& job, comm::Ranks& ranks, core::Log& log)
    : job_(job),
      ranks_(ranks),
      log_(log),
      rows_(load_examples(job, &ranks)),
      fingerprint_(fingerprint_of(sets_)),
      learner_(make_learner(job, make_networks(job, *sets_.training), rows_,
                            train::place_of(job.exchange_choice(), ranks.communicator()))),
      best_(learner_->networks()) {
  if (ranks.is_first())
    for (const std::string& warning : warnings_of(job, *learner_, sets_))
      log.warning("examples", warning);
  const train::ExchangeChoice choice = job.exchange_choice();
  const std::int64_t computing = place_of(choice, ranks.communicator()).ranks;
  if (ranks.is_first())
    for (const std::string& line : remarks_on_lengths(job, sets_.training->rows(), computing))
      log.warning("lengths", line);
  const bool has_masters = comm::keeps_central_weights(choice.primary) && computing < ranks.size();
  for (const auto& [part, exchange] : choice.others)
    if (has_masters && exchange == "none" && !job.learning().networks.empty())
      throw core::ConfigError(
          "networks",
          core::text("'", part,
                     "' is exchanged by none, and rank 0, which writes the results, does not "
                     "compute. Set its exchange to served, or exchanges.served.owners=all."));
}

std::string LearningTask::description() const {
  return core::text(job_.settings.workload, " on ", description_of(sets_, learner_->weights()));
}

std::string LearningTask::share() const { return share_of(sets_, job_, ranks_); }

std::vector<std::string> LearningTask::metric_names() const {
  return run::metric_names(*learner_, sets_);
}

void LearningTask::begin(bool resumed) {
  if (resumed) return;
  const LearningProblem& learning = job_.learning();
  for (const std::string& line : begin_from(learning, learner_->networks()))
    if (ranks_.is_first()) log_.info(line);
  for (auto& [part, replica] : learner_->networks()) check_equal_start(ranks_, replica);
}

// Ranks have statistics of batch norm of their own.
bool LearningTask::share_evaluations(const std::vector<int>& ranks, bool all_wait) {
  const auto has_statistics = [](const optim::WeightedNetwork& one) {
    return !one.replica.leaves().buffers.empty();
  };
  const auto& networks = learner_->networks();
  if (ranks.size() < 2 || sets_.validation->rows() < static_cast<std::int64_t>(ranks.size()) ||
      std::any_of(networks.begin(), networks.end(), has_statistics))
    return false;
  all_wait_ = all_wait;
  shares_.emplace(ranks_, ranks, sets_.validation->rows());
  if (!shares_->takes_part()) return true;
  const comm::Piece own = shares_->own();
  const auto first = static_cast<std::int64_t>(own.first),
             end = first + static_cast<std::int64_t>(own.size);
  own_rows_ = data::chosen(sets_.validation,
                           data::RowSelection(sets_.validation->rows(), [=](std::int64_t row) {
                             return row >= first && row < end;
                           }));
  return true;
}

optim::Prediction LearningTask::predict(const data::ExampleRows& rows) const {
  const auto check = [this](const data::Examples& examples) {
    learner_->check_targets(examples);
    meanwhile();
  };
  try {
    optim::Prediction found;
    evaluate_long([&] {
      const std::function<void()> between = [this] { meanwhile(); };
      const core::PollScope polled(between);
      found = optim::prediction_of(learner_->networks(), rows, check);
      polled.rethrow();
    });
    return found;
  } catch (const core::Error& error) {  // files that have changed: the training's failure
    core::pass_on_raised();
    throw core::Error(error.what());
  }
}

record::Evaluated LearningTask::judged(const optim::Prediction& prediction) const {
  record::Evaluated evaluated;
  for (const auto& [name, value] : learner_->metrics(prediction, sets_.names()))
    evaluated.metrics.push_back({name, value});
  return evaluated;
}

record::Evaluated LearningTask::judged() const {
  return ranks_.is_first() && sets_.validation->rows() > 0 ? judged(predict(*sets_.validation))
                                                           : record::Evaluated{};
}

std::optional<record::Evaluated> LearningTask::evaluate(std::int64_t epoch) {
  if (ranks_.is_first()) best_.remember(epoch);
  if (!shares_) return judged();
  if (shares_->takes_part()) {
    const optim::Prediction own = predict(*own_rows_);
    train::RowShares::Tensors share{own.outputs, own.targets};
    if (own.weights.defined()) share.push_back(own.weights);
    shares_->bring(epoch, share);
  }
  if (!ranks_.is_first()) return record::Evaluated{};
  if (!all_wait_) return std::nullopt;
  return judged_together(true);
}

std::optional<record::Evaluated> LearningTask::judged_together(bool wait) {
  const auto found = shares_->next(wait);
  if (!found) return std::nullopt;
  const train::RowShares::Tensors& all = found->tensors;
  record::Evaluated evaluated = judged({all[0], all[1], all.size() > 2 ? all[2] : torch::Tensor()});
  evaluated.epoch = found->number;
  return evaluated;
}

std::optional<record::Evaluated> LearningTask::late(bool wait) {
  if (!shares_) return std::nullopt;
  std::optional<record::Evaluated> evaluated;
  if (ranks_.is_first()) evaluated = judged_together(wait);
  if (evaluated || !wait) return evaluated;
  shares_->close();
  shares_.reset();  // nobody trains any more: rank 0 has the time
  return std::nullopt;
}

// Files that cannot be read any more may be what has failed.
record::Evaluated LearningTask::after_failure() {
  try {
    return judged();
  } catch (const core::Error&) {
    return {};
  }
}

record::Results LearningTask::write(RunOutputs& outputs, const Training& training,
                                    const std::vector<RankRow>& rows) {
  if (!ranks_.is_first()) return {};
  const bool restores = job_.settings.early_stop.restore && best_.evaluated();
  record::Results results =
      results_of(job_, training, restores ? *best_.evaluated() : training.record.last);
  results.data_origin = sets_.origin;
  results.method = record::learning_method;
  results.events = sets_.training->rows();
  const record::RunDirectory& folder = outputs.folder();
  best_.conclude(job_, results, log_, [&] {
    write_networks(folder.file(files::best_network.name), learner_->networks(),
                   standards_of(rows_.statistics));
    write_scripts(folder, learner_->networks(), files::best_script, log_);
  });
  results.numbers.push_back({"weights", static_cast<double>(learner_->weights())});
  results.numbers.push_back({"ranks", static_cast<double>(ranks_.size())});
  results.numbers.push_back({"analysis_rate", analysis_rate(rows)});
  if (!sets_.training->in_memory()) {
    const double waited = learner_->waited_s();
    results.numbers.push_back({"waited_for_rows_s", waited});
    log_.info(core::text("waited ", core::significant(waited, 2), " s for rows of files"));
  }
  write_networks(folder.file(files::network.name), learner_->networks(),
                 standards_of(rows_.statistics));
  write_scripts(folder, learner_->networks(), files::script, log_);
  outputs.write(results, rows, [&] {
    optim::Prediction found;
    if (sets_.validation->rows() > 0) found = learner_->predict(*sets_.validation);
    return draw_learning_figures(folder, job_.settings.figures, learner_->loss(), found,
                                 sets_.names(), log_);
  });
  return results;
}

}  // namespace sagips::run
