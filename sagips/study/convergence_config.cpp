#include "sagips/study/convergence_config.hpp"

namespace sagips::study {

void ConvergenceConfig::fields(core::FieldList& list) {
  list.add("exchanges", exchanges,
           "exchanges to compare, also --exchanges; all_reduce averages the discriminators' "
           "gradients, too, as Horovod does (the synchronous baseline)");
  list.add("ranks", ranks, "ranks of each member, also --ranks", core::Range::between(1, 1e6));
  list.add("members", members,
           "trainings of each variant, which differ by their seeds; also --members",
           core::Range::between(1, 1e5));
  list.add("outer_periods", outer_periods,
           "values of exchanges.grouped.outer_every to compare (h of the SAGIPS paper), also "
           "--outer-periods",
           core::Range::between(1, 1e9));
  list.add("over_ranks", over_ranks,
           "numbers of ranks to compare, also --over-ranks; with 1 among them there is something "
           "to gain over",
           core::Range::between(1, 1e6));
  list.choice(
      "batch", batch, {{"each", Batch::each}, {"divided", Batch::divided}, {"both", Batch::both}},
      "of the scan over ranks, also --batch: each rank draws batch.samples, they are divided "
      "among the ranks (SAGIPS paper, eq. (10)), or one after the other");
  list.add("redrawn", redrawn,
           "ensembles of redrawn members that give a suggested stop its uncertainty",
           core::Range::between(0, 1e6));
}

}  // namespace sagips::study
