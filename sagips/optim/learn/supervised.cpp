#include "sagips/optim/learn/supervised.hpp"

#include <algorithm>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/poll.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/device_library.hpp"
#include "sagips/nn/initialise.hpp"
#include "sagips/optim/learn/metrics.hpp"

namespace sagips::optim {

using core::ConfigError;
using core::text;

namespace {

constexpr std::int64_t rows_at_once = 1000, numbers_at_once = std::int64_t{1} << 23;

// A GPU's memory may be what a training's graphs leave.
torch::Tensor in_parts_that_fit(const torch::Tensor& rows,
                                const std::function<torch::Tensor(const torch::Tensor&)>& work) {
  const std::int64_t count = rows.size(0), half = count / 2;
  try {
    return work(rows);
  } catch (const c10::OutOfMemoryError&) {
    if (half == 0) throw;
  }
  return torch::cat({in_parts_that_fit(rows.narrow(0, 0, half), work),
                     in_parts_that_fit(rows.narrow(0, half, count - half), work)});
}

torch::Tensor joined(const std::vector<torch::Tensor>& pieces) {
  return pieces.empty() ? torch::Tensor() : torch::cat(pieces);
}

}  // namespace

void check_targets(const Loss& loss, const nn::Shape& output, const torch::Tensor& targets,
                   const std::string& network, const std::string& data) {
  if (!loss.of_classes()) {
    if (nn::shape_of_rows(targets) != output)
      throw ConfigError(
          network, text("gives rows of ", nn::written(output), ", and ", loss.name,
                        " compares them with targets of ", nn::written(nn::shape_of_rows(targets)),
                        ". Change its last layer."));
    const torch::Tensor beyond =
        targets.masked_select((targets < loss.lowest) | (targets > loss.highest));
    if (beyond.numel() > 0)
      throw ConfigError(
          data, text("a target is ", beyond[0].item<float>(), ", and ", loss.name, " has none ",
                     targets.lt(loss.lowest).any().item<bool>() ? text("below ", loss.lowest)
                                                                : text("above ", loss.highest),
                     ". Correct it, or choose another loss."));
    return;
  }
  if (output.size() != 1)
    throw ConfigError(network, text("gives rows of ", nn::written(output), ", and ", loss.name,
                                    " needs a row of one number for each class."));
  const std::int64_t classes = output[0];
  const torch::Tensor wrong = targets.masked_select((targets < 0) | (targets >= classes));
  if (wrong.numel() > 0)
    throw ConfigError(data, text("a row is of class ", wrong[0].item<std::int64_t>(),
                                 ", and the network knows 0 to ", classes - 1,
                                 " (classes count from 0). Change its last layer, or correct "
                                 "the targets."));
}

std::int64_t least_rows(bool separable, bool norms_over_ranks, std::int64_t ranks) {
  if (separable) return 0;
  return norms_over_ranks && ranks > 1 ? 1 : 2;
}

void check_batches(std::int64_t rows, std::int64_t batch, const problem::RankPlace& place,
                   std::int64_t least) {
  if (rows < place.ranks)
    throw ConfigError("data", text(rows, " rows for ", place.ranks,
                                   " ranks. Give more rows, or use fewer ranks."));
  const std::int64_t steps = BatchRows::steps_per_epoch(rows, batch, place.ranks),
                     last = rows - (steps - 1) * batch * place.ranks;
  if (last / place.ranks < least)
    throw ConfigError("batch", text("the last batch of a data epoch has ", last,
                                    last == 1 ? " row for " : " rows for ", place.ranks,
                                    place.ranks > 1 ? " ranks" : " rank", ", and batch norm needs ",
                                    least == 1 ? "one" : "two", " on each. Change it."));
}

void move_to(const torch::Device& device, const data::ExampleRows& rows,
             data::ExampleStream& stream) {
  if (device.is_cpu()) return;
  const data::Examples one = rows.first(1);
  std::size_t bytes = sizeof(std::int64_t);  // of its place in the order
  for (const torch::Tensor* const part : {&one.inputs, &one.targets, &one.weights})
    if (part->defined()) bytes += part->nbytes();
  if (static_cast<std::int64_t>(bytes) * rows.rows() < nn::memory_of(device).free / 2)
    stream.move_to(device);
}

void put(const torch::Tensor& from, const torch::Device& device, torch::Tensor& to) {
  if (to.defined())
    to.copy_(from);
  else if (from.defined())
    to = from.to(device);
}

bool is_repeatable(const torch::Device& device, std::span<const WeightedNetwork> networks,
                   const std::vector<std::string>& losses) {
  return nn::device_library(device) != nullptr && std::ranges::all_of(losses, is_shipped_loss) &&
         std::ranges::all_of(networks, [](const WeightedNetwork& one) {
           return one.replica.leaves().bound.empty();
         });
}

// Modules say nothing of theirs: then none of the sum is known.
std::int64_t operations_of(std::span<const WeightedNetwork> networks) {
  std::int64_t sum = 0;
  for (const WeightedNetwork& one : networks)
    for (const nn::LayerSummary& layer : one.part.network->layers()) {
      if (layer.weights > 0 && layer.operations == 0) return 0;
      sum += layer.operations;
    }
  return sum;
}

Prediction prediction_of(std::span<const WeightedNetwork> networks, const data::ExampleRows& rows,
                         const std::function<void(const data::Examples&)>& check) {
  const torch::NoGradGuard no_grad;
  const std::int64_t row = nn::numbers_in(networks.front().part.network->input());
  const std::int64_t at_once = std::clamp<std::int64_t>(numbers_at_once / row, 1, rows_at_once);
  std::vector<torch::Tensor> outputs, targets, weights;
  const std::function<torch::Tensor(const torch::Tensor&)> output_of =
      [&](const torch::Tensor& inputs) {
        torch::Tensor values = inputs.to(networks.front().replica.weights().device());
        for (const auto& [part, replica] : networks)
          values = (*part.network)(replica.leaves(), values, {});
        return values.cpu();
      };
  data::for_each_piece(rows.rows(), at_once, [&](const torch::Tensor& numbers) {
    const data::Examples examples = rows.read(numbers);
    if (check) check(examples);
    outputs.push_back(in_parts_that_fit(examples.inputs, output_of));
    if (examples.targets.defined()) targets.push_back(examples.targets);
    if (examples.weights.defined()) weights.push_back(examples.weights);
  });
  return {joined(outputs), joined(targets), joined(weights)};
}

struct Supervised::RowBatch final : Batch {
  torch::Tensor inputs, targets, weights;
  std::int64_t first = 0;  ///< number of this rank's first row in the batch of all
  double scale = 1;        ///< of a row's loss: the mean over ranks is that over all rows then
};

void SupervisedConfig::fields(core::FieldList& list) {
  std::vector<std::string> names;
  for (const Loss& known : losses()) names.push_back(known.name);
  list.add("batch", batch, "rows of a rank in a step", core::Range::between(1, 1e8));
  list.add(
      "shuffle_rows", shuffle_rows,
      "rows in one random order; of more rows, chunks of neighbours are drawn that make as many",
      core::Range::between(data::SamplePlan::chunk_rows, 1e9));
  list.add("loss", loss,
           "what is made small: " + core::join(names, ", ") +
               ", or a function in Python, MODULE:FUNCTION");
  loss_options.fields(list);
  list.add(
      "metrics", metrics,
      "functions in Python, MODULE:FUNCTION, of predictions, targets and, if they like, weights: "
      "each a number of every evaluation");
  list.named_groups("heads", heads,
                    "several outputs with losses of their own, in place of `loss`, by names of "
                    "yours: their weighted sum is made small");
  core::needs(list, heads.empty(), "no heads",
              {"loss", "label_smoothing", "class_weights", "metrics"});
  list.add("top_k", top_k, "classes among which the right one counts for top_K_accuracy",
           core::Range::between(1, 1e6));
  list.group("augment", augment,
             "changes of the rows to learn from, drawn anew for each row in each epoch");
  list.group("optimizer", optimizer, "updates of the network");
  list.choice("shared", shared,
              {{"weights_only", nn::SharedPart::weights_only},
               {"all", nn::SharedPart::all},
               {"none", nn::SharedPart::none}},
              "what ranks exchange of the network");
  list.group("dense", dense, "who evaluates networks of dense layers alone on a CPU");
}

bool SupervisedConfig::has_classes() const {
  if (heads.empty()) return loss_named(loss, "loss").of_classes();
  return std::any_of(heads.begin(), heads.end(),
                     [](const HeadConfig& head) { return head.of_classes(); });
}

SupervisedConfig SupervisedConfig::without_targets() const {
  SupervisedConfig plain = *this;
  plain.metrics = {};
  plain.loss_options = {};
  for (HeadConfig& head : plain.heads) head.loss_options = {};
  return plain;
}

Loss SupervisedConfig::loss_for(const nn::Network& network,
                                const data::RowStatistics& statistics) const {
  if (!heads.empty() && !metrics.empty())
    throw ConfigError("metrics", "judge one output, and there are heads. Leave either out.");
  if (!heads.empty()) return loss_of_heads(heads, network, statistics);
  if (!network.output_tensors().empty())
    throw ConfigError("heads",
                      text("the network has several outputs (", network.output_tensors().written(),
                           "). Name a head with a loss for each."));
  Loss made = loss_of(loss, loss_options, statistics, network.output()[0]);
  auto own = std::make_shared<std::vector<Metric>>();
  std::transform(metrics.begin(), metrics.end(), std::back_inserter(*own), python_metric);
  made.metrics = std::move(own);
  return made;
}

Supervised::Supervised(const SupervisedConfig& config, const std::vector<NetworkPart>& networks,
                       const data::ExampleRowsPtr& rows, std::uint64_t seed, torch::Device device,
                       const problem::RankPlace& place, const data::RowStatistics& statistics)
    : config_(config),
      rows_(rows->rows()),
      seed_(seed),
      device_(device),
      place_(place),
      mean_weight_(statistics.weight),
      loss_(loss_named(config.loss, "loss")),
      stream_(
          rows, data::SamplePlan(rows_, seed, config.shuffle_rows),
          [this](std::uint32_t step) {
            const BatchRows own = rows_of(step);
            return data::ExampleStream::Place{own.epoch, own.place(), own.count};
          },
          [this](const data::Examples& examples) { check_targets(examples); }) {
  for (const NetworkPart& part : networks)
    networks_.push_back({part, nn::Replica(part.network, config.shared, device)});
  if (std::ranges::all_of(
          networks, [](const NetworkPart& part) { return part.network->parameters().empty(); }))
    throw ConfigError("network",
                      "has no weights, so that nothing can learn. Give it a layer that has some.");
  if (networks.size() == 1)
    fused_ = nn::FusedMlp::make(*networks.front().network, config.dense, device);
  steps_per_epoch_ = BatchRows::steps_per_epoch(rows_, config.batch, place.ranks);
  const nn::Network& last = *networks.back().network;
  if (!config.heads.empty() || !last.output_tensors().empty())
    loss_ = config.loss_for(last, statistics);  // which knows what targets there are
  check(*rows);
  if (config.heads.empty()) loss_ = config.loss_for(last, statistics);
  try_loss(*rows);
  prepare_gpu(*rows);
  add_steps();
}

void Supervised::prepare_gpu(const data::ExampleRows& rows) {
  if (!config_.augment.changes()) move_to(device_, rows, stream_);
  std::vector<std::string> losses = {config_.loss};
  if (!config_.heads.empty()) losses.clear();
  for (const HeadConfig& head : config_.heads) losses.push_back(head.loss);
  is_repeatable_ = is_repeatable(device_, networks_, losses);
}

// What a function of a user does with rows is found by a trial, as it cannot be read.
void Supervised::try_loss(const data::ExampleRows& rows) {
  const torch::NoGradGuard no_grad;
  const data::Examples few = rows.first(3);
  if (few.rows() < 2) return;
  nn::Shape shape = output();
  shape.insert(shape.begin(), few.rows());
  const torch::Tensor outputs = torch::linspace(-1, 1, nn::numbers_in(shape)).reshape(shape);
  const auto first_of = [&](std::int64_t count) {
    return loss_.rows(outputs.narrow(0, 0, count), few.targets.narrow(0, 0, count))[0];
  };
  loss_is_of_rows_ = torch::allclose(first_of(few.rows()), first_of(1), 1e-4, 1e-6,
                                     /*equal_nan=*/true);
  if (loss_is_of_rows_) return;
  fused_ = nullptr;  // which learns from a few rows at a time
  if (few.weights.defined())
    throw ConfigError("data.weights",
                      text("weigh rows, and ", loss_.name, " says one number of several together. ",
                           "Let it give a number for each row, or leave them out."));
}

void Supervised::add_steps() {
  Pass pass;
  pass.name = "network";
  for (auto& [part, replica] : networks_) {
    nn::initialise_uniform(replica, core::RandomStream(seed_, "weights of the " + part.name));
    UpdateConfig update = config_.optimizer;
    update.learning_rate *= part.rate;
    rules_.push_back(make_update_rule(replica, update));
    pass.steps.push_back(steps_.size());
    steps_.push_back({part.name, &replica, rules_.back().get()});
    if (networks_.size() > 1)
      steps_.back().keys.exchange = core::text("networks.", part.name, ".exchange");
  }
  pass.separable = is_separable();
  pass.operations = operations_of(networks_);
  pass.loss_names = {"loss"};
  pass.prepare = [this](Batch&, std::int64_t) {
    if (fused_) fused_->pack(replica().leaves());
  };
  pass.gradients = [this](Batch& batch, const Tile& tile, std::span<nn::Leaves* const> leaves) {
    const auto& rows = static_cast<const RowBatch&>(batch);
    return fused_ && fused_->is_on_cpu() ? fused_gradients(rows, tile, *leaves[0])
                                         : gradients(rows, tile, leaves);
  };
  passes_.push_back(std::move(pass));
}

std::vector<Action> Supervised::schedule() const {
  std::vector<Action> actions = {{Action::Kind::gradients, 0}};
  for (std::size_t i = 0; i < steps_.size(); ++i) actions.push_back({Action::Kind::update, i});
  return actions;
}

bool Supervised::is_separable() const {
  return loss_is_of_rows_ && std::all_of(networks_.begin(), networks_.end(), [](const auto& one) {
           return one.part.network->separable();
         });
}

std::int64_t Supervised::weights() const {
  std::int64_t sum = 0;
  for (const auto& [part, replica] : networks_) sum += replica.size();
  return sum;
}

void Supervised::check(const data::ExampleRows& rows) const {
  check_batches(rows_, config_.batch, place_,
                least_rows(is_separable(), config_.norms_over_ranks, place_.ranks));
  // of files those that come first, and the others as they are read
  const nn::Shape inputs = nn::shape_of_rows(rows.first(1).inputs);
  const nn::Network& first = *networks_.front().part.network;
  if (inputs != first.input())
    throw ConfigError("network", text("takes rows of ", nn::written(first.input()),
                                      ", the inputs have ", nn::written(inputs), "."));
  config_.augment.check(inputs);
  rows.look_at_targets([this](const data::Examples& some) { check_targets(some); });
}

void Supervised::check_targets(const data::Examples& examples) const {
  if (!loss_.heads)
    return optim::check_targets(loss_, output(), examples.targets, "network", "data");
  const core::RowTensors targets = examples.target_tensors();
  for (std::size_t i = 0; i < loss_.heads->size(); ++i) {
    const Head& head = (*loss_.heads)[i];
    const std::string key = "heads." + head.name;
    if (i >= targets.size() || targets[i].name != head.name)
      throw ConfigError(key, "has no target in the rows. Give it one by its name.");
    const torch::Tensor own = targets[i].of(examples.targets);
    optim::check_targets(head.loss, head.output.shape,
                         head.loss.of_classes() ? own.flatten().to(torch::kInt64) : own, key, key);
  }
}

BatchRows Supervised::rows_of(std::uint32_t step) const {
  return BatchRows::of(step, rows_, config_.batch, place_);
}

std::unique_ptr<Batch> Supervised::draw(std::uint32_t step) const {
  const BatchRows rows = rows_of(step);
  auto batch = std::make_unique<RowBatch>();
  batch->step = step;
  batch->first = rows.first;
  batch->samples = rows.count;
  batch->weight = static_cast<double>(rows.all);
  batch->scale = static_cast<double>(place_.ranks) / (static_cast<double>(rows.all) * mean_weight_);
  take_rows(step, *batch);
  return batch;
}

void Supervised::take_rows(std::uint32_t step, RowBatch& batch) const {
  const BatchRows rows = rows_of(step);
  const data::Examples examples = stream_.at(step);
  put(augmented(examples.inputs, config_.augment,
                core::RandomStream(seed_, "augmentation", rows.epoch), rows.place()),
      device_, batch.inputs);
  put(examples.targets, device_, batch.targets);
  put(examples.weights, device_, batch.weights);
}

// The last batch of a data epoch may be smaller.
Optimizer::Graphs Supervised::graphs_of(std::uint32_t step) const {
  if (!is_repeatable_) return {};
  return {.number = rows_of(step).all == rows_of(1).all ? 0 : 1};
}

void Supervised::redraw(Batch& batch, std::uint32_t step) const {
  take_rows(step, static_cast<RowBatch&>(batch));
}

torch::Tensor Supervised::gradients(const RowBatch& batch, const Tile& tile,
                                    std::span<nn::Leaves* const> leaves) const {
  torch::Tensor values = batch.inputs.narrow(0, tile.first, tile.samples);
  std::vector<torch::Tensor> weights;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    const NetworkPart& part = networks_[i].part;
    const core::RandomStream random(seed_, "dropout of the " + part.name, batch.step);
    values = fused_ ? (*fused_)(values.flatten(1), *leaves[i])
                    : (*part.network)(*leaves[i], values,
                                      {.training = &random,
                                       .first_sample = batch.first + tile.first,
                                       .add_up = batch.add_up});
    weights.insert(weights.end(), leaves[i]->tensors.begin(), leaves[i]->tensors.end());
  }
  const torch::Tensor loss = this->loss(batch, tile, values);
  loss.backward({}, {}, false, weights);
  return loss.detach().to(torch::kFloat64).reshape({1});
}

