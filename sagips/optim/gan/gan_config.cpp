#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/gan/gan.hpp"

namespace sagips::optim {

using core::Range;

void DiscriminatorConfig::fields(core::FieldList& list) {
  network.fields(list);
  list.choice(
      "input", input, {{"raw", Input::raw}, {"standardised", Input::standardised}},
      "observables as they are, or shifted and scaled to mean 0 and deviation 1 of the data");
  list.add("exchange", exchange,
           "how ranks exchange its gradients, see `exchange`; none: each rank has its own network "
           "(SAGIPS paper)");
  list.choice("shared", shared,
              {{"weights_only", nn::SharedPart::weights_only},
               {"all", nn::SharedPart::all},
               {"none", nn::SharedPart::none}},
              "what ranks exchange of this network, if they do");
  list.group("gradient_penalty", gradient_penalty,
             "keeps the discriminator from turning too sharply where events differ by little");
  list.add("spectral_norm", spectral_norm,
           "divides each weight matrix by its largest singular value after each update, so that "
           "the output changes by no more than the input (after Miyato et al., ICLR 2018)");
  list.add("instance_noise", instance_noise,
           "normal noise on all events that the discriminator sees, in deviations of the data; "
           "fades linearly to 0 at the last of train.epochs (Soenderby et al., ICLR 2017)",
           Range::at_least(0));
}

void BatchConfig::fields(core::FieldList& list) {
  list.add("samples", samples, "parameter samples of an epoch (SAGIPS paper: 1024)",
           Range::between(1, 1e8));
  list.add("events", events, "events of each parameter sample (SAGIPS paper: 100)",
           Range::between(1, 1e8));
  list.choice("over_ranks", over_ranks,
              {{"each", OverRanks::each}, {"divided", OverRanks::divided}},
              "each rank draws so many samples, or they are divided among the ranks (SAGIPS paper, "
              "eq. (10))");
  list.choice("noise", noise, {{"pseudo_random", Noise::pseudo_random}, {"sobol", Noise::sobol}},
              "random numbers of the pipelines; sobol: points that fill the unit cube evenly, "
              "scrambled anew each epoch (best with a power of two of events)");
}

std::int64_t BatchConfig::samples_of_rank(const problem::RankPlace& place) const {
  if (over_ranks == OverRanks::each) return samples;
  if (samples < place.ranks)
    throw core::ConfigError("batch.samples",
                            core::text(samples, " parameter samples cannot be divided among ",
                                       place.ranks, " ranks. Raise it, or use fewer ranks."));
  return samples / place.ranks;
}

void GanOptimizerConfig::fields(core::FieldList& list) {
  list.choice(
      "update", update,
      {{"alternating", UpdateMode::alternating}, {"simultaneous", UpdateMode::simultaneous}},
      "networks learn in turn (SAGIPS paper), or both from one pass over the same synthetic "
      "events, with a quarter less to compute");
  list.choice(
      "order", order,
      {{"discriminator_first", UpdateOrder::discriminator_first},
       {"generator_first", UpdateOrder::generator_first}},
      "which network learns first in an epoch; generator_first uses one set of events for both");
  list.choice("overlap", overlap,
              {{"exact", Overlap::exact}, {"one_update_late", Overlap::one_update_late}},
              "what the generator's exchange may overlap with; one_update_late (only with "
              "discriminator_first): the next discriminator step, which sees an older generator");
  list.add("discriminator_steps", discriminator_steps,
           "updates of the discriminator for each of the generator, each from events of its own "
           "(SAGIPS paper: 1)",
           Range::between(1, 1000));
  list.group("generator", generator, "updates of the generator (authors' tool kit: rate 1e-5)");
  list.group("discriminator", discriminator,
             "updates of the discriminator (authors' tool kit: rate 1e-4)");
}

void GanConfig::fields(core::FieldList& list) {
  list.group("objective", objective, "how synthetic events are scored");
  list.group("generator", generator, "network that proposes parameters");
  list.group("discriminator", discriminator, "network that compares events");
  list.group("batch", batch, "what one epoch draws");
  list.group("optimizer", optimizer, "how the networks learn");
  list.group("dense", dense, "who evaluates both networks' layers on a CPU");
}

}  // namespace sagips::optim
