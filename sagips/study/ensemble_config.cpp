#include "sagips/study/ensemble_config.hpp"

namespace sagips::study {

void EnsembleConfig::fields(core::FieldList& list) {
  list.add("members", members, "trainings of each variant, also --members",
           core::Range::between(2, 1e5));
  list.choice("vary", vary,
              {{"seeds", Vary::seeds}, {"bootstrap", Vary::bootstrap}, {"both", Vary::both}},
              "what differs between members, also --vary: run.seed with the data unchanged, data "
              "drawn again with replacement, or as many members of either kind");
  list.add("grid", grid,
           "lists of values whose product are the variants: \"generator.width=32,64\"; "
           "also --grid");
  list.add("ranks", ranks, "ranks of each member, also --ranks", core::Range::between(1, 1e6));
  list.add(
      "launcher", launcher,
      "what starts a member of several ranks; {ranks} is their number. On Slurm: srun -n {ranks}");
  list.add("at_once", at_once, "members that train at the same time; 0: as the cores allow",
           core::Range::between(0, 1e5));
  list.add("draws", draws, "sub-ensembles drawn of each size; SAGIPS paper, Sec. VI-B: 300",
           core::Range::between(2, 1e6));
}

}  // namespace sagips::study
