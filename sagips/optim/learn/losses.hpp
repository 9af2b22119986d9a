#pragma once
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/row_statistics.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::optim {

struct Head;
struct Metric;

/// A loss that compares a network's outputs with targets, row by row.
struct Loss {
  /// classes: their numbers [rows]; else targets are shaped as the outputs
  enum class Targets { classes, yes_or_no, values };
  std::string name;
  Targets targets = Targets::values;
  /// shapes: outputs [rows, ...], targets [rows] int64 or [rows, ...] -> [rows]
  std::function<torch::Tensor(const torch::Tensor& outputs, const torch::Tensor& targets)> rows;
  /// What outputs stand for: probabilities, means. Null: themselves.
  std::function<torch::Tensor(const torch::Tensor& outputs)> meaning = nullptr;
  /// Targets beyond these have no such loss.
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  /// Several outputs that have losses of their own (optim/learn/heads.hpp), whose weighted sum this is.
  std::shared_ptr<const std::vector<Head>> heads = nullptr;
  /// By which what is predicted is judged as well (optim/learn/metrics.hpp); null: none.
  std::shared_ptr<const std::vector<Metric>> metrics = nullptr;

  bool of_classes() const { return targets == Targets::classes; }
  /// Whether outputs are targets in any unit and from any zero.
  bool has_units() const {
    return targets == Targets::values && !meaning && lowest == -highest && std::isinf(highest);
  }
  torch::Tensor predicted(const torch::Tensor& outputs) const {
    return meaning ? meaning(outputs) : outputs;
  }
};

/// What the cross entropy may be told.
struct LossOptions {
  double label_smoothing = 0;
  std::vector<std::string> class_weights{};  ///< numbers, or "balanced"
  void fields(core::FieldList& list);
};

/// source: definitions as PyTorch has them; what it averages over a row's outputs is averaged here
std::vector<Loss> losses();
bool is_shipped_loss(const std::string& name);
/// A loss of a user's own, from now on known by its name; an earlier one of that name is replaced, since
/// a plug-in may be loaded more than once. From any thread. throws: StateError when SAGIPS has one of that name
void add_loss(Loss loss);
/// The loss of a name, or a function in Python by its word (nn/python_function.hpp).
/// key: for messages. throws: ConfigError for an unknown name
Loss loss_named(const std::string& name, const std::string& key);
/// The same with smooth labels and weights of classes, as PyTorch's cross entropy has them; the weights are
/// divided by their mean over the rows. It compares standardised targets, whose outputs mean values in
/// the data's unit. throws: ConfigError for what the loss does not have
/// outputs: of the network, the classes where it has any; group: of its keys, for messages ("heads.a.")
Loss loss_of(const std::string& name, const LossOptions& options, const data::RowStatistics& rows,
             std::int64_t outputs, const std::string& group = {});

}  // namespace sagips::optim
