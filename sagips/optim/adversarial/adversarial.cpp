#include "sagips/optim/adversarial/adversarial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/nn/initialise.hpp"

namespace sagips::optim {

using core::text;

struct Adversarial::RowBatch final : Batch {
  torch::Tensor examples, targets;
  std::int64_t first = 0;  ///< number of this rank's first row in the batch of all
  double scale = 1;        ///< of a row's loss: the mean over ranks is that over all rows then
  /// What was made for the discriminator, by tile, and whether measures find it empty.
  std::vector<torch::Tensor> made{};
  std::vector<torch::Tensor> is_empty{};
};

Adversarial::Adversarial(const AdversarialConfig& config, const data::ExampleRowsPtr& rows,
                         const Measures& measures, std::uint64_t seed, torch::Device device,
                         const problem::RankPlace& place)
    : config_(config),
      rows_(rows->rows()),
      seed_(seed),
      device_(device),
      place_(place),
      collapse_(config.collapse, device),
      stream_(
          rows, data::SamplePlan(rows_, seed, config.shuffle_rows),
          [this](std::uint32_t step) {
            const BatchRows own = rows_of(step);
            return data::ExampleStream::Place{own.epoch, own.place(), own.count};
          },
          [this](const data::Examples& examples) { check_targets(examples); }) {
  AdversarialNetworks made(config, rows->first(1), measures);
  input_ = std::move(made.input);
  judges_ = std::move(made.judges);
  for (const NetworkPart& part : {made.generator, made.discriminator})
    networks_.push_back({part, nn::Replica(part.network, nn::SharedPart::all, device)});
  check(*rows);
  move_to(device_, *rows, stream_);
  const float none = std::numeric_limits<float>::infinity();
  const std::int64_t numbers = rows->first(1).targets.size(1);
  range_ = torch::stack({torch::full({numbers}, none), torch::full({numbers}, -none)}).to(device_);
  const UpdateConfig* const updates[] = {&config_.generator.optimizer,
                                         &config_.discriminator.optimizer};
  for (const Player player : {maker, judge}) {
    auto& [part, replica] = networks_[player];
    nn::initialise_uniform(replica, core::RandomStream(seed_, "weights of the " + part.name));
    const std::string key = part.name + ".optimizer";
    rules_.push_back(make_update_rule(replica, *updates[player], key));
    steps_.push_back({part.name, &replica, rules_.back().get()});
    steps_.back().keys.optimizer = key;
  }
  std::vector<std::string> losses;
  for (const HeadConfig& head : config_.outputs()) losses.push_back(head.loss);
  for (const MeasureConfig& measure : config_.measures) losses.push_back(measure.loss);
  is_repeatable_ = is_repeatable(device_, networks_, losses);
  constant_judge_ = networks_[judge].replica.leaves_over(networks_[judge].replica.weights());
  add_passes();
}

void Adversarial::check(const data::ExampleRows& rows) const {
  const bool separable = network(maker).separable() && network(judge).separable();
  check_batches(rows_, config_.batch, place_,
                least_rows(separable, config_.norms_over_ranks, place_.ranks));
  rows.look_at_targets([this](const data::Examples& some) { check_targets(some); });
}

void Adversarial::check_targets(const data::Examples& examples) const {
  const auto check_one = [&](const Head& head, const nn::Shape& output, const std::string& key) {
    optim::check_targets(head.loss, output, head.targets_of(examples.targets), key, key);
  };
  for (std::size_t i = 1; i < judges_.heads.size(); ++i)
    check_one(judges_.heads[i], judges_.heads[i].output.shape,
              "discriminator.heads." + judges_.heads[i].name);
  for (const Judges::Measured& measure : judges_.measures)  // any shape of as many numbers
    check_one(measure.head, measure.head.target.shape, "measures." + measure.head.name);
}

// Passes: real examples, made ones, then each update of the generator.
void Adversarial::add_passes() {
  for (const bool real : {true, false}) {
    Pass own = pass(real ? "discriminator real" : "discriminator made", judge,
                    real ? "discriminator_real" : "discriminator_made");
    own.separable = network(judge).separable();
    if (!real)
      own.prepare = [](Batch& batch, std::int64_t tiles) {
        static_cast<RowBatch&>(batch).made.resize(static_cast<std::size_t>(tiles));
        static_cast<RowBatch&>(batch).is_empty.resize(static_cast<std::size_t>(tiles));
      };
    own.gradients = [this, real](Batch& batch, const Tile& tile, auto leaves) {
      return discriminator_gradients(static_cast<RowBatch&>(batch), tile, *leaves[0], real);
    };
    passes_.push_back(std::move(own));
  }
  for (std::int64_t update = 1; update <= config_.generator_updates; ++update) {
    const std::string use = text("generator update ", update);
    Pass own = pass(use, maker, "");
    own.separable = network(judge).separable() && network(maker).separable();
    own.prepare = [this, update](Batch& batch, std::int64_t) {
      if (update == 1) watch(static_cast<RowBatch&>(batch));
    };
    own.gradients = [this, use](Batch& batch, const Tile& tile, auto leaves) {
      return generator_gradients(static_cast<RowBatch&>(batch), tile, *leaves[0], use);
    };
    passes_.push_back(std::move(own));
  }
}

// losses: a prefix beside the network's name; empty: none
Pass Adversarial::pass(const std::string& name, Player learns, const std::string& losses) const {
  Pass pass;
  pass.name = name;
  pass.steps = {learns};
  const std::string& player = networks_[learns].part.name;
  pass.loss_names = {player};
  if (!losses.empty()) pass.loss_names.push_back(losses);
  for (const std::string& judge : judges_.names())
    pass.loss_names.push_back(text(losses.empty() ? player : losses, ".", judge));
  pass.operations = operations_of(networks_);
  return pass;
}

std::vector<Action> Adversarial::schedule() const {
  std::vector<Action> actions;
  for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
    actions.push_back({Action::Kind::gradients, pass});
    actions.push_back({Action::Kind::update, passes_[pass].steps[0]});
  }
  return actions;
}

