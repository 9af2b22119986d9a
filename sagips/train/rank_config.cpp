#include "sagips/train/rank_config.hpp"

namespace sagips::train {

void RankConfig::fields(core::FieldList& list) {
  list.choice(
      "data", data, {{"distributed", Data::distributed}, {"sharded", Data::sharded}},
      "rank 0 reads all events and sends them, or each rank reads its own rows of the file");
  list.choice("channels", channels, {{"all", Channels::all}, {"divided", Channels::divided}},
              "each rank works on all data sets, or rank r on number r mod data sets; then groups "
              "of ranks that exchange must hold them all");
  list.add("fraction", fraction,
           "share of the training events that each rank draws without replacement; null: 0.5, and "
           "1 for all_reduce, for shards and for a single rank",
           {0.0, 1.0, true, false});
  timeout_field(list);
}

void RankConfig::timeout_field(core::FieldList& list) {
  list.add(
      "timeout_s", timeout_s,
      "a rank that others wait for, or that shows no sign of life, for so long ends the job [s]",
      core::Range::positive());
}

}  // namespace sagips::train
