#include "sagips/optim/gan.hpp"

namespace sagips::optim {

using core::Range;

void DiscriminatorConfig::fields(core::FieldList& list) {
  network.fields(list);
  list.choice(
      "input", input, {{"raw", Input::raw}, {"standardised", Input::standardised}},
      "observables as they are, or shifted and scaled to mean 0 and deviation 1 of the data");
}

void BatchConfig::fields(core::FieldList& list) {
  list.add("samples", samples, "parameter samples of an epoch (SAGIPS paper: 1024)",
           Range::between(1, 1e8));
  list.add("events", events, "events of each parameter sample (SAGIPS paper: 100)",
           Range::between(1, 1e8));
}

void GanOptimizerConfig::fields(core::FieldList& list) {
  list.choice(
      "order", order,
      {{"discriminator_first", UpdateOrder::discriminator_first},
       {"generator_first", UpdateOrder::generator_first}},
      "which network learns first in an epoch; generator_first uses one set of events for both");
  list.group("generator", generator, "Adam of the generator (authors' tool kit: rate 1e-5)");
  list.group("discriminator", discriminator,
             "Adam of the discriminator (authors' tool kit: rate 1e-4)");
}

void GanConfig::fields(core::FieldList& list) {
  list.group("generator", generator, "network that proposes parameters");
  list.group("discriminator", discriminator, "network that compares events");
  list.group("batch", batch, "what one epoch draws");
  list.group("optimizer", optimizer, "how the networks learn");
}

}  // namespace sagips::optim