std::int64_t Adversarial::steps_per_epoch() const {
  return BatchRows::steps_per_epoch(rows_, config_.batch, place_.ranks);
}

std::int64_t Adversarial::weights() const {
  return networks_[maker].replica.size() + networks_[judge].replica.size();
}

std::unique_ptr<Batch> Adversarial::draw(std::uint32_t step) const {
  const BatchRows rows = rows_of(step);
  auto batch = std::make_unique<RowBatch>();
  batch->step = step;
  batch->first = rows.first;
  batch->samples = rows.count;
  batch->weight = static_cast<double>(rows.all);
  batch->scale = static_cast<double>(place_.ranks) / static_cast<double>(rows.all);
  take_rows(step, *batch);
  return batch;
}

void Adversarial::take_rows(std::uint32_t step, RowBatch& batch) const {
  const data::Examples examples = stream_.at(step);
  put(examples.inputs, device_, batch.examples);
  put(examples.targets, device_, batch.targets);
}

// The last batch of a data epoch may be smaller.
Optimizer::Graphs Adversarial::graphs_of(std::uint32_t step) const {
  if (!is_repeatable_) return {};
  return {.number = rows_of(step).all == rows_of(1).all ? 0 : 1};
}

void Adversarial::redraw(Batch& batch, std::uint32_t step) const {
  take_rows(step, static_cast<RowBatch&>(batch));
}

// A few labels are wrong, so that the discriminator is never quite sure. shape: [rows, 1]
torch::Tensor Adversarial::labels(const RowBatch& batch, const Tile& tile, const std::string& use,
                                  double real) const {
  if (config_.label_flips == 0)
    return torch::full({tile.samples, 1}, real, torch::dtype(torch::kFloat32).device(device_));
  const core::RandomStream random(seed_, "labels of " + use, batch.step);
  env::Noise numbers(std::make_shared<env::PhiloxNoise>(random), tile.samples, 1,
                     batch.first + tile.first, torch::kFloat32, device_);
  return torch::where(numbers.uniform() < config_.label_flips, 1 - real, real).to(torch::kFloat32);
}

