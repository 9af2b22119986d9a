#include "sagips/run/loading.hpp"

#include "sagips/train/distribute.hpp"

namespace sagips::run {

namespace {

problem::DataShare share_of(const Job& job, const comm::Ranks& ranks) {
  problem::DataShare share;
  share.place = train::place_of(job.exchange_choice(), ranks.communicator());
  share.sharded = job.settings.ranks.data == train::RankConfig::Data::sharded;
  return share;
}

}  // namespace

problem::LoadedData load_data(const Job& job, comm::Ranks& ranks, core::Log& log,
                              bool needs_gradient) {
  const problem::Workload& workload = *job.inverse().workload;
  problem::DataSettings settings = job.inverse().data;
  settings.needs_gradient = needs_gradient;
  std::vector<data::Dataset> events;
  if (share_of(job, ranks).sharded)
    events = problem::read_events(
        workload, settings, job.seed(),
        {static_cast<std::size_t>(ranks.rank()), static_cast<std::size_t>(ranks.size())});
  else if (ranks.is_first())
    events = train::distribute(ranks, problem::read_events(workload, settings, job.seed()));
  else
    events = train::distribute(ranks, {});
  problem::LoadedData data(workload, settings, job.seed(), std::move(events));
  if (ranks.is_first()) warn_of_data(data, log);
  return data;
}

void warn_of_data(const problem::LoadedData& data, core::Log& log) {
  for (const std::string& remark : data.remarks()) log.warning("unusual-data", remark);
}

problem::DataShare training_share(const Job& job, const comm::Ranks& ranks) {
  problem::DataShare share = share_of(job, ranks);
  const double usual =
      share.sharded ? 1 : train::traits_of(job.exchange_choice(), ranks.size()).data_fraction;
  share.fraction = job.settings.ranks.fraction.value_or(usual);
  return share;
}

problem::DataShare parts_share(const Job& job, const comm::Ranks& ranks) {
  problem::DataShare share = share_of(job, ranks);
  share.divided = !share.sharded;
  return share;
}

}  // namespace sagips::run
