#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sagips/data/example_stream.hpp"
#include "sagips/data/examples.hpp"
#include "sagips/nn/fused_mlp.hpp"
#include "sagips/nn/network.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/optim/learn/augment.hpp"
#include "sagips/optim/learn/batch_rows.hpp"
#include "sagips/optim/learn/heads.hpp"
#include "sagips/optim/learn/losses.hpp"
#include "sagips/optim/learn/optimizer.hpp"
#include "sagips/problem/rank_place.hpp"

namespace sagips::optim {

struct SupervisedConfig {
  std::int64_t batch = 100;  ///< rows of a rank in a step
  std::int64_t shuffle_rows = data::SamplePlan::default_shuffle_rows;
  std::string loss = "cross_entropy";
  LossOptions loss_options{};
  std::vector<std::string> metrics{};  ///< functions in Python
  HeadConfigs heads{};  ///< in place of the loss, where a network has several outputs
  std::int64_t top_k = 3;
  AugmentConfig augment{};
  UpdateConfig optimizer{.learning_rate = 1e-3, .beta1 = 0.9};
  nn::SharedPart shared = nn::SharedPart::all;
  nn::DenseConfig dense{};
  bool norms_over_ranks = false;  ///< batch norms see the rows of all ranks; no key of its own
  void fields(core::FieldList& list);
  bool has_classes() const;  ///< whether any loss is of classes
  /// Of rows alone: without targets nothing weighs classes, and metrics have nothing to judge by.
  SupervisedConfig without_targets() const;
  /// The loss of the last network's outputs. throws: ConfigError where it cannot take them
  Loss loss_for(const nn::Network& network, const data::RowStatistics& statistics) const;
};

/// network, data: what a message names; targets: as the loss takes them
/// throws: ConfigError for targets that the loss cannot compare with such outputs
void check_targets(const Loss& loss, const nn::Shape& output, const torch::Tensor& targets,
                   const std::string& network, const std::string& data);

/// One of the networks of a learning problem; each takes what the one before it gives.
struct NetworkPart {
  std::string name = "network";
  std::shared_ptr<const nn::Network> network;
  double rate = 1;  ///< times the learning rate; 0: it stays as it begins
};

/// A network and its weights.
struct WeightedNetwork {
  NetworkPart part;
  nn::Replica replica;
};

/// Multiply-adds of a row, forward; 0: not known.
std::int64_t operations_of(std::span<const WeightedNetwork> networks);

/// What each rank has to see in a step: where rows depend on each other, two of them on it or over ranks.
std::int64_t least_rows(bool separable, bool norms_over_ranks, std::int64_t ranks);

/// least: of each rank in a step. throws: ConfigError for fewer rows than ranks, and a batch of fewer
void check_batches(std::int64_t rows, std::int64_t batch, const problem::RankPlace& place,
                   std::int64_t least);

/// Rows that are in memory go to a GPU where they take less than half of what is free there.
void move_to(const torch::Device& device, const data::ExampleRows& rows,
             data::ExampleStream& stream);

/// Into a tensor of an earlier step, where there is one: a graph finds the numbers there.
void put(const torch::Tensor& from, const torch::Device& device, torch::Tensor& to);

/// Whether steps of such networks and losses can be graphs on the device: what others have written may do
/// something else in each step.
bool is_repeatable(const torch::Device& device, std::span<const WeightedNetwork> networks,
                   const std::vector<std::string>& losses);

/// What networks say of rows when they predict, on the CPU, beside what these are.
struct Prediction {
  torch::Tensor outputs;           ///< [rows, ...]
  torch::Tensor targets, weights;  ///< of the rows; undefined where these have none
};

/// In pieces, so that the inputs of rows in files need not fit into memory; outputs and targets do.
/// check: is called with each piece, and throws for one that does not fit
Prediction prediction_of(std::span<const WeightedNetwork> networks, const data::ExampleRows& rows,
                         const std::function<void(const data::Examples&)>& check = {});

/// One or several networks, one behind the other, that learn targets from inputs.
///
/// Each data epoch has an order of its own (see data::SamplePlan); ranks take parts of the same batch, so
/// that each row is seen once a data epoch by all of them together. The last batch of a data epoch may be
/// smaller; gradients are those of the mean over all ranks' rows.
class Supervised final : public Optimizer {
 public:
  /// throws: ConfigError for a network whose output does not fit the loss, or too few rows for the ranks
  /// statistics: of the rows, whose inputs are standardised already where they are to be
  Supervised(const SupervisedConfig& config, const std::vector<NetworkPart>& networks,
             const data::ExampleRowsPtr& rows, std::uint64_t seed, torch::Device device,
             const problem::RankPlace& place = {}, const data::RowStatistics& statistics = {});
  /// One network, with rows in memory.
  Supervised(const SupervisedConfig& config, std::shared_ptr<const nn::Network> network,
             data::Examples examples, std::uint64_t seed, torch::Device device,
             const problem::RankPlace& place = {})
      : Supervised(config, std::vector<NetworkPart>{{.network = std::move(network)}},
                   data::hold(std::move(examples)), seed, device, place) {}
  Supervised(Supervised&&) = delete;  // its steps point into it

