#include "sagips/study/simulated/simulate_config.hpp"

#include "sagips/simulate/platform.hpp"

namespace sagips::study {

void SimulateConfig::fields(core::FieldList& list) {
  list.add(
      "exchanges", exchanges,
      "exchanges to simulate, also --exchanges; none: all that can run there, with --convergence "
      "rabenseifner and eight that wait less");
  list.add("unfused", unfused,
           "those of them that are simulated tensor by tensor, too, as the SAGIPS paper exchanges");
  list.add("ranks", ranks,
           "numbers of ranks, also --ranks; with --convergence 64 and 400 where none is named",
           core::Range::between(2, 1e6));
  list.add_path("platform", platform,
                "the cluster, also --platform: polaris, fat_tree, ethernet, one_node, or a file",
                simulate::known_platforms());
  list.add("epochs", epochs,
           "epochs of each simulation, rounded up to whole periods of its exchange; 0: as few as "
           "show it",
           core::Range::between(0, 1e6));
  list.add("at_once", at_once, "simulations side by side; 0: the cores",
           core::Range::between(0, 4096));
  list.group("scenario", scenario, "what a rank does beside its messages");
  list.add("paper_gain", paper_gain,
           "without scenario.compute_s and compute_from the computation of an epoch is set so that "
           "the ring, tensor by tensor, gains that from 4 to 400 ranks (SAGIPS paper, Sec. VI-C1: "
           "half of what grouping gains, which is some 80)",
           core::Range{1, 100, true, true});
  list.add_path("compute_from", compute_from,
                "a run folder whose measured epochs are the computation times");
  list.add("stragglers", stragglers,
           "also simulate one slow rank, as a leader and as a follower (scenario.slowdown)");
  list.add("straggler_ranks", straggler_ranks, "ranks of these simulations, at most",
           core::Range::between(2, 1e6));
  list.add("seeds", seeds, "with --convergence: of the trainings of each exchange",
           core::Range::between(0, 4294967295.0));
  list.add("as_floats", as_floats,
           "with --convergence: messages take the time of a network of so many shared numbers (the "
           "paper's: 51206); 0: their own",
           core::Range::between(0, 1e9));
}

}  // namespace sagips::study
