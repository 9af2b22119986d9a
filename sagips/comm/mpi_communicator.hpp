#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/comm/communicator.hpp"

namespace sagips::comm {

/// How `Memory` is made: mapped where ranks share a node, or always fetched through the network
/// layer (for tests, and where mapping is not offered).
enum class SharedWindows { use, avoid };

struct MpiConfig {
  SharedWindows windows = SharedWindows::use;
  int pretended_node_size = 0;  ///< for tests: as if so many consecutive ranks shared a node

  /// Settings of the build on SimGrid alone.
  struct Simulated {
    std::function<void(double seconds)> spend;  ///< lets simulated time go on
    double memory_bandwidth = 0;                ///< of `touched`, bytes/s; 0: it costs nothing
  };
  Simulated simulated{};
};

/// All ranks of the job. Starts MPI (one thread, MPI_THREAD_FUNNELED), which the last such object of a
/// process ends again for good. When an exception is on its way, MPI is not ended: somebody must call
/// `abort`. throws: CommError; core::Error when the build has no MPI
std::unique_ptr<Communicator> make_mpi_communicator(const MpiConfig& config = {});

/// How this process was started.
struct Launch {
  bool under_mpi = false;  ///< a launcher has set up the job: MPI must be used
  int tasks = 1;           ///< how many processes it says there are
  std::string launcher;    ///< "mpirun (Open MPI)", "srun", ...
};

/// Reads the launcher's environment variables. throws: core::Error when srun started several tasks
/// but offers MPI no way in (each would run alone)
Launch detect_launch();

/// How the names of variables begin that tell a program of its MPI job; none outside a job. A child
/// that would read them would take itself for a rank of it.
std::vector<std::string> launcher_variables();

}  // namespace sagips::comm
