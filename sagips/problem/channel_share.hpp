#pragma once
#include "sagips/env/environment.hpp"
#include "sagips/problem/rank_place.hpp"

namespace sagips::problem {

/// What a rank works on when channels are divided among ranks: channel rank mod channels alone. Its
/// weight makes the mean over ranks of the generators' gradients the gradient of all channels, also
/// where some channels have a rank more than others.
/// throws: ConfigError when there are fewer ranks than channels
env::Environment channel_share(const env::Environment& all, const RankPlace& place);

}  // namespace sagips::problem