// shape: outputs of the tile's rows -> []
torch::Tensor Supervised::loss(const RowBatch& batch, const Tile& tile,
                               const torch::Tensor& outputs) const {
  torch::Tensor rows = loss_.rows(outputs, batch.targets.narrow(0, tile.first, tile.samples));
  if (batch.weights.defined()) rows = rows * batch.weights.narrow(0, tile.first, tile.samples);
  return rows.sum() * batch.scale;
}

// The passes ask for the slopes of a few rows at a time, whose loss LibTorch differentiates.
torch::Tensor Supervised::fused_gradients(const RowBatch& batch, const Tile& tile,
                                          nn::Leaves& leaves) const {
  const std::int64_t width = output()[0];
  torch::Tensor sum = torch::zeros({1}, torch::kFloat64);
  const auto slopes = [&](std::span<const float> outputs, std::int64_t first, std::span<float> to) {
    const auto rows = static_cast<std::int64_t>(outputs.size()) / width;
    const torch::Tensor leaf = torch::empty({rows, width});
    std::copy(outputs.begin(), outputs.end(), leaf.data_ptr<float>());
    leaf.requires_grad_();
    const torch::AutoGradMode with_gradients(true);
    const torch::Tensor loss =
        this->loss(batch, {.first = tile.first + first, .samples = rows}, leaf);
    const torch::Tensor gradient = torch::autograd::grad({loss}, {leaf})[0].contiguous();
    std::copy_n(gradient.data_ptr<float>(), to.size(), to.begin());
    sum += loss.detach();
    core::poll();
  };
  fused_->learn(batch.inputs.narrow(0, tile.first, tile.samples).flatten(1), slopes, leaves);
  return sum;
}

const torch::Tensor& Supervised::inputs_of(const Batch& batch) {
  return static_cast<const RowBatch&>(batch).inputs;
}

std::map<std::string, double> Supervised::metrics(const Prediction& prediction,
                                                  const std::vector<std::string>& names) const {
  return optim::metrics(loss_, prediction.outputs, prediction.targets, prediction.weights,
                        config_.top_k, names);
}

void Supervised::state(nn::StateList& list) {
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    list.part(networks_[i].part.name, networks_[i].replica);
    list.part(networks_[i].part.name + "_update", *rules_[i]);
  }
}

}  // namespace sagips::optim
