#include <array>
#include <cstdlib>

#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

struct Launcher {
  const char* variable;  ///< set for each process of a job
  const char* tasks;     ///< number of processes; may be unset
  const char* name;
};

constexpr std::array launchers{
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "mpirun (Open MPI)"},
    Launcher{"PMIX_RANK", "SLURM_NTASKS", "srun with PMIx"},
    Launcher{"PMI_RANK", "PMI_SIZE", "mpiexec (MPICH) or srun with PMI"},
};

int number(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? std::atoi(value) : otherwise;
}

}  // namespace

Launch detect_launch() {
  for (const Launcher& launcher : launchers)
    if (std::getenv(launcher.variable) != nullptr)
      return {true, number(launcher.tasks, 1), launcher.name};
  const bool step = std::getenv("SLURM_STEP_ID") != nullptr;
  const int tasks = number("SLURM_STEP_NUM_TASKS", 1);
  if (step && tasks > 1)
    throw core::Error(
        core::text("srun started ", tasks,
                   " tasks without an MPI plug-in (each would train alone). Use srun "
                   "--mpi=pmix (MPICH: --mpi=pmi2); `srun --mpi=list` shows what there is."),
        core::ExitCode::bad_input);
  return {};
}

std::vector<std::string> launcher_variables() {
  if (!detect_launch().under_mpi) return {};
  return {"OMPI_", "PMIX_", "PMI_", "SLURM_"};
}

}  // namespace sagips::comm
