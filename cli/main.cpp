#include "sagips/cli/program.hpp"
#include "workloads/custom/custom.hpp"
#include "workloads/duke_owens/duke_owens.hpp"
#include "workloads/gaussians/gaussians.hpp"
#include "workloads/proxy1d/proxy1d.hpp"
#include "workloads/proxy2d/proxy2d.hpp"
#include "workloads/resonance/resonance.hpp"

int main(int argc, char** argv) {
  using namespace sagips::workloads;
  return sagips::cli::run(argc, argv,
                          {custom_workload(), duke_owens_workload(), gaussians_workload(),
                           proxy1d_workload(), proxy2d_workload(), resonance_workload()});
}
