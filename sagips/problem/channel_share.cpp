#include "sagips/problem/channel_share.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::problem {

env::Environment channel_share(const env::Environment& all, const RankPlace& place) {
  const auto channels = static_cast<std::int64_t>(all.channels.size());
  if (place.ranks < channels)
    throw core::ConfigError(
        "ranks.channels",
        core::text(channels, " data sets cannot be divided among ", place.ranks,
                   place.ranks == 1 ? " rank" : " ranks",
                   " (nobody would look at some). Start more ranks, or use all."));
  const std::int64_t own = place.rank % channels;
  const std::int64_t ranks_of_own = (place.ranks - own + channels - 1) / channels;
  env::Environment part;
  part.parameters = all.parameters;
  part.channels = {all.channels[static_cast<std::size_t>(own)]};
  part.channels[0].weight *= static_cast<double>(place.ranks) / static_cast<double>(ranks_of_own);
  part.is_part = channels > 1;
  return part;
}

}  // namespace sagips::problem
