#include "sagips/simulate/link_probe.hpp"

#include <vector>

namespace sagips::simulate {

namespace {

constexpr int tag = 19000;  // beside those of exchanges and of control messages

// Until the receiver has it; 0 for those who do not receive.
double time_of(Cluster& cluster, comm::Communicator& communicator, std::size_t bytes) {
  const int last = communicator.size() - 1;
  std::vector<std::byte> message(bytes);
  cluster.align();
  const double begun = Cluster::now_s();
  comm::Request request;
  if (communicator.rank() == 0) request = communicator.send(last, tag, message);
  if (communicator.rank() == last) request = communicator.receive(0, tag, message);
  for (std::int64_t look = 1; !request.ready(); ++look) communicator.pause(look);
  return Cluster::now_s() - begun;
}

}  // namespace

void LinkProbe::measure(Cluster& cluster, comm::Communicator& communicator) {
  if (communicator.size() == 1) return;
  const double short_s = time_of(cluster, communicator, 8);
  const double long_s = time_of(cluster, communicator, static_cast<std::size_t>(long_bytes));
  cluster.align();
  if (communicator.rank() != communicator.size() - 1) return;
  short_s_ = short_s;
  long_s_ = long_s;
}

}  // namespace sagips::simulate
