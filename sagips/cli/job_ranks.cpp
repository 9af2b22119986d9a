#include "sagips/cli/job_ranks.hpp"

#include <chrono>
#include <iostream>
#include <thread>

#include "sagips/cli/interrupt.hpp"
#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/text.hpp"

namespace sagips::cli {

std::unique_ptr<comm::Ranks> make_ranks() {
  const comm::Launch launch = comm::detect_launch();
  return std::make_unique<comm::Ranks>(launch.under_mpi ? comm::make_mpi_communicator()
                                                        : comm::make_single_communicator());
}

void end_job(comm::Ranks& ranks, const std::string& message, core::ExitCode code) {
  using namespace std::chrono_literals;
  const int exit_code = static_cast<int>(code);
  leave_no_unfinished_files();  // the launcher's word is final now
  // nodes do not see each other's boards: the first node speaks first
  if (ranks.communicator().nodes()[static_cast<std::size_t>(ranks.rank())] > 0)
    std::this_thread::sleep_for(1s);
  if (ranks.status().claim_failure()) {
    std::cerr << core::text("sagips: error: rank ", ranks.rank(), ": ", message, "\n")
              << std::flush;
    ranks.communicator().abort(exit_code);
  }
  std::this_thread::sleep_for(20s);  // the launcher ends this process long before
  comm::Communicator::abort_alone(exit_code);
}

void require_one_rank(const comm::Ranks& ranks, const std::string& command) {
  if (ranks.size() > 1)
    throw core::ConfigError(
        "command line", core::text("`sagips ", command, "` works on one rank, and ", ranks.size(),
                                   " were started. Start it without a launcher."));
}

}  // namespace sagips::cli
