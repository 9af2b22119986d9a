#include "workloads/generation/generation.hpp"

#include <map>
#include <string>

namespace sagips::workloads {

std::map<std::string, std::string> generation_settings();  // from the YAML beside this file

problem::GenerationEntry generation_workload() {
  return {.name = "generation",
          .summary =
              "a network that makes examples for conditions, like those in files of yours "
              "or of a learning problem",
          .settings = generation_settings(),
          .make = [] { return std::make_unique<problem::Generation>(); }};
}

}  // namespace sagips::workloads
