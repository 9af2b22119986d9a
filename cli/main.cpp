#include "cli/workloads.hpp"
#include "sagips/cli/program.hpp"

int main(int argc, char** argv) {
  return sagips::cli::run(argc, argv, sagips::shipped_workloads());
}
