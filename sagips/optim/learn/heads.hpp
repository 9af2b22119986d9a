#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/row_tensors.hpp"
#include "sagips/data/examples.hpp"
#include "sagips/data/row_statistics.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/nn/network.hpp"
#include "sagips/optim/learn/losses.hpp"

namespace sagips::optim {

/// One of several outputs of a network, with a loss of its own.
struct HeadConfig {
  std::string name;
  std::vector<nn::LayerConfig> layers{};  ///< behind the network; none: its output of this name
  std::string loss = "cross_entropy";
  LossOptions loss_options{};
  double weight = 1;                 ///< of its loss in the sum
  std::string target{};              ///< empty: the one of its name
  std::vector<std::string> names{};  ///< of its classes or values; empty: their numbers

  std::string group = "heads";  ///< of the config that holds it, for messages

  std::string key() const { return group + "." + name; }
  const std::string& target_name() const { return target.empty() ? name : target; }
  bool of_classes() const { return loss_named(loss, key() + ".loss").of_classes(); }
  bool has_units() const { return loss_named(loss, key() + ".loss").has_units(); }
  /// The shape that its target has where a file gives such rows: of a class one number.
  std::vector<std::int64_t> target_shape(std::vector<std::int64_t> of_row) const {
    return of_classes() ? std::vector<std::int64_t>{1} : std::move(of_row);
  }
  void fields(core::FieldList& list);
};
using HeadConfigs = std::vector<HeadConfig>;

/// What a head compares, in the rows of all outputs and of all targets.
struct Head {
  std::string name;
  double weight = 1;
  Loss loss{};
  core::RowTensor output{}, target{};
  std::vector<std::string> names{};  ///< of its classes or targets

  torch::Tensor outputs_of(const torch::Tensor& rows) const { return output.of(rows); }
  /// Classes as their numbers, [rows] int64.
  torch::Tensor targets_of(const torch::Tensor& rows) const;
};

/// The layers with those of heads behind them, where these have any. group: of the heads, for messages
std::vector<nn::LayerConfig> with_heads(std::vector<nn::LayerConfig> layers,
                                        const HeadConfigs& heads,
                                        const std::string& group = "heads");

/// The rows with the targets that heads compare alone, in their order: classes as one number each.
/// key: of targets, for messages. throws: ConfigError for a head without a target; collective
data::ExampleRowsPtr with_targets_of(const HeadConfigs& heads, const data::ExampleRowsPtr& rows,
                                     const std::string& key, const data::Reading& reading = {});

/// The same statistics as of rows of one tensor, for each tensor of such rows. heads: none, or those whose
/// targets the rows hold. One pass over the rows for each of the tensors; collective
data::RowStatistics statistics_of(const HeadConfigs& heads, const data::ExampleRowsPtr& rows,
                                  bool of_inputs, bool of_targets,
                                  const data::Reading& reading = {});

/// The weighted sum of what heads say. throws: ConfigError where the network's outputs are others than they
Loss loss_of_heads(const HeadConfigs& heads, const nn::Network& network,
                   const data::RowStatistics& statistics);

}  // namespace sagips::optim
