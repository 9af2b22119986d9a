#include "sagips/optim/adversarial/adversarial_config.hpp"

#include <algorithm>

#include "sagips/core/config/effects.hpp"

namespace sagips::optim {

namespace {

constexpr const char* real_name = "real";

}  // namespace

void MeasureConfig::fields(core::FieldList& list) {
  list.add("loss", loss, "how it is compared with its condition, as a head's");
  list.add("weight", weight, "factor of its loss in the generator's sum; 0: it is left out",
           core::Range::at_least(0));
  list.add("target", target, "the condition; empty: the one of its name");
}

void AdversarialConfig::Generator::fields(core::FieldList& list) {
  list.add("noise", noise, "normal numbers that an example is made of, behind its conditions",
           core::Range::between(1, 1e6));
  list.add("conditions", conditions,
           "targets of the rows that are its first inputs: values as they are, classes as a 1 "
           "among zeros; a class is what a head with a loss of classes compares");
  list.list("layers", layers, nn::LayerConfig::help());
  list.group("optimizer", optimizer, "its updates, `generator_updates` in a step");
}

void AdversarialConfig::Real::fields(core::FieldList& list) {
  list.list("layers", layers, "behind the network; none: a dense layer on all its numbers");
  list.add("weight", weight, "factor of its binary cross entropy in the sum",
           core::Range::positive());
}

void AdversarialConfig::Discriminator::fields(core::FieldList& list) {
  list.list("layers", layers, nn::LayerConfig::help());
  list.group("real", real, "its output that tells real examples from made ones (a logit)");
  list.named_groups("heads", heads,
                    "further outputs that tell a condition from an example, by names of yours: "
                    "both networks make their losses small");
  list.group("optimizer", optimizer, "its updates, two in a step");
}

void AdversarialConfig::fields(core::FieldList& list) {
  list.group("generator", generator, "the network that makes examples");
  list.group("discriminator", discriminator, "the network that judges them");
  list.named_groups("measures", measures,
                    "functions of an example that the workload has, by their names: the generator "
                    "makes their losses small, too");
  list.add("batch", batch, "rows of a rank in a step, and examples made for their conditions",
           core::Range::between(1, 1e8));
  list.add(
      "shuffle_rows", shuffle_rows,
      "rows in one random order; of more rows, chunks of neighbours are drawn that make as many",
      core::Range::between(data::SamplePlan::chunk_rows, 1e9));
  list.add("generator_updates", generator_updates,
           "updates of the generator behind the discriminator's two, each with noise of its own",
           core::Range::between(1, 100));
  list.add("label_flips", label_flips,
           "share of the examples that the discriminator is told wrongly to be real or made",
           core::Range{0, 0.5, false, true});
  list.add("collapse", collapse,
           "the run ends where made examples are this much more alike than real ones (spread over "
           "a batch, as a share), or as much less, in ten steps in a row; 0: never",
           core::Range{0, 1, false, true});
}

HeadConfigs AdversarialConfig::outputs() const {
  HeadConfig real{.name = real_name,
                  .layers = discriminator.real.layers,
                  .loss = "binary_cross_entropy",
                  .weight = discriminator.real.weight,
                  .group = "discriminator"};
  if (real.layers.empty())
    real.layers = {nn::LayerConfig::of("flatten"), nn::LayerConfig::dense(1, {})};
  HeadConfigs all = {std::move(real)};
  for (const HeadConfig& head : discriminator.heads) {
    all.push_back(head);
    all.back().group = "discriminator.heads";
  }
  return all;
}

HeadConfigs AdversarialConfig::targets() const {
  HeadConfigs all;
  const auto add = [&all](const std::string& name, bool is_class) {
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const HeadConfig& one) { return one.name == name; });
    const char* const loss = is_class ? "cross_entropy" : "mean_square";
    if (known == all.end())
      all.push_back({.name = name, .loss = loss});
    else if (is_class)
      known->loss = loss;
  };
  const HeadConfigs outputs = this->outputs();
  for (auto head = outputs.begin() + 1; head != outputs.end(); ++head)
    add(head->target_name(), head->of_classes());
  for (const MeasureConfig& measure : measures)
    if (measure.weight > 0) add(measure.target_name(), false);
  for (const std::string& name : generator.conditions) add(name, false);
  return all;
}

std::string AdversarialConfig::reader_of(const std::string& target) const {
  if (std::count(generator.conditions.begin(), generator.conditions.end(), target) > 0)
    return "generator.conditions";
  for (const HeadConfig& head : discriminator.heads)
    if (head.target_name() == target) return "discriminator.heads." + head.name;
  for (const MeasureConfig& measure : measures)
    if (measure.target_name() == target) return measure.key();
  return "generator.conditions";
}

}  // namespace sagips::optim
