#include "sagips/cli/program.hpp"
#include "workloads/custom/custom.hpp"
#include "workloads/proxy1d/proxy1d.hpp"
#include "workloads/resonance/resonance.hpp"

int main(int argc, char** argv) {
  using namespace sagips::workloads;
  return sagips::cli::run(argc, argv,
                          {custom_workload(), proxy1d_workload(), resonance_workload()});
}
