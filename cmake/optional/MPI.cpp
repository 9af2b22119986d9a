#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

int main(int argc, char** argv) { return MPI_Init(&argc, &argv); }
