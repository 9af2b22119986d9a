#include "sagips/cli/data_parts.hpp"

#include "sagips/train/distribute.hpp"

namespace sagips::cli {

problem::DataShare parts_of_data(const Job& job, comm::Ranks& ranks) {
  problem::DataShare share;
  share.place = {ranks.rank(), ranks.size()};
  if (job.settings.ranks.data == train::RankConfig::Data::sharded) {
    share.sharded = true;
    return share;
  }
  share.divided = true;
  share.distribute = [&ranks](const problem::DataShare::Load& load) {
    return train::distribute(ranks, load);
  };
  return share;
}

}  // namespace sagips::cli
