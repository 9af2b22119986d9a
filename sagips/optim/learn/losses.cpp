#include "sagips/optim/learn/losses.hpp"

#include <algorithm>
#include <mutex>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/constant.hpp"
#include "sagips/nn/python_function.hpp"

namespace sagips::optim {

namespace {

torch::Tensor mean_of_row(const torch::Tensor& values) { return values.flatten(1).mean(1); }

torch::Tensor cross_entropy(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return torch::cross_entropy_loss(outputs, targets, {}, at::Reduction::None);
}

torch::Tensor binary_cross_entropy(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row(
      torch::binary_cross_entropy_with_logits(outputs, targets, {}, {}, at::Reduction::None));
}

torch::Tensor mean_square(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row((outputs - targets).square());
}

torch::Tensor mean_absolute(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row((outputs - targets).abs());
}

// source: as Keras has it, with its smallest denominator
torch::Tensor mean_absolute_percentage(const torch::Tensor& outputs, const torch::Tensor& targets) {
  constexpr double smallest = 1e-7;
  return 100 * mean_of_row((outputs - targets).abs() / targets.abs().clamp_min(smallest));
}

torch::Tensor smooth_l1(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row(torch::smooth_l1_loss(outputs, targets, at::Reduction::None));
}

// Outputs are logarithms of rates.
torch::Tensor poisson(const torch::Tensor& outputs, const torch::Tensor& targets) {
  return mean_of_row(torch::exp(outputs) - targets * outputs);
}

// Outputs are logits of a distribution over the last dimension, targets its probabilities.
torch::Tensor kullback_leibler(const torch::Tensor& outputs, const torch::Tensor& targets) {
  const torch::Tensor log_probabilities = torch::log_softmax(outputs, -1);
  return (torch::xlogy(targets, targets) - targets * log_probabilities).flatten(1).sum(1);
}

// One number for all rows is that of each.
Loss python_loss(const nn::PythonFunction& function) {
  Loss loss{.name = function.name,
            .targets = function.of_classes ? Loss::Targets::classes : Loss::Targets::values,
            .rows = {},
            .meaning = function.meaning};
  loss.rows = [function](const torch::Tensor& outputs, const torch::Tensor& targets) {
    torch::Tensor rows = function.call({outputs, targets});
    if (rows.dim() == 0) rows = rows.expand({outputs.size(0)});
    if (rows.dim() != 1 || rows.size(0) != outputs.size(0))
      throw core::ConfigError(
          "loss", core::text(function.name, " gives ", rows.sizes(), " of ", outputs.size(0),
                             " rows. It is a number for each, or one for all."));
    return rows;
  };
  return loss;
}

torch::Tensor of_last_dimension(const torch::Tensor& outputs) {
  return torch::softmax(outputs, -1);
}
torch::Tensor of_each(const torch::Tensor& outputs) { return torch::sigmoid(outputs); }
torch::Tensor themselves(const torch::Tensor& outputs) { return outputs; }
torch::Tensor exponential(const torch::Tensor& outputs) { return torch::exp(outputs); }

/// Those of SAGIPS, then those that programs and plug-ins have added, from any thread.
struct KnownLosses {
  std::mutex mutex{};
  std::vector<Loss> shipped{}, added{};
};

KnownLosses& known_losses() {
  using Targets = Loss::Targets;
  static KnownLosses all{
      .shipped = {
          {"cross_entropy", Targets::classes, cross_entropy, of_last_dimension},
          {"binary_cross_entropy", Targets::yes_or_no, binary_cross_entropy, of_each, 0, 1},
          {"mean_square", Targets::values, mean_square},
          {"mean_absolute", Targets::values, mean_absolute},
          // a share of the target has a zero of its own, so that no target is standardised
          {"mean_absolute_percentage", Targets::values, mean_absolute_percentage, themselves},
          {"smooth_l1", Targets::values, smooth_l1},
          {"poisson", Targets::values, poisson, exponential, 0},
          {"kullback_leibler", Targets::values, kullback_leibler, of_last_dimension, 0, 1}}};
  return all;
}

// found: shares of the rows' weights, of the classes up to the last one that there is
// shape: [up to classes] float64 -> [classes] float32; undefined for none
torch::Tensor class_weights(const std::vector<std::string>& given, const torch::Tensor& found,
                            std::int64_t classes, const std::string& key) {
  if (given.empty()) return {};
  const torch::Tensor shares = torch::constant_pad_nd(found, {0, classes - found.size(0)});
  torch::Tensor weights = 1 / shares;
  if (given.size() == 1 && given[0] == "balanced") {
    for (std::int64_t k = 0; k < classes; ++k)
      if (shares[k].item<double>() == 0)
        throw core::ConfigError(key,
                                core::text("balanced: no row to learn from is of class ", k,
                                           ", which counts from 0. Give a list, or more rows."));
  } else {
    std::vector<double> numbers(given.size());
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!core::parse_number(given[i], numbers[i]) || !(numbers[i] >= 0) || std::isinf(numbers[i]))
        throw core::ConfigError(key,
                                core::text("'", core::excerpt(given[i]),
                                           "' is no weight. Give a number from 0 for each class, "
                                           "or balanced."));
    weights = torch::tensor(numbers, torch::kFloat64);
  }
  if (weights.size(0) != classes)
    throw core::ConfigError(key, core::text("has ", weights.size(0), " numbers, and the network ",
                                            classes, " outputs. Give one for each."));
  const torch::Tensor mean = (weights * shares).sum();
  if (!(mean.item<double>() > 0))
    throw core::ConfigError(key, "are 0 for all rows to learn from. Give others.");
  return (weights / mean).to(torch::kFloat32);
}

}  // namespace

