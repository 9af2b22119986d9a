#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/adversarial/adversarial.hpp"

namespace sagips::optim {

namespace {

using core::ConfigError;
using core::text;

void refuse_class_weights(const HeadConfigs& heads) {
  for (const HeadConfig& head : heads)
    if (!head.loss_options.class_weights.empty())
      throw ConfigError(head.key() + ".class_weights",
                        "are for networks that learn from real rows alone. Leave them out.");
}

// Rows of tables have their single numbers with one dimension or none, a network's outputs with one.
void take_target(Head& head, const core::RowTensors& targets, const std::string& name) {
  head.target = targets.at(name);
  if (!head.loss.of_classes() && head.target.numbers() == head.output.numbers())
    head.target.shape = head.output.shape;
}

std::vector<Head> heads_of(const AdversarialConfig& config, const nn::Network& discriminator,
                           const core::RowTensors& targets) {
  const HeadConfigs outputs = config.outputs();
  refuse_class_weights(outputs);
  std::vector<Head> heads = *loss_of_heads(outputs, discriminator, {}).heads;
  if (heads.front().output.numbers() != 1)
    throw ConfigError(
        "discriminator.real",
        text("gives ", heads.front().output.numbers(),
             " numbers, and one logit tells real from made. End it with {dense: 1}."));
  for (std::size_t i = 1; i < heads.size(); ++i)
    take_target(heads[i], targets, outputs[i].target_name());
  return heads;
}

std::vector<Judges::Measured> measures_of(const AdversarialConfig& config,
                                          const core::RowTensors& targets, const Measures& known) {
  std::vector<Judges::Measured> measures;
  for (const MeasureConfig& measure : config.measures) {
    if (measure.weight == 0) continue;
    const auto found = known.find(measure.name);
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const auto& [name, of] : known) names.push_back(name);
      throw ConfigError(measure.key(),
                        text("the workload has no such measure. ",
                             names.empty() ? "It has none: leave it out."
                                           : "There are: " + core::join(names, ", ") + "."));
    }
    Head head{.name = measure.name,
              .weight = measure.weight,
              .loss = loss_named(measure.loss, measure.key() + ".loss"),
              .target = targets.at(measure.target_name())};
    if (head.loss.of_classes())
      throw ConfigError(measure.key() + ".loss",
                        text(measure.loss, " compares classes, and a measure is a value."));
    measures.push_back({std::move(head), found->second});
  }
  return measures;
}

// A class is known by the head that tells it.
std::vector<Condition> conditions_of(const AdversarialConfig& config,
                                     const std::vector<Head>& heads,
                                     const core::RowTensors& targets) {
  std::vector<Condition> conditions;
  for (const std::string& name : config.generator.conditions) {
    Condition condition{.name = name, .target = targets.at(name)};
    for (std::size_t i = 1; i < heads.size(); ++i)
      if (config.discriminator.heads[i - 1].target_name() == name && heads[i].loss.of_classes())
        condition.classes = heads[i].output.numbers();
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

}  // namespace

std::vector<std::string> Judges::names() const {
  std::vector<std::string> all;
  for (const Head& head : heads) all.push_back(head.name);
  for (const Measured& measure : measures) all.push_back(measure.head.name);
  return all;
}

torch::Tensor Judged::told(double scale) const {
  std::vector<torch::Tensor> all = {loss.detach().to(torch::kFloat64)};
  for (const torch::Tensor& one : each) all.push_back(one.detach().sum(torch::kFloat64));
  return torch::stack(all) * scale;
}

Judged Judges::operator()(const torch::Tensor& outputs, const torch::Tensor& examples,
                          const torch::Tensor& targets, const torch::Tensor& is_real,
                          bool by_measures) const {
  Judged judged;
  const auto add = [&judged](const Head& head, const torch::Tensor& rows, bool counts) {
    judged.each.push_back(rows);
    if (!counts) return;
    const torch::Tensor own = head.weight * rows.sum();
    judged.loss = judged.loss.defined() ? judged.loss + own : own;
  };
  for (const Head& head : heads) {
    const torch::Tensor own = head.outputs_of(outputs);
    const bool tells_real = &head == &heads.front();
    add(head,
        tells_real ? head.loss.rows(own.reshape_as(is_real), is_real)
                   : head.loss.rows(own, head.targets_of(targets)),
        true);
  }
  for (const auto& [head, of] : measures) {
    const torch::Tensor wanted = head.targets_of(targets);
    add(head, head.loss.rows(of(examples).reshape_as(wanted), wanted), by_measures);
  }
  return judged;
}

AdversarialNetworks::AdversarialNetworks(const AdversarialConfig& config, const data::Examples& one,
                                         const Measures& measures) {
  if (!one.input_tensors().empty())
    throw ConfigError("data.inputs.tensors",
                      "an example that is made is one tensor. Name one file in data.inputs.file.");
  if (one.weights.defined())
    throw ConfigError("data.weights",
                      "have no meaning for examples to be made like. Leave them "
                      "out.");
  const nn::Shape shape = nn::shape_of_rows(one.inputs);
  const core::RowTensors targets = one.target_tensors();
  const std::string heads = "discriminator.heads";
  discriminator = {"discriminator",
                   std::make_shared<nn::LayeredNetwork>(
                       with_heads(config.discriminator.layers, config.outputs(), heads), shape,
                       "discriminator.layers")};
  judges.heads = heads_of(config, *discriminator.network, targets);
  judges.measures = measures_of(config, targets, measures);
  input = {conditions_of(config, judges.heads, targets), config.generator.noise};
  generator = {"generator",
               std::make_shared<nn::LayeredNetwork>(config.generator.layers,
                                                    nn::Shape{input.width()}, "generator.layers")};
  if (generator.network->output() != shape)
    throw ConfigError("generator.layers", text("make ", nn::written(generator.network->output()),
                                               ", and the examples are ", nn::written(shape),
                                               ". Change the last layers."));
}

}  // namespace sagips::optim
