#pragma once
#include <span>

/// MPI as a program without SAGIPS calls it, over all ranks. MPI must have been started.
namespace sagips::bench {

/// The blocking MPI_Allreduce, out of place: the sum.
void mpi_all_reduce(std::span<const float> values, std::span<float> sum);

void mpi_barrier();

}  // namespace sagips::bench
