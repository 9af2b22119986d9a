#include "workloads/calorimeter3d/calorimeter3d.hpp"

#include <map>
#include <memory>
#include <string>

#include "workloads/calorimeter3d/shower_source.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> calorimeter3d_settings();  // from the YAML beside this file

problem::GenerationEntry calorimeter3d_workload() {
  return {
      .name = "calorimeter3d",
      .summary = "a network that makes showers of electrons in a calorimeter of 51 x 51 x 25 cells",
      .settings = calorimeter3d_settings(),
      .make = [] {
        return std::make_unique<problem::Generation>(std::make_unique<ShowerSource>());
      }};
}

}  // namespace sagips::workloads
