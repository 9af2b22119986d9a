#include "sagips/optim/learn/supervised.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/nn/initialise.hpp"
#include "sagips/optim/learn/metrics.hpp"

namespace sagips::optim {

using core::ConfigError;
using core::text;

namespace {

constexpr std::int64_t rows_at_once = 1000;  // of a prediction

nn::Shape shape_of_rows(const torch::Tensor& rows) {
  return nn::Shape(rows.sizes().begin() + 1, rows.sizes().end());
}

}  // namespace

struct Supervised::RowBatch final : Batch {
  torch::Tensor inputs, targets, weights;
  std::int64_t first = 0;  ///< number of this rank's first row in the batch of all
  double scale = 1;        ///< of a row's loss: the mean over ranks is that over all rows then
};

void SupervisedConfig::fields(core::FieldList& list) {
  std::vector<std::string> names;
  for (const Loss& known : losses()) names.push_back(known.name);
  list.add("batch", batch, "rows of a rank in a step", core::Range::between(1, 1e8));
  list.add("loss", loss, "what is made small: " + core::join(names, ", "));
  list.group("optimizer", optimizer, "updates of the network");
  list.choice("shared", shared,
              {{"weights_only", nn::SharedPart::weights_only},
               {"all", nn::SharedPart::all},
               {"none", nn::SharedPart::none}},
              "what ranks exchange of the network");
  list.group("dense", dense, "who evaluates networks of dense layers alone on a CPU");
}

Supervised::Supervised(const SupervisedConfig& config, std::shared_ptr<const nn::Network> network,
                       data::Examples examples, std::uint64_t seed, torch::Device device,
                       const problem::RankPlace& place)
    : config_(config),
      network_(std::move(network)),
      examples_(std::move(examples)),
      seed_(seed),
      device_(device),
      place_(place),
      loss_(loss_named(config.loss, "loss")),
      replica_(network_, config.shared, device),
      fused_(nn::FusedMlp::make(*network_, config.dense, device)) {
  const std::int64_t together = config.batch * place.ranks;
  steps_per_epoch_ = (examples_.rows() + together - 1) / together;
  check();
  nn::initialise_uniform(replica_, core::RandomStream(seed, "weights of the network"));
  rule_ = make_update_rule(replica_, config.optimizer);
  steps_.push_back({"network", &replica_, rule_.get()});
  Pass pass;
  pass.name = "network";
  pass.steps = {0};
  pass.separable = network_->separable();
  pass.loss_names = {"loss"};
  pass.prepare = [this](Batch&, std::int64_t) {
    if (fused_) fused_->pack(replica_.leaves());
  };
  pass.gradients = [this](Batch& batch, const Tile& tile, std::span<nn::Leaves* const> leaves) {
    const auto& rows = static_cast<const RowBatch&>(batch);
    return fused_ ? fused_gradients(rows, tile, *leaves[0]) : gradients(rows, tile, *leaves[0]);
  };
  passes_.push_back(std::move(pass));
}

void Supervised::check() const {
  if (examples_.rows() < place_.ranks)
    throw ConfigError("data", text(examples_.rows(), " rows for ", place_.ranks,
                                   " ranks. Give more rows, or use fewer ranks."));
  const std::int64_t last =
      examples_.rows() - (steps_per_epoch_ - 1) * config_.batch * place_.ranks;
  if (!network_->separable() && last / place_.ranks < 2)
    throw ConfigError("batch", text("the last batch of a data epoch has ", last,
                                    last == 1 ? " row for " : " rows for ", place_.ranks,
                                    place_.ranks > 1 ? " ranks" : " rank",
                                    ", and batch norm needs two on each. Change it."));
  const nn::Shape inputs = shape_of_rows(examples_.inputs);
  if (inputs != network_->input())
    throw ConfigError("network", text("takes rows of ", nn::written(network_->input()),
                                      ", the inputs have ", nn::written(inputs), "."));
  check_targets(examples_);
}

void Supervised::check_targets(const data::Examples& examples) const {
  const nn::Shape targets = shape_of_rows(examples.targets);
  if (!loss_.of_classes()) {
    if (targets != network_->output())
      throw ConfigError("network", text("gives rows of ", nn::written(network_->output()), ", and ",
                                        loss_.name, " compares them with targets of ",
                                        nn::written(targets), ". Change its last layer."));
    return;
  }
  if (network_->output().size() != 1)
    throw ConfigError("network", text("gives rows of ", nn::written(network_->output()), ", and ",
                                      loss_.name, " needs a row of one number for each class."));
  const std::int64_t classes = network_->output()[0];
  const torch::Tensor wrong =
      ((examples.targets < 0) | (examples.targets >= classes)).nonzero().flatten();
  if (wrong.numel() > 0) {
    const auto row = wrong[0].item<std::int64_t>();
    throw ConfigError(
        "data", text("row ", row + 1, " is of class ", examples.targets[row].item<std::int64_t>(),
                     ", and the network knows 0 to ", classes - 1, "."));
  }
}

std::unique_ptr<Batch> Supervised::draw(std::uint32_t step) const {
  const auto number = static_cast<std::int64_t>(step) - 1;
  const auto epoch = static_cast<std::uint32_t>(number / steps_per_epoch_ + 1);
  const std::int64_t rows = examples_.rows();
  if (ordered_epoch_ != epoch) {
    order_ = torch::tensor(
        data::shuffled_rows(rows, core::RandomStream(seed_, "order of the rows", epoch)));
    ordered_epoch_ = epoch;
  }
  const std::int64_t together = config_.batch * place_.ranks;
  const std::int64_t begin = number % steps_per_epoch_ * together;
  const std::int64_t all = std::min(together, rows - begin);
  auto batch = std::make_unique<RowBatch>();
  batch->step = step;
  batch->first = all * place_.rank / place_.ranks;
  batch->samples = all * (place_.rank + 1) / place_.ranks - batch->first;
  batch->scale = static_cast<double>(place_.ranks) / static_cast<double>(all);
  const data::Examples chosen =
      examples_.chosen(order_.narrow(0, begin + batch->first, batch->samples));
  batch->inputs = chosen.inputs.to(device_);
  batch->targets = chosen.targets.to(device_);
  if (chosen.weights.defined()) batch->weights = chosen.weights.to(device_);
  return batch;
}

torch::Tensor Supervised::gradients(const RowBatch& batch, const Tile& tile,
                                    nn::Leaves& leaves) const {
  const core::RandomStream random(seed_, "dropout of the network", batch.step);
  const torch::Tensor outputs =
      (*network_)(leaves, batch.inputs.narrow(0, tile.first, tile.samples),
                  {.training = &random, .first_sample = batch.first + tile.first});
  const torch::Tensor loss = this->loss(batch, tile, outputs);
  loss.backward({}, {}, false, leaves.tensors);
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
  const std::int64_t width = network_->output()[0];
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
  };
  fused_->learn(batch.inputs.narrow(0, tile.first, tile.samples).flatten(1), slopes, leaves);
  return sum;
}

const torch::Tensor& Supervised::inputs_of(const Batch& batch) {
  return static_cast<const RowBatch&>(batch).inputs;
}

torch::Tensor Supervised::outputs(const torch::Tensor& inputs) const {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> pieces;
  for (const torch::Tensor& piece : inputs.split(rows_at_once))
    pieces.push_back((*network_)(replica_.leaves(), piece.to(device_), {}).to(torch::kCPU));
  return torch::cat(pieces);
}

std::map<std::string, double> Supervised::metrics(const data::Examples& examples) const {
  return optim::metrics(loss_, outputs(examples.inputs), examples.targets, examples.weights);
}

void Supervised::state(nn::StateList& list) {
  list.part("network", replica_);
  list.part("network_update", *rule_);
}

}  // namespace sagips::optim