  std::unique_ptr<Batch> draw(std::uint32_t step) const override;
  Graphs graphs_of(std::uint32_t step) const override;
  void redraw(Batch& batch, std::uint32_t step) const override;
  std::int64_t steps_per_epoch() const override { return steps_per_epoch_; }
  std::vector<UpdateStep>& steps() override { return steps_; }
  std::vector<Pass>& passes() override { return passes_; }
  std::vector<Action> schedule() const override;
  void state(nn::StateList& list) override;

  /// throws: ConfigError for targets that the loss cannot compare with the network's outputs
  void check_targets(const data::Examples& examples) const;
  std::vector<WeightedNetwork>& networks() { return networks_; }
  const std::vector<WeightedNetwork>& networks() const { return networks_; }
  nn::Replica& replica() { return networks_.front().replica; }  ///< of the first
  std::int64_t weights() const;                                 ///< of all networks
  const Loss& loss() const { return loss_; }
  /// The inputs of a batch that `draw` has drawn. shape: [samples, ...]
  static const torch::Tensor& inputs_of(const Batch& batch);
  Prediction predict(const data::ExampleRows& rows) const {
    return prediction_of(networks_, rows,
                         [this](const data::Examples& examples) { check_targets(examples); });
  }
  /// See optim/learn/metrics.hpp. names: of classes, or of targets
  std::map<std::string, double> metrics(const Prediction& prediction,
                                        const std::vector<std::string>& names = {}) const;
  /// Time that steps have waited for rows of files [s].
  double waited_s() const { return stream_.waited_s(); }

 private:
  struct RowBatch;
  void check(const data::ExampleRows& rows) const;
  void try_loss(const data::ExampleRows& rows);
  BatchRows rows_of(std::uint32_t step) const;
  void prepare_gpu(const data::ExampleRows& rows);
  void take_rows(std::uint32_t step, RowBatch& batch) const;
  void add_steps();
  bool is_separable() const;
  const nn::Shape& output() const { return networks_.back().part.network->output(); }
  torch::Tensor gradients(const RowBatch& batch, const Tile& tile,
                          std::span<nn::Leaves* const> leaves) const;
  torch::Tensor loss(const RowBatch& batch, const Tile& tile, const torch::Tensor& outputs) const;
  torch::Tensor fused_gradients(const RowBatch& batch, const Tile& tile, nn::Leaves& leaves) const;

  SupervisedConfig config_;
  std::int64_t rows_;
  std::uint64_t seed_;
  torch::Device device_;
  problem::RankPlace place_;
  std::int64_t steps_per_epoch_ = 1;
  double mean_weight_;  ///< of the rows
  Loss loss_;
  bool is_repeatable_ = false;   ///< on a GPU, as graphs
  bool loss_is_of_rows_ = true;  ///< whether a row's loss is its own, whatever stands beside it
  std::vector<WeightedNetwork> networks_;
  std::vector<std::unique_ptr<UpdateRule>> rules_;  ///< of each network
  std::unique_ptr<nn::FusedMlp> fused_;             ///< null: LibTorch evaluates the networks
  std::vector<UpdateStep> steps_;
  std::vector<Pass> passes_;
  mutable data::ExampleStream stream_;  ///< its thread looks into what is above
};

}  // namespace sagips::optim
