#include "sagips/comm/mpi_communicator.hpp"

namespace sagips::comm {

std::unique_ptr<Communicator> make_mpi_communicator(const MpiConfig&) {
  throw core::Error(
      "this program was built without MPI (several ranks cannot talk). Install libopenmpi-dev or "
      "libmpich-dev and build again, or start it without a launcher.",
      core::ExitCode::bad_input);
}

}  // namespace sagips::comm
