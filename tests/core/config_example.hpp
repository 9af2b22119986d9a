#pragma once
#include <optional>
#include <string>

#include "sagips/core/config/config.hpp"

namespace sagips::testing {

enum class Order { discriminator_first, generator_first };

struct AdamExample {
  double learning_rate = 1e-4;
  double beta1 = 0.5;
  void fields(core::FieldList& list) {
    list.add("learning_rate", learning_rate, "step size of Adam", core::Range::positive());
    list.add("beta1", beta1, "decay of the mean", {0.0, 1.0, false, true});
  }
};

struct OptimizerExample {
  AdamExample generator;
  AdamExample discriminator;
  Order order = Order::discriminator_first;
  void fields(core::FieldList& list) {
    list.group("generator", generator, "the generator's Adam");
    list.group("discriminator", discriminator, "the discriminator's Adam");
    list.choice("order", order,
                {{"discriminator_first", Order::discriminator_first},
                 {"generator_first", Order::generator_first}},
                "which network moves first");
  }
};

/// One field of every type that a FieldList knows.
struct RunExample {
  std::string name = "run";
  bool bootstrap = false;
  std::int64_t epochs = 100;
  std::optional<double> wall_clock_s;
  std::vector<double> truth = {1.0, 2.0};
  std::vector<std::int64_t> widths = {128, 64};
  std::vector<std::string> cuts;
  std::map<std::string, double> reference;
  OptimizerExample optimizer;

  void fields(core::FieldList& list) {
    list.add("name", name, "folder of the run");
    list.add("bootstrap", bootstrap, "draw with replacement");
    list.add("epochs", epochs, "length of the training", core::Range::at_least(1));
    list.add("wall_clock_s", wall_clock_s, "time limit, s", core::Range::positive());
    list.add("truth", truth, "true parameters", core::Range::between(0, 10));
    list.add("widths", widths, "hidden layers", core::Range::at_least(1));
    list.add("cuts", cuts, "selections");
    list.add("reference", reference, "reference numbers");
    list.group("optimizer", optimizer, "how the networks move");
  }
};

}  // namespace sagips::testing
