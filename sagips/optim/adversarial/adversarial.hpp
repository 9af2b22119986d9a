#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sagips/data/example_stream.hpp"
#include "sagips/data/examples.hpp"
#include "sagips/nn/network.hpp"
#include "sagips/optim/adversarial/adversarial_config.hpp"
#include "sagips/optim/adversarial/collapse.hpp"
#include "sagips/optim/adversarial/conditions.hpp"
#include "sagips/optim/learn/batch_rows.hpp"
#include "sagips/optim/learn/optimizer.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "sagips/problem/learning.hpp"
#include "sagips/problem/rank_place.hpp"

namespace sagips::optim {

using Measures = std::map<std::string, problem::ExampleSource::Measure>;

/// What is said of some rows of examples.
struct Judged {
  torch::Tensor loss;               ///< weighted sum over judges, of all rows
  std::vector<torch::Tensor> each;  ///< of each judge, not weighted, [rows]

  /// The loss and each judge's part of it, as a pass tells them. shape: [1 + judges] float64
  torch::Tensor told(double scale) const;
};

/// What examples are judged by, beside whether they are real: outputs of the discriminator, and functions
/// of an example.
struct Judges {
  std::vector<Head> heads{};  ///< of the discriminator; the first is `real`, which has no target
  struct Measured {
    Head head;  ///< its target and its loss
    problem::ExampleSource::Measure of;
  };
  std::vector<Measured> measures{};

  std::vector<std::string> names() const;
  /// by_measures: their losses count, too
  /// shapes: outputs of the discriminator, examples and targets of the same rows; is_real [rows, 1]
  Judged operator()(const torch::Tensor& outputs, const torch::Tensor& examples,
                    const torch::Tensor& targets, const torch::Tensor& is_real,
                    bool by_measures) const;
};

/// The networks of a generation problem for rows of such examples, which have the targets that
/// `AdversarialConfig::targets` lists.
struct AdversarialNetworks {
  /// throws: ConfigError for layers that do not fit each other or the examples, heads, measures or
  /// conditions that there are not
  AdversarialNetworks(const AdversarialConfig& config, const data::Examples& one,
                      const Measures& measures);

  GeneratorInput input;
  Judges judges;
  NetworkPart generator, discriminator;
};

/// A network that makes examples under conditions, and one that tells them from real ones.
///
/// A step: the discriminator learns from real examples, then, with the weights that it has then, from ones
/// made for the same conditions by a generator that predicts; then the generator learns `generator_updates`
/// times, from noise of its own each time, to have its examples taken for real, both networks in training.
/// Each of these is an update of its own, with an exchange of its own between ranks. Gradients are those of
/// the mean over all ranks' rows.
/// source: Goodfellow et al., NeurIPS 2014; heads against conditions: Odena et al., ICML 2017; the order of
/// updates: Vallecorsa et al., EPJ Web of Conferences 214 (2019) 02010
class Adversarial final : public Optimizer {
 public:
  /// throws: ConfigError for too few rows for the ranks, and as `AdversarialNetworks`
  Adversarial(const AdversarialConfig& config, const data::ExampleRowsPtr& rows,
              const Measures& measures, std::uint64_t seed, torch::Device device,
              const problem::RankPlace& place = {});
  Adversarial(Adversarial&&) = delete;  // its steps point into it

  std::unique_ptr<Batch> draw(std::uint32_t step) const override;
  Graphs graphs_of(std::uint32_t step) const override;
  void redraw(Batch& batch, std::uint32_t step) const override;
  std::int64_t steps_per_epoch() const override;
  std::vector<UpdateStep>& steps() override { return steps_; }
  std::vector<Pass>& passes() override { return passes_; }
  std::vector<Action> schedule() const override;
  std::string reason_to_stop() const override;
  void state(nn::StateList& list) override;

  /// throws: ConfigError for targets that a head or a measure cannot compare
  void check_targets(const data::Examples& examples) const;
  /// The generator, then the discriminator.
  std::vector<WeightedNetwork>& networks() { return networks_; }
  const GeneratorInput& input() const { return input_; }
  std::int64_t weights() const;
  /// The smallest and largest of each number of the targets of the rows that this rank has learned from; no
  /// number, from inf to -inf, before there are any. shape: [2, numbers], on the CPU
  torch::Tensor range_of_targets() const { return range_.cpu(); }
  /// Examples made for the conditions of these targets, by noise of the run's seed for such a purpose.
  /// shapes: targets [rows, numbers] -> [rows, ...], on the CPU
  torch::Tensor make(const torch::Tensor& targets, const std::string& purpose,
                     std::int64_t first = 0) const;
  /// How good it is by rows that it does not learn from: the losses of networks that predict, of each head
  /// and measure by itself on made examples, `HEAD.accuracy` of classes that made examples are told to be of,
  /// and `distance`: how far means and standard deviations of each number of made examples, and by how much it
  /// changes with each condition (its covariance with it, over the condition's standard deviation), are from
  /// those of the real ones, relative to means and deviations (Euclidean norms over all numbers).
  /// comparison: is given all rows, and adds its numbers; null: there is none
  std::map<std::string, double> metrics(const data::ExampleRows& rows,
                                        problem::ExampleComparison* comparison = nullptr) const;
  std::int64_t rows_at_once() const;  ///< that `metrics` looks at together
  double waited_s() const { return stream_.waited_s(); }

 private:
  struct RowBatch;
  enum Player : std::size_t { maker = 0, judge = 1 };
  void check(const data::ExampleRows& rows) const;
  BatchRows rows_of(std::uint32_t step) const {
    return BatchRows::of(step, rows_, config_.batch, place_);
  }
  void take_rows(std::uint32_t step, RowBatch& batch) const;
  void add_passes();
  Pass pass(const std::string& name, Player learns, const std::string& losses) const;
  torch::Tensor are_empty(const Judged& found) const;
  void watch(const RowBatch& batch);
  const nn::Network& network(Player of) const { return *networks_[of].part.network; }
  void add_judged(const torch::Tensor& real, const torch::Tensor& made,
                  const torch::Tensor& targets, std::map<std::string, double>& sums) const;
  torch::Tensor labels(const RowBatch& batch, const Tile& tile, const std::string& use,
                       double real) const;
  torch::Tensor discriminator_gradients(RowBatch& batch, const Tile& tile, nn::Leaves& leaves,
                                        bool real) const;
  torch::Tensor generator_gradients(const RowBatch& batch, const Tile& tile, nn::Leaves& leaves,
                                    const std::string& use) const;

  AdversarialConfig config_;
  std::int64_t rows_;
  std::uint64_t seed_;
  torch::Device device_;
  problem::RankPlace place_;
  GeneratorInput input_;
  Judges judges_;
  std::vector<WeightedNetwork> networks_;
  nn::Leaves constant_judge_;  ///< the discriminator's weights where the generator learns
  std::vector<std::unique_ptr<UpdateRule>> rules_;
  Collapse collapse_;
  torch::Tensor range_;
  bool is_repeatable_;  ///< on a GPU, as graphs
  std::vector<UpdateStep> steps_;
  std::vector<Pass> passes_;
  mutable data::ExampleStream stream_;  ///< its thread looks into what is above
};

}  // namespace sagips::optim