std::vector<Loss> losses() {
  KnownLosses& known = known_losses();
  const std::lock_guard lock(known.mutex);
  std::vector<Loss> all = known.shipped;
  all.insert(all.end(), known.added.begin(), known.added.end());
  return all;
}

bool is_shipped_loss(const std::string& name) {
  return std::ranges::any_of(known_losses().shipped,
                             [&](const Loss& one) { return one.name == name; });
}

void add_loss(Loss loss) {
  KnownLosses& known = known_losses();
  const std::lock_guard lock(known.mutex);
  const auto is_it = [&](const Loss& one) { return one.name == loss.name; };
  if (std::ranges::any_of(known.shipped, is_it))
    throw core::StateError(core::text("SAGIPS has a loss '", loss.name, "' already"));
  std::erase_if(known.added, is_it);
  known.added.push_back(std::move(loss));
}

Loss loss_named(const std::string& name, const std::string& key) {
  std::vector<std::string> names;
  for (const Loss& loss : losses()) {
    if (loss.name == name) return loss;
    names.push_back(loss.name);
  }
  if (nn::is_python(name)) return python_loss(nn::python_function(name, "loss", key));
  throw core::ConfigError(key,
                          core::text("unknown loss '", name, "'", core::suggestion(name, names)));
}

void LossOptions::fields(core::FieldList& list) {
  list.add("label_smoothing", label_smoothing,
           "cross_entropy: share of a label that is spread evenly over all classes",
           core::Range{0, 1, false, true});
  list.add(
      "class_weights", class_weights,
      "cross_entropy: how much a row of each class counts, [1, 9.5, ...], or balanced: all classes "
      "alike (divided by their mean over the rows to learn from; metrics but the loss go without); "
      "empty: all rows alike");
}

Loss loss_of(const std::string& name, const LossOptions& options, const data::RowStatistics& rows,
             std::int64_t outputs, const std::string& group) {
  Loss loss = loss_named(name, group + "loss");
  const bool is_cross_entropy = name == "cross_entropy";
  if (!is_cross_entropy && (options.label_smoothing > 0 || !options.class_weights.empty()))
    throw core::ConfigError(
        group + (options.label_smoothing > 0 ? "label_smoothing" : "class_weights"),
        core::text("loss=", name, " has none (cross_entropy has). Leave it out."));
  if (is_cross_entropy)
    loss.rows = [smoothing = options.label_smoothing, are_weighed = !options.class_weights.empty(),
                 weights = env::Constant::as_given(class_weights(
                     options.class_weights, rows.class_shares, outputs, group + "class_weights"))](
                    const torch::Tensor& scores, const torch::Tensor& targets) {
      return torch::cross_entropy_loss(scores, targets,
                                       are_weighed ? weights.on(scores.device()) : torch::Tensor(),
                                       at::Reduction::None, /*ignore_index=*/-100, smoothing);
    };
  if (!rows.targets.mean.defined()) return loss;
  const auto standard =
      [mean = env::Constant::as_given(rows.targets.mean),
       deviation = env::Constant::as_given(rows.targets.deviation)](const torch::Device& device) {
        return data::Standard{mean.on(device), deviation.on(device)};
      };
  loss.rows = [plain = loss.rows, standard](const torch::Tensor& values,
                                            const torch::Tensor& targets) {
    return plain(values, standard(targets.device()).apply(targets));
  };
  loss.meaning = [standard](const torch::Tensor& values) {
    return standard(values.device()).undo(values);
  };
  return loss;
}

}  // namespace sagips::optim
