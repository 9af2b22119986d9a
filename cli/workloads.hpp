#pragma once
#include <vector>

#include "workloads/calorimeter3d/calorimeter3d.hpp"
#include "workloads/classify/classify.hpp"
#include "workloads/custom/custom.hpp"
#include "workloads/duke_owens/duke_owens.hpp"
#include "workloads/gaussians/gaussians.hpp"
#include "workloads/generation/generation.hpp"
#include "workloads/jets/jets.hpp"
#include "workloads/learning/learning.hpp"
#include "workloads/proxy1d/proxy1d.hpp"
#include "workloads/proxy2d/proxy2d.hpp"
#include "workloads/resonance/resonance.hpp"
#include "workloads/stress_strain/stress_strain.hpp"

namespace sagips {

/// The workloads that the programs know.
inline std::vector<problem::Entry> shipped_workloads() {
  using namespace sagips::workloads;
  return {calorimeter3d_workload(),
          classify_workload(),
          custom_workload(),
          duke_owens_workload(),
          gaussians_workload(),
          generation_workload(),
          jets_workload(),
          learning_workload(),
          proxy1d_workload(),
          proxy2d_workload(),
          resonance_workload(),
          stress_strain_workload(),
          stress_strain_curve_workload()};
}

}  // namespace sagips
