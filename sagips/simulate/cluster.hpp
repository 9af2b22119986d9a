#pragma once
#include <functional>
#include <memory>

#include "sagips/comm/communicator.hpp"
#include "sagips/simulate/platform.hpp"

namespace sagips::simulate {

/// Ranks of a job that run in this one process, one at a time, on a simulated cluster: what they send
/// takes the time that it would take there, what they compute takes none unless they `spend` it.
/// Needs SimGrid; one in the life of a process.
class Cluster {
 public:
  /// How ranks take turns.
  enum class Turns {
    fibres,   ///< all on one thread: fastest, but they share thread_local variables
    threads,  ///< a thread each: for code that keeps state there, such as LibTorch
  };
  /// throws: ConfigError when the ranks have no place there
  Cluster(const PlatformConfig& platform, int ranks, Turns turns = Turns::fibres);
  ~Cluster();

  /// Runs it once on every rank and returns when all have ended. The communicator lives as long as
  /// the call; its clock (`now_ns`) is the simulated one.
  /// throws: what the first rank to fail threw; core::Error when all ranks wait for each other
  void run(const std::function<void(comm::Communicator& communicator)>& rank);

  /// Lets simulated time go on for the rank that calls, while others take their turns.
  static void spend(double seconds);
  static double now_s();  ///< simulated
  /// Waits until all ranks have come here, at no cost of its own; for measurements. collective
  void align();

 private:
  struct Simulation;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace sagips::simulate
