#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"

namespace sagips::workloads {

/// A massless particle.
struct Particle {
  double pt, eta, phi;  ///< GeV, pseudorapidity, rad
};

/// What a jet begins with, in the order of the published files.
enum class Origin { gluon, quark, w, z, top };
inline const std::vector<std::string> jet_classes = {"gluon", "quark", "W", "Z", "top"};

/// Jets of a toy, in which small angles and massless particles are exact: partons of one, two or three prongs by
/// their masses; gluons radiated off them, evenly in the plane of Lund and in proportion to the colour factor, and off
/// those again; hadrons by even cuts. It has the kinds of differences that real jets have, not their sizes.
/// source: Andersson, Gustafson, Lonnblad and Pettersson, Z. Phys. C 43 (1989) 625; masses and widths: Particle Data Group
struct ToyJets {
  double lowest_pt_GeV = 800, highest_pt_GeV = 1200;
  double strong_coupling = 0.14;  ///< does not run
  double least_kt_GeV = 0.5;      ///< of radiated gluons

  void fields(core::FieldList& list);
  /// throws: core::ConfigError
  void check(const std::string& group) const;
  /// The particles of a jet within 0.8 of its axis, the hardest first.
  std::vector<Particle> make(Origin origin, const core::RandomStream& random,
                             std::int64_t number) const;
};

}  // namespace sagips::workloads
