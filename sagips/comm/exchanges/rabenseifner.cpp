#include "sagips/comm/exchanges/rabenseifner.hpp"

#include "sagips/comm/topology.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

Rabenseifner::Rabenseifner(const Site& site, std::vector<int> ranks)
    : ScheduledExchange(Group(site, std::move(ranks))) {}

std::string Rabenseifner::description() const {
  return core::text("rabenseifner over ", group_.size(), " ranks");
}

Schedule Rabenseifner::schedule(std::size_t floats) const {
  return halving_doubling(group_.index(), group_.size(), {0, floats});
}

}  // namespace sagips::comm
