#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/jets/toy_jets.hpp"

namespace sagips::workloads {

inline constexpr std::int64_t particle_numbers = 16, image_side = 100, jet_numbers = 16;
/// Networks get momenta and energies in this unit.
inline constexpr double momentum_unit_GeV = 100;

/// Of each particle px, py, pz, energy (100 GeV), its share of the jet's energy, pt (100 GeV) and its share, eta, eta
/// from the axis, the same turned so that the widest direction of the jet lies along it, phi three times likewise, the
/// angle from the axis, and the cosines of its angle to the beam and to the axis. As the published files order them.
/// shape: [particles, particle_numbers], zeros behind the last particle; further particles are left out
void write_particles(const std::vector<Particle>& jet, std::span<float> numbers);

/// Transverse momentum (100 GeV) around the axis, 1.6 x 1.6 in eta and phi. shape: [image_side, image_side]
void write_image(const std::vector<Particle>& jet, std::span<float> pixels);

/// What sums up a jet: sum of z ln(1/z); C1 of beta 0, 1, 2; C2 and D2 of beta 1, 2; the root of the sum of z^2; D2 of
/// alpha 1 and beta 2; M2 and N2 of beta 1, 2; mass (100 GeV) and number of particles (100). Without grooming; of the 50 hardest particles.
/// source: Larkoski, Salam, Thaler, JHEP 06 (2013) 108; Larkoski, Moult, Neill, JHEP 12 (2014) 009; Moult, Necib,
/// Thaler, JHEP 12 (2016) 153
/// shape: [jet_numbers]
void write_numbers(const std::vector<Particle>& jet, std::span<float> numbers);

}  // namespace sagips::workloads
