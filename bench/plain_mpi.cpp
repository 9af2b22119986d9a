#include "bench/plain_mpi.hpp"

#include <mpi.h>

// An MPI error ends the job: nothing here needs more.

namespace sagips::bench {

void mpi_all_reduce(std::span<const float> values, std::span<float> sum) {
  if (MPI_Allreduce(values.data(), sum.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void mpi_barrier() {
  if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace sagips::bench