torch::Tensor Adversarial::discriminator_gradients(RowBatch& batch, const Tile& tile,
                                                   nn::Leaves& leaves, bool real) const {
  const torch::Tensor targets = batch.targets.narrow(0, tile.first, tile.samples);
  const std::int64_t first = batch.first + tile.first;
  const std::string use = real ? "real examples" : "made examples";
  torch::Tensor examples = batch.examples.narrow(0, tile.first, tile.samples);
  if (!real) {
    const torch::NoGradGuard no_grad;
    const core::RandomStream noise(seed_, "noise of made examples", batch.step);
    examples = network(maker)(networks_[maker].replica.leaves(), input_(targets, noise, first), {});
    batch.made[static_cast<std::size_t>(tile.index)] = examples;
  }
  const core::RandomStream random(seed_, "dropout of the discriminator, " + use, batch.step);
  const Judged found =
      judges_(network(judge)(leaves, examples,
                             {.training = &random, .first_sample = first, .add_up = batch.add_up}),
              examples, targets, labels(batch, tile, use, real ? 1 : 0), false);
  (found.loss * batch.scale).backward({}, {}, false, leaves.tensors);
  if (!real) batch.is_empty[static_cast<std::size_t>(tile.index)] = are_empty(found);
  const torch::Tensor told = found.told(batch.scale);
  return torch::cat({told.narrow(0, 0, 1), told});
}

// The discriminator stays as it is: its weights are constants here, so its layers keep less for the way back.
torch::Tensor Adversarial::generator_gradients(const RowBatch& batch, const Tile& tile,
                                               nn::Leaves& leaves, const std::string& use) const {
  const torch::Tensor targets = batch.targets.narrow(0, tile.first, tile.samples);
  const std::int64_t first = batch.first + tile.first;
  const core::RandomStream noise(seed_, "noise of " + use, batch.step),
      making(seed_, "dropout of the generator, " + use, batch.step),
      judging(seed_, "dropout of the discriminator, " + use, batch.step);
  const torch::Tensor examples =
      network(maker)(leaves, input_(targets, noise, first),
                     {.training = &making, .first_sample = first, .add_up = batch.add_up});
  const torch::Tensor outputs =
      network(judge)(constant_judge_, examples,
                     {.training = &judging, .first_sample = first, .add_up = batch.add_up});
  const Judged found =
      judges_(outputs, examples, targets, torch::ones({tile.samples, 1}, targets.options()), true);
  (found.loss * batch.scale).backward({}, {}, false, leaves.tensors);
  return found.told(batch.scale);
}

// Whether a measure finds all rows empty. shape: [] bool
torch::Tensor Adversarial::are_empty(const Judged& found) const {
  torch::Tensor are_empty = torch::zeros({}, torch::dtype(torch::kBool).device(device_));
  for (std::size_t i = 0; i < judges_.measures.size(); ++i)
    if (judges_.measures[i].head.loss.name == "mean_absolute_percentage")
      are_empty = are_empty | found.each[judges_.heads.size() + i].eq(100).all();
  return are_empty;
}

// Before the generator learns from it, on one thread.
void Adversarial::watch(const RowBatch& batch) {
  if (batch.samples == 0) return;
  const torch::Tensor targets = batch.targets.to(torch::kFloat32);
  range_.copy_(torch::stack(
      {torch::minimum(range_[0], targets.amin(0)), torch::maximum(range_[1], targets.amax(0))}));
  if (config_.collapse == 0) return;
  collapse_.see(spread_of(torch::cat(batch.made)), spread_of(batch.examples),
                torch::stack(batch.is_empty).all());
}

std::string Adversarial::reason_to_stop() const {
  std::string why = collapse_.reason();
  if (why.empty()) return why;
  return text(
      why,
      ". Lower generator.optimizer.learning_rate and discriminator.optimizer.learning_rate, "
      "or let the discriminator learn less (label_flips, dropout).");
}

void Adversarial::state(nn::StateList& list) {
  for (const Player player : {maker, judge}) {
    list.part(networks_[player].part.name, networks_[player].replica);
    list.part(networks_[player].part.name + "_update", *rules_[player]);
  }
  list.part("collapse", collapse_);
  list.field("range_of_targets", range_);
}

}  // namespace sagips::optim
