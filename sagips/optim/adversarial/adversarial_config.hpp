#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/sample_plan.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/optim/learn/heads.hpp"
#include "sagips/optim/learn/update_rule.hpp"

namespace sagips::optim {

/// How a measure of made examples (problem::ExampleSource::measures) is compared with their condition.
struct MeasureConfig {
  std::string name;
  std::string loss = "mean_absolute_percentage";
  double weight = 1;
  std::string target{};  ///< a condition; empty: the one of its name

  std::string key() const { return "measures." + name; }
  const std::string& target_name() const { return target.empty() ? name : target; }
  void fields(core::FieldList& list);
};

/// Two networks: one makes examples for conditions, the other tells them from real ones.
struct AdversarialConfig {
  struct Generator {
    std::int64_t noise = 32;  ///< normal numbers of an example, behind its conditions
    std::vector<std::string> conditions{};
    std::vector<nn::LayerConfig> layers{};
    UpdateConfig optimizer{.learning_rate = 2e-4};  // source: Radford et al., ICLR 2016
    void fields(core::FieldList& list);
  };
  /// The output that tells real examples from made ones, a logit.
  struct Real {
    std::vector<nn::LayerConfig> layers{};  ///< none: a dense layer on all numbers
    double weight = 1;
    void fields(core::FieldList& list);
  };
  struct Discriminator {
    std::vector<nn::LayerConfig> layers{};
    Real real{};
    HeadConfigs heads{};  ///< beside `real`, against conditions
    UpdateConfig optimizer{.learning_rate = 2e-4};
    void fields(core::FieldList& list);
  };

  Generator generator{};
  Discriminator discriminator{};
  std::vector<MeasureConfig> measures{};
  std::int64_t batch = 100;  ///< rows of a rank in a step
  std::int64_t shuffle_rows = data::SamplePlan::default_shuffle_rows;
  std::int64_t generator_updates = 2;  ///< in a step
  double label_flips = 0.05;
  double collapse = 0.01;
  bool norms_over_ranks = false;  ///< batch norms see the rows of all ranks; no key of its own

  void fields(core::FieldList& list);
  bool waits_for_plateau() const {
    return generator.optimizer.waits_for_plateau() || discriminator.optimizer.waits_for_plateau();
  }
  /// What `real` and the heads are, in the discriminator's order of outputs.
  HeadConfigs outputs() const;
  /// Each condition that anything here reads, once: of classes where a head takes it as one.
  HeadConfigs targets() const;
  /// The key that reads a condition, for messages.
  std::string reader_of(const std::string& target) const;
};

}  // namespace sagips::optim
