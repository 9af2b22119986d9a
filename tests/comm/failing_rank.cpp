// Rank 1 of a job fails; the others must say so and end. `failing_rank killed|leaves|hangs`
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>

#include "sagips/comm/exchange_driver.hpp"
#include "sagips/comm/exchanges.hpp"
#include "sagips/comm/mpi_communicator.hpp"

namespace {

volatile std::sig_atomic_t asked_to_end = 0;

void fail(const std::string& manner) {
  if (manner == "killed") raise(SIGKILL);
  if (manner == "leaves") _exit(3);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sagips::comm;
  const std::string manner = argc > 1 ? argv[1] : "hangs";
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  const auto communicator = make_mpi_communicator();
  RankStatus status(*communicator);
  Timeout timeout(
      *communicator, status,
      {.timeout_s = manner == "hangs" ? 5.0 : 60.0, .alarmed = [] { return asked_to_end != 0; }});
  Site site;
  site.communicator = communicator.get();
  site.timeout = &timeout;
  site.floats = 1000;
  std::vector<float> weights(site.floats), gradients(site.floats);
  ExchangeDriver driver(make_exchange("ring", {}, site), site, 0, "the test's gradients");
  try {
    for (std::int64_t epoch = 1; epoch <= 20; ++epoch) {
      if (epoch == 10 && communicator->rank() == 1) fail(manner);
      driver.start({weights, gradients}, {epoch});
      driver.finish();
    }
  } catch (const CommError& error) {
    if (status.claim_failure())
      std::cerr << "rank " << communicator->rank() << " says: " << error.what() << std::endl;
    communicator->abort(7);
  }
  return 0;
}
