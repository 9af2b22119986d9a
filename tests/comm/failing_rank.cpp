// The last rank of a job fails; the others must say so and end.
// `failing_rank killed|leaves|hangs|suspended [form] [ranks of a node]`
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "sagips/comm/exchange_driver.hpp"
#include "sagips/comm/exchanges.hpp"
#include "sagips/comm/mpi_communicator.hpp"

namespace {

using namespace sagips::comm;

volatile std::sig_atomic_t asked_to_end = 0;

void fail(const std::string& manner) {
  if (manner == "killed") raise(SIGKILL);
  if (manner == "leaves") _exit(3);
  if (manner == "suspended") raise(SIGSTOP);
  for (;;) pause();
}

std::unique_ptr<Exchange> exchange_of(const std::string& form, const Site& site) {
  ExchangesConfig config;
  Served::Config& served = config.served;
  config.gossip.form = Gossip::Form::one_sided;
  if (form == "nodes") served.owners = Served::Owners::nodes;
  if (form == "master" || form == "groups" || form == "synchronous_master")
    served.owners = Served::Owners::master;
  if (form == "groups") served.groups = 1;
  served.synchronous = form.starts_with("synchronous");
  const bool is_served = form == "all" || form == "nodes" || served.synchronous ||
                         served.owners == Served::Owners::master;
  return make_exchange(is_served ? "served" : form, config, site);
}

// The last rank, which computes in every form, fails in its tenth step; in forms that do not wait the others would go on without it.
void train(ExchangeDriver& driver, Site& site, const std::string& manner) {
  std::vector<float> weights(site.floats), gradients(site.floats);
  const ReplicaView replica{weights, gradients};
  CentralWeights* const central = driver.exchange().central_weights();
  if (central != nullptr) central->begin(weights);
  for (std::int64_t epoch = 1; manner == "suspended" || epoch <= 20; ++epoch) {
    if (central != nullptr && !central->computes()) {
      driver.serve(replica, {epoch});
      continue;
    }
    if (epoch == 10 && site.communicator->rank() == site.communicator->size() - 1) fail(manner);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    driver.progress();
    driver.start(replica, {epoch});
    driver.finish();
    driver.after_update(replica, {epoch});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string manner = argc > 1 ? argv[1] : "hangs", form = argc > 2 ? argv[2] : "ring";
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  const bool is_silent = manner == "hangs" || manner == "suspended";
  MpiConfig mpi;
  if (argc > 3) mpi.pretended_node_size = std::atoi(argv[3]);
  const auto communicator = make_mpi_communicator(mpi);
  RankStatus status(*communicator);
  Timeout timeout(*communicator, status, {.timeout_s = is_silent ? 5.0 : 60.0, .alarmed = [] {
                                            return asked_to_end != 0;
                                          }});
  Site site;
  site.communicator = communicator.get();
  site.timeout = &timeout;
  site.floats = 1000;
  ExchangeDriver driver(exchange_of(form, site), site, 0, "the test's gradients");
  try {
    train(driver, site, manner);
  } catch (const CommError& error) {
    if (status.claim_failure())
      std::cerr << "rank " << communicator->rank() << " says: " << error.what() << std::endl;
    communicator->abort(7);
  }
  return 0;
}
