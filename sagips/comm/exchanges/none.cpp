#include "sagips/comm/exchanges/none.hpp"

namespace sagips::comm {

Task None::gradients(ReplicaView, Step) { co_return; }

}  // namespace sagips::comm
